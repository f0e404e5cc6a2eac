package store

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/series"
)

// seriesIDs is the name of the counter of their ids.
const seriesIDs = "series"

// Series is the collection of series. It implements series.Store. Series are not audited: each of their events is, and
// its entry names the series.
type Series struct {
	collection, settings *mongo.Collection
	ids                  *mongostore.IDs
	events               *Events
}

var _ series.Store = (*Series)(nil)

// seriesDocument is a series as it is stored.
type seriesDocument struct {
	mongostore.Head `bson:",inline"`

	Series series.Series `bson:",inline"`

	Unmade *time.Time `bson:"unmade,omitempty"` // since when something of it is to be done
	KeyAt  *time.Time `bson:"key_at,omitempty"`
}

// series returns the series of the document.
func (d *seriesDocument) series() series.Series {
	s := d.Series
	s.ID, s.Version = d.ID, d.Version
	return s
}

// set stores s in the document; the version stays.
func (d *seriesDocument) set(s series.Series) {
	*d = seriesDocument{Head: mongostore.Head{ID: s.ID, Version: d.Version, Schema: schema}, Series: s}
	switch {
	case s.State != series.Made:
		d.Unmade = &s.Begun
	case s.Ending != nil:
		d.Unmade = &s.Ending.Since
	case s.Changing != nil:
		d.Unmade = &s.Changing.Since
	}
	if s.Key.Given() {
		d.KeyAt = &s.Begun
	}
}

func seriesCollection(db *mongo.Database) *mongo.Collection { return db.Collection("series") }

// NewSeries returns the store, whose events are in another.
func NewSeries(db *mongo.Database, ids *mongostore.IDs, events *Events) *Series {
	return &Series{seriesCollection(db), settingsCollection(db), ids, events}
}

// Get implements series.Store.
func (s *Series) Get(ctx context.Context, id int64) (series.Series, error) {
	d, err := mongostore.Load[seriesDocument](ctx, s.collection, id)
	return d.series(), err
}

// GetByKey implements series.Store, by an index.
func (s *Series) GetByKey(ctx context.Context, keyID string) (series.Series, error) {
	d, err := mongostore.First[seriesDocument](ctx, s.collection, seriesKeyFilter(keyID))
	return d.series(), err
}

func seriesKeyFilter(keyID string) bson.D { return mongostore.WhereExists("key", "$eq", keyID) }

func unmadeFilter(before time.Time) bson.D { return mongostore.WhereExists("unmade", "$lt", before) }

func seriesKeysFilter(before time.Time) bson.D {
	return mongostore.WhereExists("key_at", "$lt", before)
}

// ListUnmade implements series.Store, by an index of unfinished series only.
func (s *Series) ListUnmade(ctx context.Context, before time.Time, limit int) ([]series.Series, error) {
	found, err := mongostore.Find[seriesDocument](ctx, s.collection, unmadeFilter(before),
		options.Find().SetSort(mongostore.By("unmade")).SetLimit(int64(limit)))
	return sequence.Map(found, func(f seriesDocument) series.Series { return f.series() }), err
}

// NewID implements series.Store.
func (s *Series) NewID(ctx context.Context) (int64, error) { return s.ids.Next(ctx, seriesIDs) }

// Insert implements series.Store.
func (s *Series) Insert(ctx context.Context, new series.Series) error {
	var d seriesDocument
	d.set(new)
	err := mongostore.Insert(ctx, s.collection, &d)
	if mongostore.IsDuplicateKey(err) {
		return series.ErrTaken
	}
	return err
}

// Change implements series.Store.
func (s *Series) Change(ctx context.Context, id int64, change func(*series.Series) error) (series.Series, error) {
	d, err := mongostore.Update(ctx, s.collection, id, func(d *seriesDocument) error {
		changed := d.series()
		if err := change(&changed); err != nil {
			return err
		}
		d.set(changed)
		return nil
	})
	return d.series(), err
}

// Delete implements series.Store.
func (s *Series) Delete(ctx context.Context, id int64) error {
	_, err := s.collection.DeleteOne(ctx, bson.D{{Key: "_id", Value: id}})
	return failed(err, "delete a series")
}

// ForgetKeys removes the idempotency keys of series that were begun before a time.
func (s *Series) ForgetKeys(ctx context.Context, before time.Time) error {
	fields := bson.D{{Key: "key", Value: ""}, {Key: "key_at", Value: ""}, {Key: "body_hash", Value: ""}}
	_, err := s.collection.UpdateMany(ctx, seriesKeysFilter(before), bson.D{{Key: "$unset", Value: fields}})
	return failed(err, "forget keys of series")
}

// InsertEvents implements series.Store.
func (s *Series) InsertEvents(ctx context.Context, events []event.Event) ([]int, error) {
	refused, err := s.events.events.Insert(ctx, events)
	return sequence.Map(refused, func(w mongo.WriteError) int { return w.Index }), err
}

// FindEvents implements series.Store, by an index.
func (s *Series) FindEvents(ctx context.Context, id int64) ([]event.Event, error) {
	inOrder := options.Find().SetSort(mongostore.By("series_id", "series_place"))
	return s.events.find(ctx, inSeriesFilter(id), true, inOrder)
}

func inSeriesFilter(id int64) bson.D { return mongostore.WhereExists("series_id", "$eq", id) }

// Lead implements series.Store.
func (s *Series) Lead(ctx context.Context, work func(context.Context) error) error {
	return mongostore.WithLease(ctx, s.settings, "series-lease", work)
}
