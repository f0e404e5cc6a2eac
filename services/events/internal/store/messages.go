package store

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/belfry-schools/belfry/pkg/journal/outbox"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/notice"
)

// changeNotices is more than a change can have notices: the notices of one event are numbered by the version that
// its document gets with the change, and within that.
const changeNotices = 8

// messages are what a change of an event owes the other services: that it was deleted, and notices of what was done
// to its entries. A deletion has its notice in the message that the other services get.
func messages(ctx context.Context, version int64, before, after event.Event) []outbox.Message {
	if after.ID == 0 {
		m := outbox.NewMessage(ctx, fact.EventDeleted, before.ID)
		if lost := event.Deletion(before); len(lost.Entries) > 0 {
			m.Detail = noticeText(version, 0, lost)
		}
		return []outbox.Message{m}
	}
	var messages []outbox.Message
	for i, n := range event.Notices(before, after) {
		m := outbox.NewMessage(ctx, string(n.Kind), n.Event.ID)
		m.Detail = noticeText(version, i, n)
		messages = append(messages, m)
	}
	return messages
}

// noticeText is the text of a notice; i is its place among those of the change that gave the document its version.
func noticeText(version int64, i int, n event.Notice) string {
	n.Position = version*changeNotices + int64(i)
	return encodeNotice(n)
}

// encodeNotice returns a notice as it is in the Detail of an outbox message, and in a stored notice that is not spread
// yet.
func encodeNotice(n event.Notice) string {
	text, _ := json.Marshal(n) // numbers, texts and times always encode
	return string(text)
}

func decodeNotice(text string) (n event.Notice, err error) {
	err = json.Unmarshal([]byte(text), &n)
	return n, err
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
