package wiretime

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

func timeOfDay(t testing.TB, text string) TimeOfDay {
	t.Helper()
	at, err := ParseTimeOfDay(text)
	errortest.None(t, err)
	return at
}

func TestTimeOfDayIsASettingInOneForm(t *testing.T) {
	for _, text := range []string{"00:00", "02:30", "23:59", ""} {
		var at TimeOfDay
		if err := at.UnmarshalText([]byte(text)); err != nil || at.String() != text || at.Given() != (text != "") {
			t.Errorf("%q is %q, %v", text, at, err)
		}
	}
	for _, text := range []string{"24:00", "2:30", "02:60", "02:30:00", "02.30", " 02:30", "noon"} {
		at := timeOfDay(t, "01:01")
		if err := at.UnmarshalText([]byte(text)); err == nil || at.Given() {
			t.Errorf("%q is %q", text, at)
		}
	}
}

func TestATimeOfDayInTheGapMovesForwardAndInTheOverlapIsTheFirst(t *testing.T) {
	london := zone(t, "Europe/London")
	for _, c := range []struct{ day, at, want string }{
		{"2026-07-01", "02:30", "2026-07-01T01:30:00Z"},
		{"2026-03-29", "01:30", "2026-03-29T01:30:00Z"}, // the clock goes from 01:00 to 02:00: 02:30 BST
		{"2026-10-25", "01:30", "2026-10-25T00:30:00Z"}, // shown twice: BST
	} {
		if got := london.At(day(t, c.day), timeOfDay(t, c.at)); !got.Equal(instant(t, c.want)) {
			t.Errorf("%s %s is %v, want %s", c.day, c.at, got, c.want)
		}
	}
}

// In any zone, Latest and Next are the instants that a search through the days finds.
func TestLatestAndNextTimeOfDayAreThoseOfGoingThroughTheDays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, now := drawZone(t), drawMinute(t)
		at := TimeOfDay{rapid.IntRange(0, 24*60-1).Draw(t, "minute"), true}
		var latest, next time.Time
		for d := z.DayOf(now) - 3; d <= z.DayOf(now)+3; d++ {
			switch i := z.At(d, at); {
			case !i.After(now):
				latest = i
			case next.IsZero():
				next = i
			}
		}
		if got := z.Latest(at, now); !got.Equal(latest) {
			t.Fatalf("the latest %s in %s up to %v is %v, not %v", at, z, now, got, latest)
		}
		if got := z.Next(at, now); !got.Equal(next) {
			t.Fatalf("the next %s in %s after %v is %v, not %v", at, z, now, got, next)
		}
	})
}
