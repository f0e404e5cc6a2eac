package notice

import (
	"fmt"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// describe describes in a sentence what happened to an entry.
func describe(n Notice, e event.Entry, elements map[int64]fact.Element, users map[int64]fact.User) string {
	element := elements[e.ElementID].Name
	by := func(id int64) string {
		if name := users[id].Name; name != "" {
			return " by " + name
		}
		return ""
	}
	switch n.Kind {
	case event.CommitmentRequested:
		asker := e.AddedBy
		if asker == 0 {
			asker = n.Event.OwnerID
		}
		return fmt.Sprintf("%s was asked for%s and waits for a decision.", element, by(asker))
	case event.CommitmentDecided:
		return fmt.Sprintf("%s was %s%s.", element, decided(e.Status), by(e.DecidedBy))
	case event.RequestAllocated:
		if e.GroupID == 0 { // the reader does not see it
			return fmt.Sprintf("%s was allocated%s.", element, by(n.Actor))
		}
		return fmt.Sprintf(
			"%s was allocated%s; of %s, %d of %d wanted are allocated.", element, by(n.Actor), elements[e.GroupID].Name,
			e.Allocated, e.Quantity,
		)
	case event.CommitmentDeleted:
		return fmt.Sprintf("%s, which was confirmed, was taken off the event%s.", element, by(n.Actor))
	case event.EventDeleted:
		return fmt.Sprintf("%s, which was confirmed, is free again: the event was deleted%s.", element, by(n.Actor))
	}
	return ""
}

func decided(s event.Status) string {
	switch s {
	case event.Noted:
		return "noted (seen, but not yet to be confirmed)"
	case event.Requested:
		return "returned to requested"
	}
	return string(s)
}

// heading is what a mail of one item is about.
func heading(k event.NoticeKind) string {
	return map[event.NoticeKind]string{
		event.CommitmentRequested: "To decide",
		event.CommitmentDecided:   "Decided",
		event.RequestAllocated:    "Allocated",
		event.CommitmentDeleted:   "Taken off",
		event.EventDeleted:        "Deleted",
	}[k]
}

// MaxSubject bounds what a subject has of an event's title, in characters.
const MaxSubject = 80
