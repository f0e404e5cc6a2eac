package event

import (
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// NoticeKind is what a notice is about.
type NoticeKind string

// The kinds of notice.
const (
	// CommitmentRequested: entries wait for a decision by the administrators of their elements.
	CommitmentRequested NoticeKind = "commitment.requested"
	// CommitmentDecided: an administrator confirmed, rejected or noted entries, or returned them to requested.
	CommitmentDecided NoticeKind = "commitment.decided"
	// CommitmentDeleted: confirmed entries were removed from an event that stays.
	CommitmentDeleted NoticeKind = "commitment.deleted"
	// RequestAllocated: items of a resource group were allocated to a request.
	RequestAllocated NoticeKind = "request.allocated"
	// EventDeleted: an event was deleted that had confirmed entries, which the notice lists.
	EventDeleted NoticeKind = fact.EventDeleted
)

// NoticeKinds lists every kind.
func NoticeKinds() []NoticeKind {
	return []NoticeKind{CommitmentRequested, CommitmentDecided, CommitmentDeleted, RequestAllocated, EventDeleted}
}

// Notice is what one change did to entries of an event, with everything that mails and webhooks say about it, as of
// that change: the event may change or be deleted later. Its JSON is stored and read by other releases: names stay, and
// new fields may be missing.
type Notice struct {
	Kind     NoticeKind  `json:"kind"`
	Position int64       `json:"position"` // rises from one notice of an event to the next; the store sets it
	Event    NoticeEvent `json:"event"`
	Actor    int64       `json:"actor,omitempty"` // the user who made the change; 0: an import
	Entries  []Entry     `json:"entries"`
}

// NoticeEvent is the event of a notice.
type NoticeEvent struct {
	ID         int64     `json:"id"`
	Body       string    `json:"body"`
	Starts     time.Time `json:"starts"`
	Ends       time.Time `json:"ends"`
	AllDay     bool      `json:"all_day,omitempty"`
	OwnerID    int64     `json:"owner_id,omitempty"`
	CategoryID int64     `json:"category_id"`
}

// Entry is a commitment as a notice shows it.
type Entry struct {
	CommitmentID int64  `json:"commitment_id"`
	ElementID    int64  `json:"element_id"`
	Status       Status `json:"status"`
	Reason       string `json:"reason,omitempty"`
	DecidedBy    int64  `json:"decided_by,omitempty"`
	AddedBy      int64  `json:"added_by,omitempty"` // who asked for it: of an allocation, who asked for the items
	RequestID    int64  `json:"request_id,omitempty"`
	GroupID      int64  `json:"group_id,omitempty"` // the resource group of that request, and its two numbers
	Quantity     int    `json:"quantity,omitempty"`
	Allocated    int    `json:"allocated,omitempty"`
}

// Notices returns the notices of a change of an event, at most one of each kind. A new event is a change from the zero
// Event.
func Notices(before, after Event) []Notice {
	entries := map[NoticeKind][]Entry{}
	was := sequence.By(before.Commitments, func(c Commitment) int64 { return c.ID })
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

// noticeOf returns the kind of notice that the change of a commitment causes; "" when none.
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

// Deletion is the notice of a deleted event, with its confirmed entries.
func Deletion(e Event) Notice {
	confirmed := filter(e.Commitments, func(c Commitment) bool { return c.Status == Confirmed })
	return e.notice(EventDeleted, sequence.Map(confirmed, e.entry))
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
		CommitmentID: c.ID, ElementID: c.ElementID, Status: c.Status, Reason: c.Reason, DecidedBy: c.DecidedBy,
		AddedBy: c.AddedBy,
	}
	if r := e.Request(c.RequestID); r != nil {
		entry.RequestID, entry.GroupID = r.ID, r.ElementID
		entry.Quantity, entry.Allocated = r.Quantity, e.Allocated(r.ID)
		entry.AddedBy = r.AddedBy
	}
	return entry
}
