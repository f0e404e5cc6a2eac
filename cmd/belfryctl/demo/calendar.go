package demo

import (
	"fmt"
	"time"
)

// schoolYear is the calendar of one school year in England. Days are midnights in UTC; there are no zones here.
type schoolYear struct {
	start      int         // 2026 of 2026/27
	first      time.Time   // of memberships: 1 September
	last       time.Time   // 31 August
	days       []time.Time // with lessons, in order
	weeks      [][]time.Time
	breaks     []span
	inset      []time.Time
	studyLeave time.Time // from here on years 11 and 13 have exams in place of lessons
}

// span is a break or another run of days, both inclusive.
type span struct {
	name        string
	first, last time.Time
}

func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// onOrAfter is the first such weekday from a day on.
func onOrAfter(day time.Time, weekday time.Weekday) time.Time {
	return day.AddDate(0, 0, (int(weekday)-int(day.Weekday())+7)%7)
}

// onOrBefore is the last such weekday up to a day.
func onOrBefore(day time.Time, weekday time.Weekday) time.Time {
	return onOrAfter(day.AddDate(0, 0, -6), weekday)
}

// easter is Easter Sunday by the rule of Meeus, Jones and Butcher.
func easter(year int) time.Time {
	a, b, c := year%19, year/100, year%100
	d, e := b/4, b%4
	g := (8*b + 13) / 25
	h := (19*a + b - d - g + 15) % 30
	i, k := c/4, c%4
	l := (32 + 2*e + 2*i - h - k) % 7
	m := (a + 11*h + 22*l) / 451
	n := h + l - 7*m + 114
	return date(year, time.Month(n/31), n%31+1)
}

func newSchoolYear(start int) schoolYear {
	next := start + 1
	sunday := easter(next)
	autumn, autumnEnd := onOrAfter(date(start, time.September, 1), time.Thursday),
		onOrBefore(date(start, time.December, 21), time.Friday)
	spring, springEnd := onOrAfter(date(next, time.January, 4), time.Tuesday), sunday.AddDate(0, 0, -9)
	summer, summerEnd := sunday.AddDate(0, 0, 8), onOrBefore(date(next, time.July, 18), time.Friday)
	october := onOrBefore(date(start, time.October, 31), time.Monday)
	february := onOrAfter(date(next, time.February, 12), time.Monday)
	may := onOrBefore(date(next, time.May, 31), time.Monday)
	mayDay := onOrAfter(date(next, time.May, 1), time.Monday)
	y := schoolYear{
		start: start, first: date(start, time.September, 1), last: date(next, time.August, 31),
		studyLeave: may.AddDate(0, 0, 7),
		inset:      []time.Time{autumn.AddDate(0, 0, -2), autumn.AddDate(0, 0, -1), spring.AddDate(0, 0, -1)},
		breaks: []span{
			{"Autumn half term", october, october.AddDate(0, 0, 4)},
			{"Christmas holidays", autumnEnd.AddDate(0, 0, 3), spring.AddDate(0, 0, -4)},
			{"Spring half term", february, february.AddDate(0, 0, 4)},
			{"Easter holidays", springEnd.AddDate(0, 0, 3), summer.AddDate(0, 0, -3)},
			{"May Day", mayDay, mayDay},
			{"Summer half term", may, may.AddDate(0, 0, 4)},
			{"Summer holidays", summerEnd.AddDate(0, 0, 3), date(next, time.August, 31)},
		},
	}
	y.collect(autumn, autumnEnd)
	y.collect(spring, springEnd)
	y.collect(summer, summerEnd)
	return y
}

// collect adds the days of a term, by weeks.
func (y *schoolYear) collect(first, last time.Time) {
	for day := first; !day.After(last); day = day.AddDate(0, 0, 1) {
		if day.Weekday() == time.Saturday || day.Weekday() == time.Sunday || y.off(day) {
			continue
		}
		if len(y.days) == 0 || day.Weekday() < y.days[len(y.days)-1].Weekday() ||
			day.Sub(y.days[len(y.days)-1]) > 6*24*time.Hour {
			y.weeks = append(y.weeks, nil)
		}
		y.days = append(y.days, day)
		y.weeks[len(y.weeks)-1] = append(y.weeks[len(y.weeks)-1], day)
	}
}

func (y *schoolYear) off(day time.Time) bool {
	for _, b := range y.breaks {
		if !day.Before(b.first) && !day.After(b.last) {
			return true
		}
	}
	return false
}

// name is 2026/27.
func (y *schoolYear) name() string { return fmt.Sprintf("%d/%02d", y.start, (y.start+1)%100) }

// day returns a school day by the number of its week and of the day in it. When the year or the week is shorter, it
// is the last one.
func (y *schoolYear) day(week, n int) time.Time {
	days := y.weeks[min(week, len(y.weeks)-1)]
	return days[min(n, len(days)-1)]
}

// midYear is a Monday about half-way through the weeks, when pupils change sets.
func (y *schoolYear) midYear() time.Time { return onOrBefore(y.weeks[len(y.weeks)/2][0], time.Monday) }

func iso(day time.Time) string { return day.Format(time.DateOnly) }

// at is a local date-time: the clock is HH:MM.
func at(day time.Time, clock string) string { return iso(day) + " " + clock }
