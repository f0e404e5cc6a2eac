package store

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/journal/outbox"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/services/events/internal/event"
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
