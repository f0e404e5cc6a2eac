package note

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/notes/internal/markdown"
)

// Store keeps the notes.
type Store interface {
	// Get returns a note; record.ErrNotFound when there is none.
	Get(ctx context.Context, id int64) (Note, error)
	// GetByIdempotencyKey returns the note that the request with the Key of that id has made; record.ErrNotFound when
	// there is none.
	GetByIdempotencyKey(ctx context.Context, keyID string) (Note, error)
	// FindByKeys returns the imported notes that have one of the keys, in no order, with ID, Key and ImportHash alone.
	FindByKeys(ctx context.Context, keys []string) ([]Note, error)
	// FindOnTopic returns the notes on a topic of the events, in no order, with ID, EventID, Contents, Topic and Day
	// alone.
	FindOnTopic(ctx context.Context, topic fact.Topic, eventIDs []int64) ([]Note, error)
	// FindNoted returns the ids of the events that have a note on a topic whose day is one of these, in no order.
	FindNoted(ctx context.Context, topic fact.Topic, days wiretime.Days) ([]int64, error)
	// List returns the notes of an event as they were written.
	List(ctx context.Context, eventID int64) ([]Note, error)
	// FindRead returns those of the events that have a note which the viewer sees, in order.
	FindRead(ctx context.Context, eventIDs []int64, v fact.Viewer) ([]int64, error)
	// ListAll returns notes with an id above after in order of id: up to limit, or fewer and more when they are large.
	ListAll(ctx context.Context, after int64, limit int) (found []Note, more bool, err error)
	// Insert stores a note and returns it with its id; idempotency.InProgress when another with its idempotency key
	// was first.
	Insert(ctx context.Context, n Note) (Note, error)
	// InsertAll stores notes and sets their ids. It returns the indexes of those that are not stored: another note
	// has their key, or their event has a note on their topic.
	InsertAll(ctx context.Context, notes []Note) (taken map[int]bool, err error)
	// Change loads a note, lets decide change it, and stores it; when another writer was first, decide runs again,
	// on the note as it is then. record.ErrNotFound; an error of decide is returned as it is. After
	// record.ErrUnchanged from decide nothing is written and the note is returned.
	Change(ctx context.Context, id int64, decide func(*Note) error) (Note, error)
	// Within calls write, which adds that size to the notes of an event, unless the event would exceed the limit: then
	// it returns ErrFull. Concurrent writers, in any replica, stay within the limit. An error of write is returned as
	// it is. record.ErrNotFound when the notes of the event are deleted with it meanwhile.
	Within(ctx context.Context, eventID int64, size, limit Size, write func() error) error
	// Total returns what the notes of an event take at most, those of the system on topics left out; record.ErrNotFound
	// when they have not been counted.
	Total(ctx context.Context, eventID int64) (Size, error)
	// Delete deletes a note if may returns nil for it; an error of may is returned as it is. record.ErrNotFound.
	Delete(ctx context.Context, id int64, may func(*Note) error) error

	// FindTexts returns the ids of the next notes, after a place, that one of the users wrote or in whose texts
	// something is found, and the place to go on after: "" is before the first and after the last.
	FindTexts(ctx context.Context, texts *erasure.Texts, users []int64, after string) (
		ids []int64, next string, err error)

	// DeleteOfEvents deletes all notes of the events.
	DeleteOfEvents(ctx context.Context, eventIDs []int64) error
	// ListEvents returns ids above after of events that have notes, in rising order: the next ones, some thousand at
	// most. None: there are no more.
	ListEvents(ctx context.Context, after int64) ([]int64, error)
}

// Events asks the events service.
type Events interface {
	Summaries(ctx context.Context, q fact.SummariesQuestion) ([]fact.Event, error)
	Living(ctx context.Context, q fact.LivingQuestion) ([]int64, error)
}

// Users asks the identity service.
type Users interface {
	Users(ctx context.Context, q fact.UsersQuestion) ([]fact.User, error)
}

// Options of New. All are needed.
type Options struct {
	Store    Store
	Events   Events
	Users    Users
	Markdown *markdown.Renderer
	Sights   principal.Sights
}

// Service has the use cases. It is safe for concurrent use.
type Service struct{ Options }

// New returns the use cases on a store and the other services.
func New(o Options) *Service { return &Service{o} }

// missing turns a store's record.ErrNotFound into the problem that clients see.
func missing(err error, id int64) error { return record.Missing(err, TypeName, id) }
