package wiretime

import (
	"sort"
	"time"
)

// Clock returns the date and clock time that the zone shows at an instant, as a time in UTC with these fields. First says whether it is
// the first of the instants at which they are shown, which is the one that they mean where nothing else is said.
func (z Zone) Clock(t time.Time) (shown time.Time, first bool) {
	_, offset := t.In(z.loc()).Zone()
	wall := t.Unix() + int64(offset)
	return time.Unix(wall, 0).UTC(), z.local(wall).Equal(t.Truncate(time.Second))
}

// ClockChange is a change of a zone's offset from UTC. Offsets are in seconds, east positive.
type ClockChange struct {
	At     time.Time
	Before int
	After  int
	Name   string // of the time that begins, such as BST
	Summer bool
}

// ClockChanges returns the first instant's offset as a change that leads from it to itself, then the changes of the offset after it and before
// to, in order. It looks at each day and then for the second, which doesn't depend on the bounds that the time package gives of a zone (see
// reach); a zone whose clock changes twice in 24 hours, back to what it was, is not known.
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
