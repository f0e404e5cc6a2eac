package wiretime_test

import (
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

func TestTimesOfAQuery(t *testing.T) {
	zone := timetest.London(t)
	for _, c := range []struct{ starts, ends, want string }{
		{"2026-05-04 09:00", "2026-05-04T10:00:30.5", "2026-05-04T08:00:00Z/2026-05-04T09:00:30Z"},
		{"2026-05-04", "2026-05-05", "2026-05-03T23:00:00Z/2026-05-04T23:00:00Z"},
		{"2026-10-25 01:30", "2026-10-25T01:30:00Z", "2026-10-25T00:30:00Z/2026-10-25T01:30:00Z"},
		{"2199-12-31", "2200-01-01", "2199-12-31T00:00:00Z/2200-01-01T00:00:00Z"},
		{"", "2026-05-05", "starts_at can't be blank"},
		{"2026-05-04", " ", "ends_at can't be blank"},
		{"noon", "2026-05-05", "starts_at is not a date"},
		{"2026-03-29 01:30", "2026-03-29 02:30", "starts_at is skipped when the clock goes forward"},
		{"2026-03-29 00:30", "2026-03-29 01:30", "ends_at is skipped when the clock goes forward"},
		{"2026-05-04", "2026-05-05 9", "ends_at is not a date"},
		{"1969-12-31", "2026-05-05", "starts_at must be in the years 1970 to 2199"},
		{"2026-05-04", "2200-01-01 00:01", "ends_at must be in the years 1970 to 2199"},
		{"2026-05-04", "2026-05-03", "ends_at is before the start"},
		{"2026-05-04 09:00", "2026-05-04T08:00:00Z", "ends_at is not after starts_at"},
	} {
		from, to, err := zone.ParseTimes(c.starts, c.ends)
		got := from.Format(time.RFC3339) + "/" + to.Format(time.RFC3339)
		if err != nil {
			got = err.Error()
		}
		valuetest.Same(t, got, c.want, "%q to %q", c.starts, c.ends)
	}
}

func TestWhatIsFormattedIsParsed(t *testing.T) {
	for _, name := range []string{"Europe/London", "Asia/Kathmandu", "Pacific/Kiritimati", "America/St_Johns", "UTC"} {
		zone := timetest.Zone(t, name)
		for at := time.Date(2026, time.October, 24, 20, 7, 11, 0, time.UTC); at.Day() != 26; at = at.Add(time.Hour) {
			if got, err := wiretime.Parse(zone.Format(at)); err != nil || got != at {
				t.Errorf("%s is parsed as %v, %v", zone.Format(at), got, err)
			}
		}
	}
	errortest.Some(t, errortest.Of(wiretime.Parse("noon")), "noon is parsed")
}
