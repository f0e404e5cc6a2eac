package notice

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/belfry-schools/belfry/pkg/neighbour"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// describe says in a sentence what became of an entry.
func describe(n Notice, e event.Entry, elements map[int64]neighbour.ElementFact, users map[int64]neighbour.UserFact) string {
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
		return fmt.Sprintf("%s was allocated%s; of %s, %d of %d wanted are allocated.", element, by(n.Actor), elements[e.GroupID].Name, e.Allocated, e.Quantity)
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
	switch k {
	case event.CommitmentRequested:
		return "To decide"
	case event.CommitmentDecided:
		return "Decided"
	case event.RequestAllocated:
		return "Allocated"
	case event.CommitmentDeleted:
		return "Taken off"
	}
	return "Deleted"
}

// when says when an event is, in the configured zone.
func (s *Service) when(e event.NoticeEvent) string {
	local := func(t time.Time) time.Time {
		shown, err := time.Parse("2006-01-02T15:04:05.000Z07:00", s.Zone.Format(t))
		if err != nil {
			return t
		}
		return shown
	}
	const day, clock = "Mon 2 Jan 2006", "15:04"
	starts, ends := local(e.Starts), local(e.Ends)
	if e.AllDay {
		first, last := starts.Format(day), local(e.Ends.Add(-time.Second)).Format(day)
		if first == last {
			return first
		}
		return first + " to " + last
	}
	text := starts.Format(day + ", " + clock)
	switch {
	case starts.Equal(ends):
	case starts.Format(day) == ends.Format(day):
		text += ends.Format(" to " + clock)
	default:
		text += ends.Format(" to " + day + ", " + clock)
	}
	return text
}

// maxSubject bounds what a subject tells of an event's title, in characters.
const maxSubject = 80

// oneLine makes a text fit for a header: what is not to be seen becomes a space, and it is cut short.
func oneLine(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if runes := []rune(text); len(runes) > maxSubject {
		return string(runes[:maxSubject-1]) + "…"
	}
	return text
}
