package wiretime

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestClockChangesAreThoseOfTheZone(t *testing.T) {
	for name, want := range map[string]string{
		"Europe/London": "2026-01-01T00:00:00Z 0 GMT false; 2026-03-29T01:00:00Z 3600 BST true; " +
			"2026-10-25T01:00:00Z 0 GMT false; ",
		"Australia/Lord_Howe": "2026-01-01T00:00:00Z 39600 +11 true; 2026-04-04T15:00:00Z 37800 +1030 false; " +
			"2026-10-03T15:30:00Z 39600 +11 true; ",
		"Asia/Tokyo": "2026-01-01T00:00:00Z 32400 JST false; ",
		"UTC":        "2026-01-01T00:00:00Z 0 UTC false; ",
	} {
		got := ""
		from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for _, c := range zone(t, name).ClockChanges(from, from.AddDate(1, 0, 0)) {
			got += fmt.Sprint(c.At.Format(time.RFC3339), " ", c.After, " ", c.Name, " ", c.Summer, "; ")
		}
		valuetest.Same(t, got, want, name)
	}
}

// At any instant the changes yield the offset of the zone, also after the zone's table and at the ends of leap
// years.
func TestClockChangesGiveTheOffsetOfEachInstant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := drawZone(t)
		year := rapid.IntRange(1970, 2120).Draw(t, "year")
		minutes := rapid.IntRange(0, 366*24*60).Draw(t, "minutes")
		from := time.Date(year, 1, 1, 0, minutes, 0, 0, time.UTC)
		to := from.AddDate(0, 0, rapid.IntRange(1, 900).Draw(t, "days"))
		changes := z.ClockChanges(from, to)
		probe := func(at time.Time) {
			if at.Before(from) || !at.Before(to) {
				return
			}
			i := len(changes) - 1
			for changes[i].At.After(at) {
				i--
			}
			_, want := at.In(z.loc()).Zone()
			valuetest.MustSame(t, changes[i].After, want, "%s at %v", z, at)
		}
		for i, c := range changes {
			if i > 0 && (c.Before == c.After || c.Before != changes[i-1].After || !c.At.After(changes[i-1].At)) {
				t.Fatalf("changes %v", changes)
			}
			probe(c.At)
			probe(c.At.Add(-time.Second))
		}
		for range 20 {
			probe(from.Add(time.Duration(rapid.Int64Range(0, int64(to.Sub(from))).Draw(t, "probe"))))
		}
	})
}

func TestClockShowsTheSecondPassOfAnHourAsNotTheFirst(t *testing.T) {
	z := zone(t, "Europe/London")
	for at, want := range map[string]string{
		"2026-10-25T00:30:00Z": "01:30 true", "2026-10-25T01:30:00Z": "01:30 false",
		"2026-10-25T02:30:00Z": "02:30 true", "2026-03-29T01:00:00Z": "02:00 true",
	} {
		parsed, err := time.Parse(time.RFC3339, at)
		errortest.None(t, err)
		shown, first := z.Clock(parsed)
		valuetest.Same(t, fmt.Sprint(shown.Format("15:04"), " ", first), want, at)
	}
}
