package store

import (
	"time"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// document is a note as it is stored.
type document struct {
	mongostore.Head `bson:",inline"`

	Note note.Note `bson:",inline"`

	Written        time.Time       `bson:"written,omitempty"`
	IdempotencyKey *keyDocument    `bson:"ticket,omitempty"`
	System         *systemDocument `bson:"system,omitempty"`

	journal.Tail `bson:",inline"`
}

// keyDocument is the idempotency key of the request that made a note, and when.
type keyDocument struct {
	Key  string    `bson:"key"`
	Body string    `bson:"body"`
	At   time.Time `bson:"at"`
}

// systemDocument is what makes a note one of the system's on a topic.
type systemDocument struct {
	Topic fact.Topic   `bson:"topic"`
	Day   wiretime.Day `bson:"day"`
}

// note returns what the document says.
func (d *document) note() note.Note {
	n := d.Note
	n.ID, n.Version = d.ID, d.Version
	if d.IdempotencyKey != nil {
		n.IdempotencyKey = idempotency.Key{ID: d.IdempotencyKey.Key, Body: d.IdempotencyKey.Body}
	}
	if d.System != nil {
		n.Topic, n.Day = d.System.Topic, d.System.Day
	}
	return n
}

// set stores n in the document. The time of writing and the key of the request that made the note stay.
func (d *document) set(n note.Note) {
	now := time.Now().UTC()
	written, key := d.Written, d.IdempotencyKey
	if d.Version == 0 {
		written = now
	}
	if key == nil && n.IdempotencyKey.Given() {
		key = &keyDocument{Key: n.IdempotencyKey.ID, Body: n.IdempotencyKey.Body, At: now}
	}
	*d = document{Head: mongostore.Head{ID: n.ID, Schema: schema}, Note: n, Written: written, IdempotencyKey: key}
	if n.Topic != "" {
		d.System = &systemDocument{n.Topic, n.Day}
	}
}
