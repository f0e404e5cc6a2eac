package element

import (
	"cmp"
	"slices"

	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Span is a run of days of membership, both inclusive; wiretime.FirstDay and LastDay are open ends.
type Span struct {
	First wiretime.Day `bson:"first"`
	Last  wiretime.Day `bson:"last"`
}

// Holds says whether the day is in the span.
func (s Span) Holds(day wiretime.Day) bool { return s.First <= day && day <= s.Last }

// Merge returns the same days with overlapping and adjacent spans made one, in order. All sets of days below are in this form.
func Merge(spans []Span) []Span {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Last, b.Last)) })
	merged := spans[:0]
	for _, s := range spans {
		if n := len(merged); n > 0 && int64(s.First) <= int64(merged[n-1].Last)+1 { // wider than a Day, which an open end fills
			merged[n-1].Last = max(merged[n-1].Last, s.Last)
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// intersect returns the days in both sets, in time linear in their lengths.
func intersect(a, b []Span) []Span {
	var both []Span
	for len(a) > 0 && len(b) > 0 {
		if s := (Span{max(a[0].First, b[0].First), min(a[0].Last, b[0].Last)}); s.First <= s.Last {
			both = append(both, s)
		}
		if a[0].Last < b[0].Last {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return both
}

// Sourced is a span that one of several records of an import's own source says: of a roster, one of a pupil's enrollments in a class.
type Sourced struct {
	Source string `bson:"source,omitempty"` // the record's id there; empty when it is not known, or for days added by hand
	Span   `bson:",inline"`
}

// mergeSourced returns the days of all sources.
func mergeSourced(sources []Sourced) []Span {
	spans := make([]Span, len(sources))
	for i, s := range sources {
		spans[i] = s.Span
	}
	return Merge(spans)
}

// endBefore returns the days of the set that come before from.
func endBefore(spans []Span, from wiretime.Day) []Span {
	var left []Span
	for _, s := range spans {
		if s.First < from {
			left = append(left, Span{s.First, min(s.Last, from-1)})
		}
	}
	return left
}
