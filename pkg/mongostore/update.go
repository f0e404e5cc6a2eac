package mongostore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

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

const (
	// updatePatience is how long Update tries again after other writers were first.
	updatePatience = 5 * time.Second
	firstPause     = 2 * time.Millisecond
	longestPause   = 64 * time.Millisecond
)

// Load reads the document with the id. record.ErrNotFound when there is none.
func Load[T any, P Document[T]](ctx context.Context, collection Reader, id int64) (T, error) {
	return First[T](ctx, collection, byID(id))
}

// Update changes one document as a whole and loses no concurrent change. It loads the document, lets change decide in
// plain Go, and replaces it only where the version is still the one loaded; when another writer was first, it starts
// over. So change may run many times: it works on the document it is passed, does no I/O and keeps nothing between
// runs. What the stored document has and T does not know stays; see Stored.
//
// When change returns record.ErrUnchanged, nothing is written and the document is returned as loaded, without an
// error. Any other error of change is returned as it is. record.ErrNotFound: no such document. ErrConflict: other
// writers were first for five seconds. The document returned is the one stored.
//
// After an error for which [Unavailable] holds, the change may or may not be stored.
func Update[T any, P Document[T]](ctx context.Context, collection *mongo.Collection, id int64,
	change func(P) error) (T, error) {
	started := time.Now()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		stored, err := First[Stored[T]](ctx, collection, byID(id))
		if err != nil {
			return stored.Document, err
		}
		done, err := replace[T, P](ctx, collection, &stored, change)
		if done || err != nil {
			return stored.Document, err
		}
		if time.Since(started) > updatePatience {
			return stored.Document, ErrConflict
		}
		if err := sleep(ctx, rand.N(pause)); err != nil {
			return stored.Document, err
		}
	}
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
	replacement, err := stored.Replacement()
	if err != nil {
		return false, err
	}
	result, err := collection.ReplaceOne(ctx,
		bson.D{{Key: "_id", Value: loaded.ID}, {Key: "version", Value: loaded.Version}}, replacement)
	if err != nil && !Conflicted(err) {
		return false, fmt.Errorf("replace in %s: %w", collection.Name(), err)
	}
	return err == nil && result.MatchedCount == 1, nil
}

// sleep waits, or returns the context's error as soon as it ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
