package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/journal/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// A feed whose place another writer takes at the same time is stored again up to feedTries times, after a pause of up
// to feedPause.
const (
	feedTries = 50
	feedPause = 20 * time.Millisecond
)

// feeds implements element.FeedStore, by the collections feeds and element_settings.
type feeds struct {
	feeds     *journal.Collection[feedDocument, element.Feed]
	namespace *mongostore.Constant
	ids       *mongostore.IDs
}

func newFeeds(db *mongo.Database, ids *mongostore.IDs) *feeds {
	return &feeds{
		feeds: journal.New(journal.Options[feedDocument, element.Feed]{
			Collection: db.Collection("feeds"),
			Record:     (*feedDocument).feed, Set: (*feedDocument).set, Entry: feedEntry,
		}),
		namespace: mongostore.NewConstant(db.Collection("element_settings"), "calendar"),
		ids:       ids,
	}
}

var feedIndexes = []mongostore.Index{
	{
		Name: "place", Keys: mongostore.By("user_id", "element_id", "place"),
		Unique: true, Where: mongostore.Exists("user_id"), // no tombstone
	},
	{Name: "token_hash", Keys: mongostore.By("token_hash")},
	auditlog.Index(),
}

// feedDocument is a feed as it is stored.
type feedDocument struct {
	mongostore.Head `bson:",inline"`

	Feed element.Feed `bson:",inline"`

	journal.Tail `bson:",inline"`
}

func (d *feedDocument) set(f element.Feed) {
	*d = feedDocument{Head: mongostore.Head{ID: f.ID, Schema: schema}, Feed: f}
}

func (d *feedDocument) feed() element.Feed {
	f := d.Feed
	f.ID = d.ID
	return f
}

func (s *feeds) Namespace(ctx context.Context) (string, error) { return s.namespace.Get(ctx) }

func (s *feeds) List(ctx context.Context, userID, elementID int64) ([]element.Feed, error) {
	return s.feeds.Find(ctx, byPair(userID, elementID), options.Find().SetSort(orderOfID))
}

func (s *feeds) GetByToken(ctx context.Context, tokenHash string) (element.Feed, error) {
	return s.feeds.First(ctx, byToken(tokenHash))
}

func byPair(userID, elementID int64) bson.D {
	return append(mongostore.WhereExists("user_id", "$eq", userID), bson.E{Key: "element_id", Value: elementID})
}

func byToken(hash string) bson.D { return bson.D{{Key: "token_hash", Value: hash}} }

// Insert relies on the index, which refuses a place that is taken.
func (s *feeds) Insert(ctx context.Context, f element.Feed, most int) (element.Feed, error) {
	err := mongostore.Retry(ctx, func() (done bool, err error) {
		taken, err := s.List(ctx, f.UserID, f.ElementID)
		if err != nil {
			return false, err
		}
		f.Place = 1
		for slices.ContainsFunc(taken, func(other element.Feed) bool { return other.Place == f.Place }) {
			f.Place++
		}
		if f.Place > most {
			return false, element.ErrFeedsFull
		}
		if f.ID, err = s.ids.Next(ctx, "feeds"); err != nil {
			return false, err
		}
		_, err = s.feeds.InsertOne(ctx, f)
		if mongostore.IsDuplicateKey(err) { // another writer has the place
			return false, nil
		}
		return err == nil, err
	}, backoff.WithMaxTries(feedTries), backoff.WithBackOff(mongostore.Pauses(feedPause)))
	if err != nil {
		return f, fmt.Errorf("store a feed: %w", err)
	}
	return f, nil
}

func (s *feeds) Change(ctx context.Context, id int64, decide func(*element.Feed) error) (element.Feed, error) {
	return s.feeds.Change(ctx, id, decide)
}

func (s *feeds) Delete(ctx context.Context, id int64, may func(element.Feed) error) error {
	return s.feeds.Delete(ctx, id, func(f *element.Feed) error {
		if err := may(*f); err != nil {
			return err
		}
		f.TokenHash = "" // the entry for the audit has no address
		return nil
	})
}

func (s *feeds) FindTexts(
	ctx context.Context, texts *erasure.Texts, users []int64, after string,
) (found []element.Feed, next string, err error) {
	page, next, err := mongostore.FindAfter[feedDocument](ctx, s.feeds.Reader(), after)
	for i := range page {
		f := page[i].feed()
		if _, named := texts.Replace(f.Name); named || slices.Contains(users, f.UserID) {
			found = append(found, f)
		}
	}
	return found, next, err
}
