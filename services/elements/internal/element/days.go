package element

import "github.com/belfry-schools/belfry/pkg/wiretime"

// Sourced are days that one of several records of an import's own source says: of a roster, one of a pupil's enrollments in a class.
type Sourced struct {
	Source        string `bson:"source,omitempty"` // the record's id there; empty when it is not known, or for days added by hand
	wiretime.Days `bson:",inline"`
}

// mergeSourced returns the days of all sources.
func mergeSourced(sources []Sourced) []wiretime.Days {
	days := make([]wiretime.Days, len(sources))
	for i, s := range sources {
		days[i] = s.Days
	}
	return wiretime.MergeDays(days)
}

// endBefore returns those of the days that come before from.
func endBefore(days []wiretime.Days, from wiretime.Day) []wiretime.Days {
	var left []wiretime.Days
	for _, d := range days {
		if d.First < from {
			left = append(left, wiretime.Days{First: d.First, Last: min(d.Last, from-1)})
		}
	}
	return left
}
