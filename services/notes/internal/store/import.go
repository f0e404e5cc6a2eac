package store

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/audit"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// duplicateKey is the server's code for a unique index in the way.
const duplicateKey = 11000

// WithKeys implements note.Store.
func (s *Notes) WithKeys(ctx context.Context, keys []string) ([]note.Note, error) {
	return s.find(ctx, withKeys(keys), options.Find())
}

// withKeys says that the key exists so that the index over imported notes can serve it.
func withKeys(keys []string) bson.D {
	return bson.D{{Key: "key", Value: bson.D{{Key: "$in", Value: keys}, {Key: "$exists", Value: true}}}}
}

// InsertAll implements note.Store.
func (s *Notes) InsertAll(ctx context.Context, notes []note.Note) (map[int]bool, error) {
	if err := audit.Begin(ctx); err != nil {
		return nil, err
	}
	first, err := s.ids.Take(ctx, counter, len(notes))
	if err != nil {
		return nil, err
	}
	documents := make([]document, len(notes))
	for i := range notes {
		notes[i].ID = first + int64(i)
		documents[i] = documentOf(notes[i])
		documents[i].Version = 1
		documents[i].Audit = entry(ctx, note.Note{}, notes[i])
	}
	_, err = s.notes.InsertMany(ctx, documents, options.InsertMany().SetOrdered(false))
	if err == nil {
		return nil, nil
	}
	var failed mongo.BulkWriteException
	if !errors.As(err, &failed) || failed.WriteConcernError != nil {
		return nil, fmt.Errorf("insert notes: %w", err)
	}
	taken := map[int]bool{}
	for _, w := range failed.WriteErrors {
		if w.Code != duplicateKey {
			return nil, fmt.Errorf("insert notes: %w", err)
		}
		taken[w.Index] = true
	}
	return taken, nil
}
