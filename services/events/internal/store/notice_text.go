package store

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/belfry-schools/belfry/pkg/journal/outbox"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/notice"
)

// noticeDetail is a notice in the Detail of an outbox message, and in a stored notice that is not spread yet. Other
// releases read it, too: names stay, and new fields may be missing.
type noticeDetail struct {
	Kind     event.NoticeKind `json:"kind"`
	Position int64            `json:"position"`
	Event    eventDetail      `json:"event"`
	Actor    int64            `json:"actor,omitempty"`
	Entries  []entryDetail    `json:"entries"`
}

type eventDetail struct {
	ID      int64     `json:"id"`
	Body    string    `json:"body"`
	Starts  time.Time `json:"starts"`
	Ends    time.Time `json:"ends"`
	AllDay  bool      `json:"all_day,omitempty"`
	OwnerID int64     `json:"owner_id,omitempty"`

	CategoryID int64 `json:"category_id,omitempty"`
}

type entryDetail struct {
	CommitmentID int64        `json:"commitment_id"`
	ElementID    int64        `json:"element_id"`
	Status       event.Status `json:"status"`
	Reason       string       `json:"reason,omitempty"`
	DecidedBy    int64        `json:"decided_by,omitempty"`
	AddedBy      int64        `json:"added_by,omitempty"`
	RequestID    int64        `json:"request_id,omitempty"`
	GroupID      int64        `json:"group_id,omitempty"`
	Quantity     int          `json:"quantity,omitempty"`
	Allocated    int          `json:"allocated,omitempty"`
}

// noticeText is the text of a notice; i is its place among those of the change that gave the document its version.
func noticeText(version int64, i int, n event.Notice) string {
	n.Position = version*changeNotices + int64(i)
	return encodeNotice(n)
}

func encodeNotice(n event.Notice) string {
	d := noticeDetail{Kind: n.Kind, Position: n.Position, Event: eventDetail(n.Event), Actor: n.Actor}
	for _, e := range n.Entries {
		d.Entries = append(d.Entries, entryDetail(e))
	}
	text, _ := json.Marshal(d) // numbers, texts and times always encode
	return string(text)
}

func decodeNotice(text string) (event.Notice, error) {
	var d noticeDetail
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return event.Notice{}, err
	}
	n := event.Notice{Kind: d.Kind, Position: d.Position, Event: event.NoticeEvent(d.Event), Actor: d.Actor}
	for _, e := range d.Entries {
		n.Entries = append(n.Entries, event.Entry(e))
	}
	return n, nil
}

// NoticesOf returns the notices among the messages of an event's outbox, in their order. One that is not readable is
// logged and left out.
func NoticesOf(ctx context.Context, log *slog.Logger, messages []outbox.Message) []notice.Notice {
	var notices []notice.Notice
	for _, m := range messages {
		if m.Detail == "" {
			continue
		}
		n, err := decodeNotice(m.Detail)
		if err != nil {
			log.ErrorContext(ctx, "a notice is not readable and is skipped", "notice", m.ID, "error", err)
			continue
		}
		notices = append(notices, notice.Notice{ID: m.ID, At: m.At, Notice: n})
	}
	return notices
}
