package store

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

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
	first, err := s.ids.Take(ctx, counter, len(notes))
	if err != nil {
		return nil, err
	}
	for i := range notes {
		notes[i].ID = first + int64(i)
	}
	refused, err := s.notes.Insert(ctx, notes)
	if err != nil {
		return nil, err
	}
	taken := map[int]bool{}
	for _, r := range refused {
		taken[r.Index] = true
	}
	return taken, nil
}
