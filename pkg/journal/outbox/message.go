// Package outbox delivers messages from one service's documents to the other services, at least once.
//
// A message is written into the array outbox of a document in the same atomic write as the change, so there is
// never one without the other. It is pending until a [Relay] has added it to a Redis stream, and is removed from
// the document only then. A [Consumer] calls an idempotent handler for each message of the stream until that
// succeeds. When a process dies, a message may be handled again, and is never lost.
package outbox

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/propagation"

	"github.com/belfry-schools/belfry/pkg/mongostore"
)

// Message says what happened to a record. It must hold no secrets: Redis stores it in plain text.
type Message struct {
	ID      string    `bson:"id"`      // unique; the same when the message is delivered again
	Kind    string    `bson:"kind"`    // such as event.deleted
	Subject int64     `bson:"subject"` // id of the record
	At      time.Time `bson:"at"`
	Trace   string    `bson:"trace,omitempty"` // W3C traceparent of the request that wrote it
	// Detail is for RelayOptions.Record of the writing service; it is not published.
	Detail string `bson:"detail,omitempty"`
}

// NewMessage returns a message with a new id and the trace context of ctx.
func NewMessage(ctx context.Context, kind string, subject int64) Message {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return Message{
		ID: rand.Text(), Kind: kind, Subject: subject, At: time.Now().UTC().Truncate(time.Millisecond),
		Trace: carrier.Get("traceparent"),
	}
}

// Index returns the index that a collection needs for its relay.
func Index() mongostore.Index { return mongostore.PendingOutbox.Index() }

// Stream returns the Redis key of the stream with that name, in the deployment with that prefix.
func Stream(prefix, name string) string { return prefix + "stream:" + name }

// values are the fields of the message's entry in the stream.
func (m Message) values() map[string]any {
	return map[string]any{
		"id":          m.ID,
		"kind":        m.Kind,
		"subject":     m.Subject,
		"at":          m.At.UTC().Format(time.RFC3339Nano),
		"traceparent": m.Trace,
	}
}

// parse reads an entry of the stream.
func parse(values map[string]any) (Message, error) {
	text := func(key string) string {
		s, _ := values[key].(string)
		return s
	}
	m := Message{ID: text("id"), Kind: text("kind"), Trace: text("traceparent")}
	if m.ID == "" || m.Kind == "" {
		return m, errors.New("it has no id or no kind")
	}
	var err error
	if m.Subject, err = strconv.ParseInt(text("subject"), 10, 64); err != nil {
		return m, errors.New("its subject is not an id")
	}
	if m.At, err = time.Parse(time.RFC3339Nano, text("at")); err != nil {
		return m, errors.New("its time is not readable")
	}
	return m, nil
}
