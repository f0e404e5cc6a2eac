package wiretime

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func zone(t testing.TB, name string) Zone {
	t.Helper()
	z, err := LoadZone(name)
	errortest.None(t, err)
	return z
}

func day(t testing.TB, text string) Day {
	t.Helper()
	d, err := ParseDay(text)
	errortest.None(t, err)
	return d
}

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	errortest.None(t, err)
	return at
}

func TestLoadZoneRefusesWhatDependsOnTheMachine(t *testing.T) {
	for _, name := range []string{"", "Local", "Europe/Londn", "../etc/passwd"} {
		z, err := LoadZone(name)
		errortest.Some(t, err, "LoadZone(%q) = %v, want an error", name, z)
	}
}

func TestZoneIsASetting(t *testing.T) {
	var z Zone
	valuetest.Same(t, z.String(), "UTC", "the zero Zone")
	if err := z.UnmarshalText([]byte("Europe/London")); err != nil || z.String() != "Europe/London" {
		t.Errorf("UnmarshalText: %v, zone %s", err, z)
	}
	if err := z.UnmarshalText([]byte("Nowhere")); err == nil || z.String() != "Europe/London" {
		t.Errorf("a bad name: error %v, zone %s; want an error and the zone kept", err, z)
	}
}

func TestPart2_3_FormatHasMillisecondsAndNumericOffset(t *testing.T) {
	for _, c := range []struct{ zone, at, want string }{
		{"Europe/London", "2019-04-10T08:00:00Z", "2019-04-10T09:00:00.000+01:00"},
		{"Europe/London", "2019-01-10T08:00:00Z", "2019-01-10T08:00:00.000+00:00"},
		{"UTC", "2019-04-10T08:00:00.1239Z", "2019-04-10T08:00:00.123+00:00"},
		{"America/Sao_Paulo", "2019-04-10T08:00:00Z", "2019-04-10T05:00:00.000-03:00"},
		{"Australia/Lord_Howe", "2019-05-10T08:00:00Z", "2019-05-10T18:30:00.000+10:30"},
	} {
		valuetest.Same(t, zone(t, c.zone).Format(instant(t, c.at)), c.want, "%s in %s", c.at, c.zone)
	}
}

func TestMidnightIsTheFirstInstantOfTheDay(t *testing.T) {
	for _, c := range []struct{ name, zone, day, want string }{
		{"winter", "Europe/London", "2019-01-10", "2019-01-10T00:00:00Z"},
		{"summer", "Europe/London", "2019-04-10", "2019-04-09T23:00:00Z"},
		{"last day of a leap year beyond the zone's table", "Europe/London", "2040-12-31", "2040-12-31T00:00:00Z"},
		{"the day after it", "Australia/Lord_Howe", "2041-01-01", "2040-12-31T13:00:00Z"},
		{"before 1970", "Europe/London", "1969-07-01", "1969-06-30T23:00:00Z"},
		{"00:00 is skipped", "America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z"},
		{"the day after the skipped 00:00", "America/Sao_Paulo", "2018-11-05", "2018-11-05T02:00:00Z"},
		{"the clock falls back at 00:00 to 23:00", "America/Sao_Paulo", "2019-02-17", "2019-02-17T03:00:00Z"},
		{"00:00 comes twice", "America/St_Johns", "2009-11-01", "2009-11-01T02:30:00Z"},
		{"the day after the last before a skipped one", "Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z"},
		{"after a skipped day", "Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := zone(t, c.zone).Midnight(day(t, c.day)); !got.Equal(instant(t, c.want)) {
				t.Errorf("%v, want %s", got, c.want)
			}
		})
	}
}

func TestDayOf(t *testing.T) {
	for _, c := range []struct{ name, zone, at, want string }{
		{"last instant of a summer day", "Europe/London", "2019-04-09T22:59:59.999999999Z", "2019-04-09"},
		{"first instant of the next", "Europe/London", "2019-04-09T23:00:00Z", "2019-04-10"},
		{"in the hour that comes twice across midnight the new day goes on", "America/St_Johns", "2009-11-01T03:00:00Z",
			"2009-11-01"},
		{"no one lives on a skipped day", "Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31"},
	} {
		t.Run(c.name, func(t *testing.T) {
			valuetest.Same(t, zone(t, c.zone).DayOf(instant(t, c.at)), day(t, c.want), "want %s", c.want)
		})
	}
}

// Zones and days with unusual clock changes. The properties below mix them with ordinary ones.
var (
	oddZones = []string{"UTC", "Europe/London", "America/Sao_Paulo", "America/St_Johns", "Australia/Lord_Howe",
		"Pacific/Apia", "Asia/Kathmandu", "Antarctica/Troll"}
	oddDays = []string{"1970-01-01", "2009-10-31", "2009-11-01", "2011-12-29", "2011-12-30", "2011-12-31",
		"2018-11-04", "2019-02-16", "2019-02-17", "2019-03-31", "2019-10-27", "2026-04-05", "2026-10-04",
		"2040-12-30", "2040-12-31"}
)

func drawZone(t *rapid.T) Zone {
	z, err := LoadZone(rapid.SampledFrom(oddZones).Draw(t, "zone"))
	errortest.None(t, err)
	return z
}

