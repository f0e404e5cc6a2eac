package mongostore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

const (
	// insertTries bounds how often documents are inserted again after the server aborted the write.
	insertTries = 30
	// firstRetreat and longestRetreat bound the pauses before that. A server that ends writers who wait for each other
	// does so one by one, after a second: a writer that returns at once joins those that still wait.
	firstRetreat   = 64 * time.Millisecond
	longestRetreat = 2 * time.Second
)

// Insert stores a new document, with the id that the caller set, as version 1. [IsDuplicateKey] holds for the error
// when a unique index refuses it; ErrConflict means that the server aborted the write again and again.
func Insert[T any, P Document[T]](ctx context.Context, collection *mongo.Collection, doc P) error {
	doc.head().Version = 1
	return InsertOne(ctx, collection, doc)
}

// InsertOne is Insert of any document.
func InsertOne[T any](ctx context.Context, collection *mongo.Collection, document T) error {
	refused, err := InsertAll(ctx, collection, []T{document})
	if err == nil && len(refused) > 0 {
		err = fmt.Errorf("insert into %s: %w", collection.Name(), mongo.WriteException{WriteErrors: refused})
	}
	return err
}

// InsertAll inserts documents, each by itself. It returns the write errors of those that a unique index refused, in
// order; their Index is the document's. Documents whose write the server aborted over a conflict are inserted again, in
// batches of half the size each time: a server that writes a batch as one transaction can't set two writers of the
// same keys against each other once each writes one document. Any other failure is an error, after which some documents
// may be stored. In a dry run (record.DryRun) nothing is.
func InsertAll[T any](ctx context.Context, collection *mongo.Collection,
	documents []T) (refused []mongo.WriteError, err error) {
	if record.IsDryRun(ctx) {
		return refusals(ctx, collection, documents)
	}
	waiting := make([]int, len(documents))
	for i := range documents {
		waiting[i] = i
	}
	atOnce := max(1, len(documents))
	_, err = backoff.Retry(ctx, func() (struct{}, error) {
		var again []int
		for some := range slices.Chunk(waiting, atOnce) {
			batch := sequence.Map(some, func(i int) T { return documents[i] })
			_, err := collection.InsertMany(ctx, batch, options.InsertMany().SetOrdered(false))
			kept, givenUp, err := sortFailures(err)
			if err != nil {
				return struct{}{}, backoff.Permanent(err)
			}
			for _, w := range kept {
				w.Index = some[w.Index]
				refused = append(refused, w)
			}
			for _, n := range givenUp {
				again = append(again, some[n])
			}
		}
		waiting, atOnce = again, max(1, atOnce/2)
		if len(waiting) > 0 {
			return struct{}{}, ErrConflict
		}
		return struct{}{}, nil
	}, backoff.WithMaxTries(1+insertTries), backoff.WithMaxElapsedTime(0),
		backoff.WithBackOff(&backoff.ExponentialBackOff{InitialInterval: firstRetreat, RandomizationFactor: 0.5,
			Multiplier: 2, MaxInterval: longestRetreat}))
	if err != nil {
		return nil, fmt.Errorf("insert into %s: %w", collection.Name(), err)
	}
	slices.SortFunc(refused, func(a, b mongo.WriteError) int { return a.Index - b.Index })
	return refused, nil
}

// sortFailures separates the documents that a unique index refused from those that may be tried again at once.
func sortFailures(err error) (kept []mongo.WriteError, givenUp []int, _ error) {
	var bulk mongo.BulkWriteException
	if !errors.As(err, &bulk) || bulk.WriteConcernError != nil {
		return nil, nil, err
	}
	for _, w := range bulk.WriteErrors {
		switch {
		case Conflicted(w):
			givenUp = append(givenUp, w.Index)
		case IsDuplicateKey(w):
			kept = append(kept, w.WriteError)
		default:
			return nil, nil, err
		}
	}
	return kept, givenUp, nil
}
