package mongostore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/record"
)

// Head is what every document starts with. Embed it with the tag `bson:",inline"`.
type Head struct {
	ID      int64 `bson:"_id"`
	Version int64 `bson:"version"` // 1 when stored, one more with each write; kept by this package
	Schema  int32 `bson:"schema"`  // the shape of the document, raised by migrations
}

func (h *Head) head() *Head { return h }

// Document is a pointer to a struct that embeds Head.
type Document[T any] interface {
	*T
	head() *Head
}

// HeadOf returns the head of a document.
func HeadOf[T any, P Document[T]](doc P) *Head { return doc.head() }

// updatePatience is how long Update tries again after other writers were first. It ends before a request does.
const updatePatience = 8 * time.Second

// Load reads the document with the id. record.ErrNotFound when there is none.
func Load[T any, P Document[T]](ctx context.Context, collection Reader, id int64) (T, error) {
	return First[T](ctx, collection, byID(id))
}

// Update changes one document as a whole and loses no concurrent change. It loads the document, lets change decide in
// plain Go, and replaces it only where the version is still the one loaded; when another writer was first, it starts
// over. So change may run many times: it works on the document it is passed, and writes nothing else. What it has read
// besides it may keep for the next run. What the stored document has and T does not know stays; see Stored.
//
// When change returns record.ErrUnchanged, nothing is written and the document is returned as loaded, without an
// error. Any other error of change is returned as it is. record.ErrNotFound: no such document. ErrConflict: other
// writers were first for eight seconds. The document returned is the one stored.
//
// After an error for which [Unavailable] holds, the change may or may not be stored. In a dry run (record.DryRun)
// nothing is, and the document returned keeps its version.
func Update[T any, P Document[T]](ctx context.Context, collection *mongo.Collection, id int64,
	change func(P) error) (T, error) {
	var stored Stored[T]
	err := Retry(ctx, func() (done bool, err error) {
		if stored, err = First[Stored[T]](ctx, collection, byID(id)); err != nil {
			return false, err
		}
		return replace[T, P](ctx, collection, &stored, change)
	}, backoff.WithMaxElapsedTime(updatePatience))
	return stored.Document, err
}

// replace changes a document and stores it, and says whether that is done: false when another writer was first.
func replace[T any, P Document[T]](ctx context.Context, collection *mongo.Collection, stored *Stored[T],
	change func(P) error) (done bool, err error) {
	head := P(&stored.Document).head()
	loaded := *head
	if err := change(&stored.Document); err != nil {
		if errors.Is(err, record.ErrUnchanged) {
			return true, nil
		}
		return false, err
	}
	*head = Head{ID: loaded.ID, Version: loaded.Version + 1, Schema: head.Schema}
	if record.IsDryRun(ctx) {
		head.Version = loaded.Version
		refused, err := refusals(ctx, collection, []T{stored.Document})
		if err == nil && len(refused) > 0 {
			err = fmt.Errorf("replace in %s: %w", collection.Name(), mongo.WriteException{WriteErrors: refused})
		}
		return true, err
	}
	replacement, err := stored.Replacement()
	if err != nil {
		return false, err
	}
	result, err := collection.ReplaceOne(ctx,
		bson.D{{Key: "_id", Value: loaded.ID}, {Key: "version", Value: loaded.Version}}, replacement)
	if err != nil {
		return false, fmt.Errorf("replace in %s: %w", collection.Name(), err)
	}
	return result.MatchedCount == 1, nil
}

// gates is the number of queues. Documents that share one by chance wait for each other.
const gates = 1024

// WriterQueues makes the writers of one process to the same document write one after another, first come, first
// served. Update is correct without it. But a hundred writers at once would lose to each other again and again, and
// load the server with their lost writes. With it, a writer competes only with writers of other replicas.
type WriterQueues struct{ gates [gates]chan struct{} }

// NewWriterQueues returns the queues of a collection's writers.
func NewWriterQueues() *WriterQueues {
	t := &WriterQueues{}
	for i := range t.gates {
		t.gates[i] = make(chan struct{}, 1)
	}
	return t
}

// Wait waits until the caller may write the document with the id, or the context ends. Call done once, when the
// document is written.
func (t *WriterQueues) Wait(ctx context.Context, id int64) (done func(), err error) {
	gate := t.gates[uint64(id)%gates]
	select {
	case gate <- struct{}{}:
		return func() { <-gate }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