func drawDay(t *rapid.T) Day {
	if rapid.Bool().Draw(t, "ordinary day") {
		return Day(rapid.Int32Range(1, int32(LastEventDay)-1).Draw(t, "day"))
	}
	d, err := ParseDay(rapid.SampledFrom(oddDays).Draw(t, "odd day"))
	errortest.None(t, err)
	return d + Day(rapid.Int32Range(0, 1).Draw(t, "days after"))
}

// drawMinute draws an instant on a whole minute, at most a day from an unusual clock change.
func drawMinute(t *rapid.T) time.Time {
	minutes := rapid.Int64Range(-26*60, 26*60).Draw(t, "minutes from the day's UTC midnight")
	return time.Unix(int64(drawDay(t))*secondsOfDay+minutes*60, 0).UTC()
}

// wall returns the clock time of the zone, in seconds.
func wall(z Zone, at time.Time) int64 {
	_, offset := at.In(z.loc()).Zone()
	return at.Unix() + int64(offset)
}

// firstMinute is the slow model of reach: it tries each minute of two days.
func firstMinute(z Zone, around int64, holds func(wall int64) bool) (time.Time, bool) {
	for at := around - 24*60*60; at < around+24*60*60; at += 60 {
		if t := time.Unix(at, 0).UTC(); holds(wall(z, t)) {
			return t, true
		}
	}
	return time.Time{}, false
}

func TestMidnightAgreesWithGoingThroughTheMinutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, d := drawZone(t), drawDay(t)
		reached := func(wall int64) bool { return DayOf(time.Unix(wall, 0)) >= d }
		want, _ := firstMinute(z, int64(d)*secondsOfDay, reached)
		if got := z.Midnight(d); !got.Equal(want) {
			t.Fatalf("Midnight(%v) in %v = %v, want %v", d, z, got, want)
		}
	})
}

func TestDayOfIsTheLatestDayTheWallCalendarHasShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, at := drawZone(t), drawMinute(t)
		want := DayOf(time.Unix(wall(z, at), 0))
		for m := 0; m < 26*60; m++ {
			want = max(want, DayOf(time.Unix(wall(z, at.Add(-time.Duration(m)*time.Minute)), 0)))
		}
		valuetest.MustSame(t, z.DayOf(at), want, "DayOf(%v) in %v =", at, z)
	})
}

func TestPart4_LocalTimesAgreeWithGoingThroughTheMinutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := drawZone(t)
		w := drawMinute(t).Unix()
		want, shown := firstMinute(z, w, func(wall int64) bool { return wall == w })
		if !shown { // a gap: forward by its length
			end, _ := firstMinute(z, w, func(wall int64) bool { return wall > w })
			gap := wall(z, end) - wall(z, end.Add(-time.Minute)) - 60
			want, _ = firstMinute(z, w, func(wall int64) bool { return wall == w+gap })
		}
		if got := z.FromWall(time.Unix(w, 0)); !got.Equal(want) {
			t.Fatalf("local %v in %v = %v, want %v", time.Unix(w, 0).UTC(), z, got, want)
		}
	})
}

func TestPart3_DaysOfAnEventAreTheDaysWhoseRangeHoldsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, starts := drawZone(t), drawMinute(t)
		if rapid.Bool().Draw(t, "starts at midnight") {
			starts = z.Midnight(z.DayOf(starts))
		}
		lengths := rapid.SampledFrom([]int{0, 0, 1, 60, 23 * 60, 24 * 60, 25 * 60, 3 * 24 * 60})
		ends := starts.Add(time.Duration(lengths.Draw(t, "minutes")) * time.Minute)
		own := z.Days(starts, ends)
		valuetest.MustHold(t, own.First <= own.Last, "Days(%v, %v) = %v", starts, ends, own)
		r := Days{First: own.First + Day(rapid.IntRange(-3, 6).Draw(t, "range starts"))}
		r.Last = r.First + Day(rapid.IntRange(0, 3).Draw(t, "range days"))
		from, to := z.Bounds(r)
		want := own.First <= r.Last && own.Last >= r.First
		valuetest.MustSame(t, Overlaps(starts, ends, from, to), want,
			"event %v to %v touches %v in %v; Overlaps with %v =", starts, ends, own, z, r)
	})
}

func TestDaysFollowEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, d := drawZone(t), drawDay(t)
		start, end := z.Midnight(d), z.Midnight(d+1)
		if start.Equal(end) { // skipped altogether
			if got := z.DayOf(start); got <= d {
				t.Fatalf("%v is skipped in %v, yet DayOf gives %v", d, z, got)
			}
			return
		}
		if z.DayOf(start) != d || z.DayOf(start.Add(-time.Nanosecond)) >= d ||
			z.DayOf(end.Add(-time.Nanosecond)) != d || z.DayOf(end) <= d {
			t.Fatalf("%v in %v is not exactly [%v, %v)", d, z, start, end)
		}
	})
}

func BenchmarkDayOf(b *testing.B) {
	z := zone(b, "Europe/London")
	at := instant(b, "2026-07-10T08:00:00Z")
	for b.Loop() {
		z.DayOf(at)
	}
}
