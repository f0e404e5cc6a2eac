package element

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Busy and free times agree with a model that looks at every minute: whether some event goes on in it whose element
// is reached on the minute's day.
func TestFreeBusy_BusyAndFreeTimesAreThoseOfTheMinuteByMinuteModelAcrossClockChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := timetest.Zone(t, rapid.SampledFrom([]string{"Europe/London", "America/New_York",
			"Australia/Lord_Howe", "Africa/Cairo"}).Draw(t, "zone"))
		origin := timetest.Day(t, rapid.SampledFrom([]string{"2026-03-28", "2026-10-24", "2026-03-07",
			"2026-10-31", "2026-04-04", "2026-04-23", "2026-10-29"}).Draw(t, "around"))
		days := wiretime.Days{First: origin, Last: origin + wiretime.Day(rapid.IntRange(0, 3).Draw(t, "days"))}
		from, to := zone.Bounds(days)
		taken := map[int64][]Interval{}
		for range rapid.IntRange(0, 8).Draw(t, "events") {
			starts := from.Add(time.Duration(rapid.IntRange(-2000, 6000).Draw(t, "start")) * time.Minute)
			length := rapid.OneOf(rapid.IntRange(0, 120), rapid.IntRange(1, 4000)).Draw(t, "length")
			element := rapid.Int64Range(1, 3).Draw(t, "element")
			taken[element] = append(taken[element], Interval{starts, starts.Add(time.Duration(length) * time.Minute)})
		}
		reaches := []fact.Reach{{ElementID: 1, Days: []wiretime.Days{days}}}
		for group := int64(2); group <= 3; group++ {
			reach := fact.Reach{ElementID: group}
			for day := days.First; day <= days.Last; day++ {
				if rapid.Bool().Draw(t, "member") {
					reach.Days = append(reach.Days, wiretime.Days{First: day, Last: day})
				}
			}
			reaches = append(reaches, reach)
		}
		least := rapid.IntRange(1, 600).Draw(t, "least")

		busy := mergeIntervals(busyIntervals(zone, reaches, taken))
		free := gaps(busy, Interval{from, to}, time.Duration(least)*time.Minute)

		var model []bool
		for at := from; at.Before(to); at = at.Add(time.Minute) {
			model = append(model, slices.ContainsFunc(reaches, func(r fact.Reach) bool {
				member := slices.ContainsFunc(r.Days,
					func(d wiretime.Days) bool { return d.First <= zone.DayOf(at) && zone.DayOf(at) <= d.Last })
				return member && slices.ContainsFunc(taken[r.ElementID],
					func(i Interval) bool { return !at.Before(i.Starts) && at.Before(i.Ends) })
			}))
		}
		valuetest.MustSame(t, show(busy, from), show(stretches(model, from, true, 1), from), "busy")
		valuetest.MustSame(t, show(free, from), show(stretches(model, from, false, least), from), "free")
	})
}

// The clock of Santiago skips the first hour of 2026-09-06, that of Apia the whole of 2011-12-30.
func TestFree_SlotsKeepToHoursThatTheClockSkips(t *testing.T) {
	hours := func(from, to string) (h Hours) {
		t.Helper()
		errortest.None(t, errors.Join(h.From.UnmarshalText([]byte(from)), h.To.UnmarshalText([]byte(to))))
		return h
	}
	for _, c := range []struct {
		zone, day string
		hours     Hours
		lasts     string // "": there is no slot
	}{
		{"Europe/London", "2026-03-29", hours("", ""), "23h0m0s"},
		{"Europe/London", "2026-10-25", hours("", ""), "25h0m0s"},
		{"Europe/London", "2026-10-25", hours("01:30", "03:00"), "2h30m0s"},
		{"Europe/London", "2026-03-29", hours("01:15", "01:45"), "30m0s"},
		{"America/Santiago", "2026-09-06", hours("", "02:00"), "1h0m0s"},
		{"Pacific/Apia", "2011-12-30", hours("09:00", "17:00"), ""},
		{"Pacific/Apia", "2011-12-31", hours("09:00", "17:00"), "8h0m0s"},
	} {
		zone, day := timetest.Zone(t, c.zone), timetest.Day(t, c.day)
		from, to := zone.Bounds(wiretime.Days{First: day - 2, Last: day + 2})
		got := ""
		for _, slot := range slots(zone, []Interval{{from, to}}, wiretime.Days{First: day, Last: day}, c.hours, 1) {
			got += slot.Ends.Sub(slot.Starts).String()
		}
		valuetest.Same(t, got, c.lasts, "%s on %s", c.zone, c.day)
	}
}

// stretches are the longest runs of minutes of that kind, of at least that many.
func stretches(minutes []bool, from time.Time, kind bool, least int) []Interval {
	var all []Interval
	begun := -1
	for i, m := range append(slices.Clone(minutes), !kind) {
		switch {
		case m == kind && begun < 0:
			begun = i
		case m != kind && begun >= 0:
			if i-begun >= least {
				all = append(all, Interval{from.Add(time.Duration(begun) * time.Minute),
					from.Add(time.Duration(i) * time.Minute)})
			}
			begun = -1
		}
	}
	return all
}

// show writes intervals in minutes.
func show(intervals []Interval, from time.Time) string {
	var text strings.Builder
	for _, i := range intervals {
		fmt.Fprintf(&text, "[%v-%v)", i.Starts.Sub(from).Minutes(), i.Ends.Sub(from).Minutes())
	}
	return text.String()
}

func TestFreeBusy_ReachesOfManyAreThoseOfEachByOneReadForEachLevel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchool(t)
		days := wiretime.Days{First: 0, Last: lastDay}
		ids := rapid.SliceOfNDistinct(rapid.Int64Range(1, groups+people), 1, 4, rapid.ID[int64]).Draw(t, "elements")
		got, err := reachesOf(t.Context(), s.up, ids, days)
		errortest.None(t, err)
		for id, times := range s.asked {
			valuetest.MustHold(t, times <= 1, "element %d was asked for %d times", id, times)
		}
		valuetest.MustHold(t, s.levels <= groups+1, "%d round trips for %d groups", s.levels, groups)
		for n, id := range ids {
			want, err := reachesOf(t.Context(), s.up, []int64{id}, days)
			errortest.None(t, err)
			valuetest.MustSame(t, fmt.Sprint(got[n]), fmt.Sprint(want[0]), "element %d, and by itself", id)
		}
	})
}

func TestFreeBusy_TheUnionOfReachesHasEachElementOnce(t *testing.T) {
	reach := func(id int64, first, last wiretime.Day) fact.Reach {
		return fact.Reach{ElementID: id, Days: []wiretime.Days{{First: first, Last: last}}}
	}
	got := union([][]fact.Reach{{reach(1, 1, 9), reach(3, 1, 2)}, {reach(2, 1, 9), reach(3, 2, 4), reach(3, 8, 9)}})
	want := []fact.Reach{reach(1, 1, 9),
		{ElementID: 3, Days: []wiretime.Days{{First: 1, Last: 4}, {First: 8, Last: 9}}}, reach(2, 1, 9)}
	valuetest.Same(t, fmt.Sprint(got), fmt.Sprint(want))
}
