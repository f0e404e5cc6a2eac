package conformance_test

import (
	"testing"
	"time"
)

// clockChange is an instant at which the clock of the deployment's zone is set forward or back.
type clockChange struct {
	at            time.Time
	before, after int // seconds east of UTC
}

// clockChange returns the change of 2019 in that direction. It skips the test when the deployment's zone has none,
// or when it touches midnight.
func (s *School) clockChange(t *testing.T, forward bool) clockChange {
	t.Helper()
	at := time.Date(2019, 1, 1, 0, 0, 0, 0, s.Zone)
	for {
		_, end := at.ZoneBounds()
		if end.IsZero() || end.Year() > 2019 {
			t.Skipf("the clock of %s is not set %s in 2019", s.Zone,
				map[bool]string{true: "forward", false: "back"}[forward])
		}
		_, before := end.Add(-time.Second).In(s.Zone).Zone()
		_, after := end.In(s.Zone).Zone()
		c := clockChange{end, before, after}
		if (after > before) == forward {
			if date(c.wall(before).Add(-time.Hour)) != date(c.wall(after).Add(time.Hour)) {
				t.Skipf("the clock of %s is set about midnight", s.Zone)
			}
			return c
		}
		at = end
	}
}

// wall returns the clock time of the change at an offset, as a time in UTC.
func (c clockChange) wall(offset int) time.Time {
	return c.at.UTC().Add(time.Duration(offset) * time.Second)
}

// day returns the midnight of the day of the change, as a time in UTC.
func (c clockChange) day() time.Time { return c.wall(c.before).Truncate(24 * time.Hour) }

// length returns the length of the gap or the overlap.
func (c clockChange) length() time.Duration {
	if c.after > c.before {
		return time.Duration(c.after-c.before) * time.Second
	}
	return time.Duration(c.before-c.after) * time.Second
}
