package store

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

func TestPeriods(t *testing.T) {
	const september, october = monthBase + 680, monthBase + 681 // of 2026
	const y2026, y2027 = yearBase + 56, yearBase + 57
	const twenties = decadeBase + 5
	for name, c := range map[string]struct {
		days             wiretime.Days
		carried, covered []int64
	}{
		"a day": {timetest.Days(t, "2026-09-07", "2026-09-07"), []int64{twenties, 20703, september},
			[]int64{y2026, 20703}},
		"over a month": {timetest.Days(t, "2026-09-30", "2026-10-01"), []int64{twenties, 20726, 20727, september, october},
			[]int64{y2026, 20726, 20727}},
		"two months": {timetest.Days(t, "2026-09-01", "2026-10-31"), []int64{twenties, y2026},
			[]int64{y2026, september, october}},
		"most of a month": {timetest.Days(t, "2026-09-16", "2026-10-02"), nil, []int64{y2026, september, 20727, 20728}},
		"over New Year": {timetest.Days(t, "2026-11-01", "2027-01-31"), []int64{twenties, y2026, y2027},
			[]int64{y2026, y2027, monthBase + 682, monthBase + 683, monthBase + 684}},
		"the last day": {timetest.Days(t, "2199-12-31", "2199-12-31"), []int64{decadeBase + 22, 84005, monthBase + 2759},
			[]int64{yearBase + 229, 84005}},
		"a decade": {timetest.Days(t, "2020-01-01", "2029-12-31"), nil, []int64{twenties}},
		"over decades": {timetest.Days(t, "2019-12-31", "2030-01-01"), nil,
			[]int64{yearBase + 49, 18261, twenties, yearBase + 60, 21915}},
		"beyond all days": {timetest.Days(t, "2200-01-01", "9999-12-31"), nil, nil},
		"before all days": {timetest.Days(t, "0001-01-01", "1969-12-31"), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := periodsOf(c.days); c.carried != nil && !slices.Equal(got, c.carried) {
				t.Errorf("an event carries %v, want %v", got, c.carried)
			}
			if got := covering(c.days); !slices.Equal(got, c.covered) {
				t.Errorf("a range is covered by %v, want %v", got, c.covered)
			}
		})
	}
}

// An event is found by exactly the ranges that it touches, or by ranges so near that reading it is cheap.
func TestPeriodsFindWhatARangeTouchesAndLittleBesides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		event := drawDays(t, "event")
		asked := drawDays(t, "range")
		found := slices.ContainsFunc(periodsOf(event),
			func(p int64) bool { return slices.Contains(covering(asked), p) })
		touches := event.First <= asked.Last && event.Last >= asked.First
		if touches && !found {
			t.Fatalf("an event of %v to %v is not found by %v to %v", event.First, event.Last, asked.First, asked.Last)
		}
		gap := max(event.First-asked.Last, asked.First-event.Last)
		if found && event.Last-event.First < maxDays && gap > 31-mostOfMonth {
			t.Fatalf("an event of %v to %v is read for %v to %v", event.First, event.Last, asked.First, asked.Last)
		}
	})
}

func TestAnEventOfAnyLengthCarriesFewPeriods(t *testing.T) {
	for first := firstDay; first <= lastDay; first += 997 {
		for last := first; last <= lastDay; last += 13 {
			if n := len(periodsOf(wiretime.Days{First: first, Last: last})); n > 253 {
				t.Fatalf("%v to %v: %d periods", first, last, n)
			}
		}
	}
}

func TestARangeOfAnyLengthHasFewPeriods(t *testing.T) {
	for first := firstDay; first < 60; first++ {
		for last := lastDay - 60; last <= lastDay; last++ {
			if n := len(covering(wiretime.Days{First: first, Last: last})); n > 307 {
				t.Fatalf("%v to %v: %d periods", first, last, n)
			}
		}
	}
}

func drawDays(t *rapid.T, name string) wiretime.Days {
	first := wiretime.Day(rapid.IntRange(18100, 18500).Draw(t, name)) // around 2020-01-01, where a decade begins
	length := rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, 60), rapid.IntRange(0, 800),
		rapid.IntRange(0, 9000)).Draw(t, name+" length")
	return wiretime.Days{First: first, Last: first + wiretime.Day(length)}
}
