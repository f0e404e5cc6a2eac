package store

import (
	"context"
	"encoding/json"

	"github.com/belfry-schools/belfry/pkg/outbox"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// changeNotices is more than a change can have notices: the notices of one event are numbered by the version that its document gets with the
// change, and within that.
const changeNotices = 8

// tell puts the notices of the change that gives the document that version into its outbox, and says whether there are any.
func tell(ctx context.Context, d *eventDocument, version int64, notices []event.Notice) bool {
	for i, n := range notices {
		message := outbox.NewMessage(ctx, string(n.Kind), n.Event.ID)
		message.Detail = detail(version, i, n)
		d.Outbox = append(d.Outbox, message)
	}
	return len(notices) > 0
}

// detail is a notice as the outbox carries it: i is its place among those of the change that gave the document its version.
func detail(version int64, i int, n event.Notice) string {
	n.Position = version*changeNotices + int64(i)
	text, _ := json.Marshal(n) // numbers, texts and times always encode
	return string(text)
}
