package board

import (
	"cmp"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Sign is what stands at the door of a room: what is there now, and what comes next on that day.
type Sign struct {
	Name string
	Now  []Booking
	// Until is when what is there now ends, or while nothing is, when the next begins; the zero time when that is not
	// on this day.
	Until time.Time
	Next  []Booking
}

// coming bounds what a sign shows of the rest of the day.
const coming = 3

// NewSign returns the sign of a thing at an instant.
func NewSign(thing Thing, zone wiretime.Zone, now time.Time) Sign {
	s := Sign{Name: thing.Name}
	today := zone.DayOf(now)
	_, end := zone.Bounds(wiretime.Days{First: today, Last: today})
	for _, b := range thing.Bookings {
		switch {
		case b.State == "rejected" || !b.Starts.Before(end):
		case b.Starts.After(now):
			s.Next = append(s.Next, b)
		case b.Ends.After(now):
			s.Now = append(s.Now, b)
		}
	}
	slices.SortFunc(s.Next, func(a, b Booking) int {
		return cmp.Or(a.Starts.Compare(b.Starts), a.Ends.Compare(b.Ends), cmp.Compare(a.Event, b.Event))
	})
	slices.SortFunc(s.Now, func(a, b Booking) int {
		return cmp.Or(a.Ends.Compare(b.Ends), cmp.Compare(a.Event, b.Event))
	})
	switch {
	case len(s.Now) > 0 && s.Now[len(s.Now)-1].Ends.Before(end):
		s.Until = s.Now[len(s.Now)-1].Ends
	case len(s.Now) == 0 && len(s.Next) > 0:
		s.Until = s.Next[0].Starts
	}
	s.Next = s.Next[:min(len(s.Next), coming)]
	return s
}
