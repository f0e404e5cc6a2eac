package week_test

import (
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/console/internal/week"
)

func london(t *testing.T) wiretime.Zone {
	t.Helper()
	zone, err := wiretime.LoadZone("Europe/London")
	errortest.None(t, err)
	return zone
}

func day(t *testing.T, text string) wiretime.Day {
	t.Helper()
	d, err := wiretime.ParseDay(text)
	errortest.None(t, err)
	return d
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	found, err := time.Parse(time.RFC3339, text)
	errortest.None(t, err)
	return found
}

func item(t *testing.T, id int64, from, to string) week.Item {
	t.Helper()
	return week.Item{Event: id, Starts: at(t, from), Ends: at(t, to)}
}

func lay(t *testing.T, on, now string, items ...week.Item) week.Grid {
	t.Helper()
	return week.Lay(london(t), []week.Want{{Day: day(t, on), Items: items}}, at(t, now))
}

func TestLay_OverlapsShareTheWidthAndTheRestHasItAll(t *testing.T) {
	g := lay(t, "2026-11-24", "2026-11-24T09:31:00Z",
		item(t, 1, "2026-11-24T09:00:00Z", "2026-11-24T10:00:00Z"),
		item(t, 2, "2026-11-24T09:30:00Z", "2026-11-24T10:30:00Z"),
		item(t, 3, "2026-11-24T10:00:00Z", "2026-11-24T11:00:00Z"),
		item(t, 4, "2026-11-24T11:00:00Z", "2026-11-24T12:00:00Z"))
	c := g.Columns[0]
	if g.FirstHour != 9 || g.LastHour != 12 || g.Rows != 36 || len(c.Blocks) != 2 {
		t.Fatalf("hours %d to %d, %d rows, %d blocks", g.FirstHour, g.LastHour, g.Rows, len(c.Blocks))
	}
	b := c.Blocks[0]
	if b.Lanes != 2 || b.First != 1 || b.Last != 25 {
		t.Errorf("the first block: %+v", b)
	}
	for i, want := range [][3]int{{1, 1, 13}, {2, 7, 19}, {1, 13, 25}} { // the third takes the lane of the first
		if p := b.Items[i]; p.Lane != want[0] || p.First != want[1] || p.Last != want[2] {
			t.Errorf("item %d: lane %d, rows %d to %d, want %v", p.Event, p.Lane, p.First, p.Last, want)
		}
	}
	if b := c.Blocks[1]; b.Lanes != 1 || b.First != 25 || b.Items[0].First != 1 {
		t.Errorf("what overlaps nothing: %+v", b)
	}
	valuetest.Same(t, c.Now, 7, "now is in row")
}

func TestLay_FortyAtOnce(t *testing.T) {
	var items []week.Item
	for i := range int64(40) {
		items = append(items, item(t, i, "2026-11-24T09:00:00Z", "2026-11-24T10:00:00Z"))
	}
	c := lay(t, "2026-11-24", "2026-11-23T09:00:00Z", items...).Columns[0]
	if len(c.Blocks) != 1 || c.Blocks[0].Lanes != 40 || c.Now != 0 {
		t.Fatalf("%d blocks, now %d", len(c.Blocks), c.Now)
	}
	seen := map[int]bool{}
	for _, p := range c.Blocks[0].Items {
		if seen[p.Lane] {
			t.Errorf("two in lane %d", p.Lane)
		}
		seen[p.Lane] = true
	}
}

func TestLay_TheDayWhenTheClockIsSet(t *testing.T) {
	for name, c := range map[string]struct {
		on, from, to string
		first, last  int // rows within the grid
		hour         int
	}{
		"back: the hour that comes twice": {"2026-10-25", "2026-10-25T00:30:00Z", "2026-10-25T01:15:00Z", 7, 11, 1},
		"back: across it":                 {"2026-10-25", "2026-10-24T23:00:00Z", "2026-10-25T03:00:00Z", 1, 37, 0},
		"forward: across the gap":         {"2026-03-29", "2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z", 7, 31, 0},
	} {
		g := lay(t, c.on, "2026-01-01T00:00:00Z", item(t, 1, c.from, c.to))
		b := g.Columns[0].Blocks[0]
		if b.First != c.first || b.Last != c.last || g.FirstHour != c.hour {
			t.Errorf("%s: rows %d to %d from %d h, want %d to %d from %d h", name, b.First, b.Last, g.FirstHour,
				c.first, c.last, c.hour)
		}
	}
}

func TestLay_OverMidnightIsOnBothDaysAndShortOnesCanBeRead(t *testing.T) {
	zone := london(t)
	night := item(t, 1, "2026-11-24T22:00:00Z", "2026-11-25T02:00:00Z")
	moment := item(t, 2, "2026-11-24T23:58:00Z", "2026-11-24T23:58:00Z")
	g := week.Lay(zone, []week.Want{
		{Day: day(t, "2026-11-24"), Items: []week.Item{night, moment}},
		{Day: day(t, "2026-11-25"), Items: []week.Item{night, moment}},
	}, at(t, "2026-11-01T00:00:00Z"))
	if g.FirstHour != 0 || g.LastHour != 24 || len(g.Columns[0].Blocks) != 1 || len(g.Columns[1].Blocks) != 1 {
		t.Fatalf("%+v", g)
	}
	evening, morning := g.Columns[0].Blocks[0], g.Columns[1].Blocks[0]
	if evening.First != 265 || evening.Last != 289 || morning.First != 1 || morning.Last != 25 {
		t.Errorf("rows %d to %d, and %d to %d", evening.First, evening.Last, morning.First, morning.Last)
	}
	short := evening.Items[1]
	valuetest.Same(t, short.Last-short.First, 4, "rows of a moment")
}

func TestLay_AnEmptyDayHasTheUsualHours(t *testing.T) {
	g := lay(t, "2026-11-24", "2026-11-24T12:00:00Z")
	if g.FirstHour != 8 || g.LastHour != 16 || !g.Columns[0].Empty() {
		t.Errorf("%+v", g)
	}
}

func TestDays_FromMondayAndWithoutAnEmptyWeekend(t *testing.T) {
	for _, text := range []string{"2026-11-23", "2026-11-25", "2026-11-29"} {
		days := week.Days(day(t, text))
		if len(days) != 7 || days[0].String() != "2026-11-23" || days[6].String() != "2026-11-29" {
			t.Errorf("the week of %s: %v", text, days)
		}
	}
	var wanted []week.Want
	for _, d := range week.Days(day(t, "2026-11-25")) {
		wanted = append(wanted, week.Want{Day: d})
	}
	valuetest.Same(t, len(week.WithoutEmptyWeekend(london(t), wanted)), 5, "days")
	wanted[6].Items = []week.Item{item(t, 1, "2026-11-29T10:00:00Z", "2026-11-29T11:00:00Z")}
	valuetest.Same(t, len(week.WithoutEmptyWeekend(london(t), wanted)), 7, "days with something on Sunday")
}
