package store

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// FindTexts implements event.Store. Derived fields have no texts and are not read.
func (s *Events) FindTexts(
	ctx context.Context, texts *erasure.Texts, after string,
) (ids []int64, next string, err error) {
	found, next, err := mongostore.FindTexts(ctx, s.events.Reader(), texts, after,
		"commitment_periods", "request_periods", "commitment_states", "outstanding_groups", "search_keys", "brief")
	ids = make([]int64, len(found))
	for i, id := range found {
		ids[i] = id.AsInt64()
	}
	return ids, next, err
}

// Erase are the parts of an erasure that go through series, notices, mails, webhooks' deliveries and shared titles.
// Nothing else depends on these. Events that share a title have lost it before.
func Erase(db *mongo.Database, p erasure.Person) []erasure.Part {
	texts := erasure.NewTexts(p.Names, p.Instead)
	return sequence.Map([]*mongo.Collection{
		seriesCollection(db), db.Collection("notices"), db.Collection("notice_mails"),
		db.Collection("webhook_deliveries"), titlesCollection(db),
	}, func(collection *mongo.Collection) erasure.Part {
		return func(ctx context.Context, after string) (string, int, error) {
			return mongostore.RewriteTexts(ctx, collection, texts, after)
		}
	})
}
