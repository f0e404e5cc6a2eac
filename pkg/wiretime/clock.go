package wiretime

import (
	"sort"
	"time"
)

// Clock is Wall for a time in whole seconds. First reports whether the instant is the first with that clock time;
// without an offset, the clock time means that one.
func (z Zone) Clock(t time.Time) (shown time.Time, first bool) {
	shown = z.Wall(t)
	return shown, z.FromWall(shown).Equal(t.Truncate(time.Second))
}

// ClockChange is a change of a zone's offset from UTC. Offsets are in seconds, east positive.
type ClockChange struct {
	At     time.Time
	Before int
	After  int
	Name   string // of the zone from then on, such as BST
	Summer bool
}

// ClockChanges returns the changes of the offset between two instants, in order. The first one in the list is at
// from, with the offset there before and after. It searches day by day and then to the second, since the bounds of
// the time package are not reliable (see reach). It would miss two changes within 24 hours that cancel each other;
// no zone is known to have had them.
func (z Zone) ClockChanges(from, to time.Time) []ClockChange {
	at := func(second int64) (name string, offset int, summer bool) {
		t := time.Unix(second, 0).In(z.loc())
		name, offset = t.Zone()
		return name, offset, t.IsDST()
	}
	name, offset, summer := at(from.Unix())
	changes := []ClockChange{{from.UTC().Truncate(time.Second), offset, offset, name, summer}}
	for begin, end := from.Unix(), to.Unix(); begin < end; begin += secondsOfDay {
		if _, next, _ := at(begin + secondsOfDay); next == offset {
			continue
		}
		second := begin + 1 + int64(sort.Search(secondsOfDay-1, func(n int) bool {
			_, o, _ := at(begin + 1 + int64(n))
			return o != offset
		}))
		if second >= end {
			break
		}
		before := offset
		name, offset, summer = at(second)
		changes = append(changes, ClockChange{time.Unix(second, 0).UTC(), before, offset, name, summer})
	}
	return changes
}
