package event

import (
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
)

// NoticeKind is what a notice is about.
type NoticeKind string

// The kinds of notice.
const (
	// CommitmentRequested: entries wait for a decision by the administrators of their elements.
	CommitmentRequested NoticeKind = "commitment.requested"
	// CommitmentDecided: an administrator confirmed, rejected or noted entries, or returned them to requested.
	CommitmentDecided NoticeKind = "commitment.decided"
	// CommitmentDeleted: confirmed entries were taken off an event that stays.
	CommitmentDeleted NoticeKind = "commitment.deleted"
	// RequestAllocated: items of a resource group were allocated to a request.
	RequestAllocated NoticeKind = "request.allocated"
	// EventDeleted: an event was deleted that had confirmed entries; they are its entries.
	EventDeleted NoticeKind = fact.EventDeleted
)

// NoticeKinds lists every kind.
func NoticeKinds() []NoticeKind {
	return []NoticeKind{CommitmentRequested, CommitmentDecided, CommitmentDeleted, RequestAllocated, EventDeleted}
}

// Notice is what one change did to entries of an event, with all that mails and webhooks say of it, as it was with
// the change: later the event may be another, or gone.
type Notice struct {
	Kind     NoticeKind
	Position int64 // rises from one notice of an event to the next; the store's to set
	Event    NoticeEvent
	Actor    int64 // the user who made the change; 0: nobody, or an import
	Entries  []Entry
}

// NoticeEvent is the event of a notice.
type NoticeEvent struct {
	ID           int64
	Body         string
	Starts, Ends time.Time
	AllDay       bool
	OwnerID      int64
	CategoryID   int64 // 0 in notices that earlier releases wrote
}

// Entry is a commitment as a notice shows it.
type Entry struct {
	CommitmentID int64
	ElementID    int64
	Status       Status
	Reason       string
	DecidedBy    int64
	AddedBy      int64 // who asked for it: of an allocation, who asked for the items
	RequestID    int64
	GroupID      int64 // the resource group of that request, and the two numbers of it
	Quantity     int
	Allocated    int
}

// Notices returns what a change of an event gives notice of, at most one notice of each kind. A new event is a
// change from the zero Event.
func Notices(before, after Event) []Notice {
	entries := map[NoticeKind][]Entry{}
	was := make(map[int64]Commitment, len(before.Commitments))
	for _, c := range before.Commitments {
		was[c.ID] = c
	}
	for _, c := range after.Commitments {
		old, existed := was[c.ID]
		delete(was, c.ID)
		if kind := noticeOf(old, c, existed); kind != "" {
			entries[kind] = append(entries[kind], after.entry(c))
		}
	}
	for _, c := range before.Commitments {
		if _, gone := was[c.ID]; gone && c.Status == Confirmed {
			entries[CommitmentDeleted] = append(entries[CommitmentDeleted], before.entry(c))
		}
	}
	var notices []Notice
	for _, kind := range NoticeKinds() {
		if len(entries[kind]) > 0 {
			notices = append(notices, after.notice(kind, entries[kind]))
		}
	}
	return notices
}

// noticeOf says what the change of a commitment gives notice of, "" when of nothing.
func noticeOf(old, c Commitment, existed bool) NoticeKind {
	switch {
	case !existed && c.RequestID != 0:
		return RequestAllocated
	case existed && old.Status == c.Status:
		return ""
	case !existed && c.Status == Requested: // an import may know who gave it back once
		return CommitmentRequested
	case c.DecidedBy != 0:
		return CommitmentDecided
	case c.Status == Requested:
		return CommitmentRequested
	}
	return ""
}

// Deletion is the notice that an event is deleted, with its confirmed entries.
func Deletion(e Event) Notice {
	var confirmed []Entry
	for _, c := range e.Commitments {
		if c.Status == Confirmed {
			confirmed = append(confirmed, e.entry(c))
		}
	}
	return e.notice(EventDeleted, confirmed)
}

func (e *Event) notice(kind NoticeKind, entries []Entry) Notice {
	return Notice{
		Kind:    kind,
		Actor:   e.Actor,
		Entries: entries,
		Event: NoticeEvent{
			ID:      e.ID,
			Body:    e.Body,
			Starts:  e.Span.Starts,
			Ends:    e.Span.Ends,
			AllDay:  e.Span.AllDay,
			OwnerID: e.OwnerID, CategoryID: e.CategoryID,
		},
	}
}

func (e *Event) entry(c Commitment) Entry {
	entry := Entry{
		CommitmentID: c.ID,
		ElementID:    c.ElementID,
		Status:       c.Status,
		Reason:       c.Reason,
		DecidedBy:    c.DecidedBy,
		AddedBy:      c.AddedBy,
	}
	if r := e.Request(c.RequestID); r != nil {
		entry.RequestID, entry.GroupID = r.ID, r.ElementID
		entry.Quantity, entry.Allocated = r.Quantity, e.Allocated(r.ID)
		entry.AddedBy = r.AddedBy
	}
	return entry
}
