package outbox

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/service/background"
)

const (
	// relayInterval is the pause between two polls without a nudge, such as for a message whose writer died.
	relayInterval = 5 * time.Second
	// firstRetry and longestRetry bound the pause between two tries while a store is unavailable.
	firstRetry   = 100 * time.Millisecond
	longestRetry = 5 * time.Second
	// relayBatch is the most documents that are read at a time.
	relayBatch = 100
	// streamLength is about how many entries a stream keeps. A consumer that is further behind misses messages.
	streamLength = 100_000
)

// Relay moves messages from the documents of one collection to a stream. Several relays may work on the same
// collection; then some messages are published twice. The messages of one document are published in the order of
// its array. There is no order between documents.
//
// A tombstone is deleted with its last message, unless something else is pending in it (mongostore.Pending). The
// relay does not change the version of a document, so it never conflicts with a writer.
type Relay struct {
	RelayOptions
	nudge  chan struct{}
	every  time.Duration             // the pause between two polls
	oldest atomic.Pointer[time.Time] // of the oldest pending message at the last poll; nil: none
}

// RelayOptions are the options of NewRelay.
type RelayOptions struct {
	Collection *mongo.Collection // must have [Index]
	Redis      redis.UniversalClient
	Stream     string       // its Redis key
	Log        *slog.Logger // nil: the default one
	// Record, if set, is called with the messages of a document, in their order, before they are published. While
	// it fails they stay pending. It may get a message again, and from several relays at once, but never before the
	// messages ahead of it in the document.
	Record func(ctx context.Context, messages []Message) error
}

// NewRelay returns a relay from the collection to the stream.
func NewRelay(o RelayOptions) *Relay {
	o.Log = cmp.Or(o.Log, slog.Default()).With("collection", o.Collection.Name(), "stream", o.Stream)
	return &Relay{RelayOptions: o, nudge: make(chan struct{}, 1), every: relayInterval}
}

// Nudge makes the relay poll now instead of after its pause. It never blocks.
func (r *Relay) Nudge() {
	select {
	case r.nudge <- struct{}{}:
	default:
	}
}

// Run relays until ctx ends, then returns nil. While a store is unavailable it retries with growing pauses.
func (r *Relay) Run(ctx context.Context) error {
	return background.New(background.Options{
		Name: "outbox relay", Log: r.Log, Step: r.relay, Every: r.every, Wake: r.nudge,
		Retry: firstRetry, LongestRetry: longestRetry,
	}).Run(ctx)
}

// relay publishes all pending messages.
func (r *Relay) relay(ctx context.Context) error {
	for ctx.Err() == nil {
		if more, err := r.round(ctx); err != nil || !more {
			return err
		}
	}
	return ctx.Err()
}

// waiting is a document that has messages to publish.
type waiting = mongostore.Waiting[Message]

// round relays one batch and says whether there may be more.
func (r *Relay) round(ctx context.Context) (more bool, err error) {
	documents, more, err := r.read(ctx)
	if err != nil {
		return false, err
	}
	r.saw(documents)
	if len(documents) == 0 {
		return false, nil
	}
	if err := r.publish(ctx, documents); err != nil {
		return false, err
	}
	if err := r.remove(ctx, documents); err != nil {
		return false, err
	}
	r.saw(nil)
	return more, nil
}

func (r *Relay) read(ctx context.Context) (documents []waiting, more bool, err error) {
	return mongostore.FindPending[Message](ctx, r.Collection, mongostore.PendingOutbox, nil, relayBatch)
}

// publish calls Record with the messages and adds them to the stream. After an error some of them may be in it.
func (r *Relay) publish(ctx context.Context, documents []waiting) error {
	pipeline := r.Redis.Pipeline()
	for _, document := range documents {
		if r.Record != nil {
			if err := r.Record(ctx, document.Items); err != nil {
				return fmt.Errorf("record: %w", err)
			}
		}
		for _, message := range document.Items {
			pipeline.XAdd(ctx, &redis.XAddArgs{Stream: r.Stream, MaxLen: streamLength, Approx: true,
				Values: message.values()})
		}
	}
	if _, err := pipeline.Exec(ctx); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}

// remove removes the published messages from their documents. Messages that were added since stay.
func (r *Relay) remove(ctx context.Context, documents []waiting) error {
	published := make([]mongostore.Copied, len(documents))
	for i, d := range documents {
		published[i] = d.Copied(mongostore.PendingOutbox, len(d.Items), func(m Message) string { return m.ID })
	}
	return mongostore.RemovePending(ctx, r.Collection, published)
}
