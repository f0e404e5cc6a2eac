package wiretime

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestPart4_1_RangeOfAQuery(t *testing.T) {
	z := zone(t, "Europe/London")
	now := instant(t, "2019-04-09T23:30:00Z") // 2019-04-10 00:30 in London
	for _, c := range []struct{ name, start, end, first, last string }{
		{"rule 4: no dates, today in the zone", "", "", "2019-04-10", "2019-04-10"},
		{"rule 5: only start, that day", "2018-01-01", "", "2018-01-01", "2018-01-01"},
		{"rule 6: end is inclusive", "2018-01-01", "2018-01-03", "2018-01-01", "2018-01-03"},
		{"only end, today to end", "", "2019-05-01", "2019-04-10", "2019-05-01"},
		{"only end, today", "", "2019-04-10", "2019-04-10", "2019-04-10"},
		{"far away", "0001-01-01", "9999-12-31", "0001-01-01", "9999-12-31"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := z.ParseDays(c.start, c.end, now)
			want := Days{day(t, c.first), day(t, c.last)}
			errortest.None(t, err)
			valuetest.Same(t, got, want)
		})
	}
	for _, c := range []struct{ name, start, end, want string }{
		{"reversed", "2018-01-02", "2018-01-01", "end_date is before start_date"},
		{"only end, past", "", "2019-04-09", "end_date is before today"},
		{"no real start", "2018-02-30", "", "start_date is not a date (YYYY-MM-DD)"},
		{"no real end", "2018-02-01", "2018-02-30", "end_date is not a date (YYYY-MM-DD)"},
		{"a date-time", "2018-02-01T00:00", "", "start_date is not a date (YYYY-MM-DD)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := z.ParseDays(c.start, c.end, now); err == nil || err.Error() != c.want {
				t.Errorf("%v, %v; want the error %q", got, err, c.want)
			}
		})
	}
}

func TestPart3_BoundsOfARangeAreItsMidnights(t *testing.T) {
	z := zone(t, "Europe/London")
	for _, c := range []struct {
		first, last, from, to string
		hours                 int
	}{
		{"2019-03-31", "2019-03-31", "2019-03-31T00:00:00Z", "2019-03-31T23:00:00Z", 23},
		{"2019-10-27", "2019-10-27", "2019-10-26T23:00:00Z", "2019-10-28T00:00:00Z", 25},
		{"2019-04-10", "2019-04-11", "2019-04-09T23:00:00Z", "2019-04-11T23:00:00Z", 48},
	} {
		from, to := z.Bounds(Days{day(t, c.first), day(t, c.last)})
		if !from.Equal(instant(t, c.from)) || !to.Equal(instant(t, c.to)) ||
			to.Sub(from) != time.Duration(c.hours)*time.Hour {
			t.Errorf("%s to %s: %v to %v", c.first, c.last, from, to)
		}
	}
}

func TestPart3_AnEventIsInTheRangeWhen(t *testing.T) {
	from, to := instant(t, "2019-04-10T00:00:00Z"), instant(t, "2019-04-11T00:00:00Z")
	for _, c := range []struct {
		name, starts, ends string
		want               bool
	}{
		{"it lies inside", "2019-04-10T09:00:00Z", "2019-04-10T10:00:00Z", true},
		{"it spans the range", "2019-04-01T00:00:00Z", "2019-05-01T00:00:00Z", true},
		{"it is the range", "2019-04-10T00:00:00Z", "2019-04-11T00:00:00Z", true},
		{"it ends just after the first midnight", "2019-04-09T09:00:00Z", "2019-04-10T00:00:01Z", true},
		{"it ends at the first midnight: not", "2019-04-09T09:00:00Z", "2019-04-10T00:00:00Z", false},
		{"it starts just before the last midnight", "2019-04-10T23:59:59Z", "2019-04-12T00:00:00Z", true},
		{"it starts at the last midnight: not", "2019-04-11T00:00:00Z", "2019-04-12T00:00:00Z", false},
		{"zero length at the first midnight", "2019-04-10T00:00:00Z", "2019-04-10T00:00:00Z", true},
		{"zero length inside", "2019-04-10T12:00:00Z", "2019-04-10T12:00:00Z", true},
		{"zero length at the last midnight: not", "2019-04-11T00:00:00Z", "2019-04-11T00:00:00Z", false},
		{"zero length before: not", "2019-04-09T23:59:59Z", "2019-04-09T23:59:59Z", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			valuetest.Same(t, Overlaps(instant(t, c.starts), instant(t, c.ends), from, to), c.want)
		})
	}
}

func TestDaysOverlapWhenTheyHaveADayInCommon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := func(name string) Days {
			first := Day(rapid.IntRange(0, 6).Draw(t, name))
			return Days{first, first + Day(rapid.IntRange(0, 3).Draw(t, name+" more"))}
		}
		a, b, common := run("a"), run("b"), false
		for day := Day(-1); day < 12; day++ {
			common = common || a.Has(day) && b.Has(day)
		}
		if a.Overlaps(b) != common || b.Overlaps(a) != common ||
			(len(IntersectDays([]Days{a}, []Days{b})) > 0) != common {
			t.Fatalf("%v and %v: %v", a, b, a.Overlaps(b))
		}
	})
}
