package store

import (
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// An event is found by element and time through numbers, its periods, one of which is element·100000 + period. A period
// is a local day of the configured zone (0 to 84005, from 1970-01-01), a month (90000 and up), a decade (98000 and up),
// a year (99000 and up), or all time (97000). An event carries one of three sets: its days, months and decades when it
// has up to maxDays days; else its years and decades; or only all time when the others would give the indexes more than
// maxKeys keys for it, because it has many elements or lasts a century. A range of days is then a set of numbers for
// one $in on one index, for a day as for two centuries: whole decades by their decades; of the others whole months by
// their months, the rest by days, and the years for the long events; and all time. Beyond the range it reads at most
// the rest of months that the range mostly covers, the long events of its years, and the element's events of all time.
const (
	perElement = 100000
	monthBase  = 90000
	allTime    = 97000
	decadeBase = 98000
	yearBase   = 99000

	// maxDays is how many days an event may touch to be found by days.
	maxDays        = 42
	monthsOfDecade = 120
	// mostOfMonth is the number of its days from which on a whole month is asked for.
	mostOfMonth = 15
)

const (
	// maxKeys bounds the keys of one event in all indexes together.
	maxKeys = 5000
	// keysBesides are left for what an event has in the other indexes: two for each idempotency record, some for what
	// is pending, and its id, import key and category.
	keysBesides = 200
)

// mostPeriods returns how many periods each of an event's elements may carry, besides a key for its id. Others counts
// the keys for searches and those for the states of commitments that await a decision.
func mostPeriods(elements, others int) int {
	return (maxKeys - keysBesides - elements - others) / max(elements, 1)
}

// periodsOf returns the periods of an event that touches these days: at most as many as most says.
func periodsOf(days wiretime.Days, most int) []int64 {
	first, last := days.First, days.Last
	decades := appendRun(nil, decadeBase, decade(first), decade(last))
	if last-first < maxDays {
		periods := appendRun(slices.Clone(decades), 0, int64(first), int64(last))
		if periods = appendRun(periods, monthBase, month(first), month(last)); len(periods) <= most {
			return periods
		}
	}
	if periods := appendRun(decades, yearBase, year(first), year(last)); len(periods) <= most {
		return periods
	}
	return []int64{allTime}
}

// covering returns the periods that find every event which touches the days, at most 308. Days outside those that
// an event may touch have none.
func covering(days wiretime.Days) []int64 {
	first, last := max(days.First, wiretime.FirstEventDay), min(days.Last, wiretime.LastEventDay)
	if first > last {
		return nil
	}
	periods := []int64{allTime}
	for d := decade(first); d <= decade(last); d++ {
		begins, ends := startOf(d*monthsOfDecade), startOf((d+1)*monthsOfDecade)-1
		if first <= begins && ends <= last {
			periods = append(periods, decadeBase+d)
		} else {
			periods = coverPart(periods, max(first, begins), min(last, ends))
		}
	}
	return periods
}

// coverPart adds the periods that find every event which touches the days of a part of a decade.
func coverPart(periods []int64, first, last wiretime.Day) []int64 {
	periods = appendRun(periods, yearBase, year(first), year(last))
	for m := month(first); m <= month(last); m++ {
		from, to := max(first, startOf(m)), min(last, startOf(m+1)-1)
		if to-from+1 >= mostOfMonth {
			periods = append(periods, monthBase+m)
		} else {
			periods = appendRun(periods, 0, int64(from), int64(to))
		}
	}
	return periods
}

func appendRun(periods []int64, base, from, to int64) []int64 {
	for n := from; n <= to; n++ {
		periods = append(periods, base+n)
	}
	return periods
}

// decade and year count from 1970, month from 1970-01; all from 0.
func decade(d wiretime.Day) int64 { return year(d) / 10 }

func year(d wiretime.Day) int64 { return int64(d.Date().Year() - 1970) }

func month(d wiretime.Day) int64 { return year(d)*12 + int64(d.Date().Month()-time.January) }

// startOf is the first day of a month.
func startOf(month int64) wiretime.Day {
	return wiretime.DayOf(time.Date(1970, time.January+time.Month(month), 1, 0, 0, 0, 0, time.UTC))
}

// keysOf combines every element with every period.
func keysOf(elements, periods []int64) []int64 {
	keys := make([]int64, 0, len(elements)*len(periods))
	for _, element := range elements {
		for _, period := range periods {
			keys = append(keys, element*perElement+period)
		}
	}
	return keys
}

// reachKeys returns the keys that find every event which touches a reach, each once.
func reachKeys(reaches []fact.Reach) []int64 {
	var keys []int64
	for _, r := range reaches {
		for _, days := range r.Days {
			keys = append(keys, keysOf([]int64{r.ElementID}, covering(days))...)
		}
	}
	return sequence.Distinct(keys)
}
