package store

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/mongostore"
)

// FindTexts implements note.Store.
func (s *Notes) FindTexts(
	ctx context.Context, texts *erasure.Texts, users []int64, after string,
) (ids []int64, next string, err error) {
	page, next, err := mongostore.FindAfter[bson.Raw](ctx, s.notes.Reader(), after)
	for _, d := range page {
		owner, owned := d.Lookup("owner_id").AsInt64OK()
		if owned && slices.Contains(users, owner) || texts.In(d) {
			ids = append(ids, d.Lookup("_id").AsInt64())
		}
	}
	return ids, next, err
}
