package store

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/audit"
	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/wiretime"
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

func seriesCollection(db *mongo.Database) *mongo.Collection { return db.Collection("series") }

// NewSeries returns the store, whose events are in another.
func NewSeries(db *mongo.Database, ids *mongostore.IDs, events *Events) *Series {
	return &Series{seriesCollection(db), db.Collection("event_settings"), ids, events}
}

func seriesIndexes() []mongostore.Index {
	return []mongostore.Index{
		{Name: "key", Keys: bson.D{{Key: "key", Value: 1}}, Unique: true, Where: mongostore.Exists("key")},
		{Name: "key_at", Keys: bson.D{{Key: "key_at", Value: 1}}, Where: mongostore.Exists("key_at")},
		{Name: "unmade", Keys: bson.D{{Key: "unmade", Value: 1}}, Where: mongostore.Exists("unmade")},
	}
}

// seriesDocument is a series as it is stored.
type seriesDocument struct {
	mongostore.Head `bson:",inline"`

	State     series.State      `bson:"state"`
	Begun     time.Time         `bson:"begun"`
	Unmade    *time.Time        `bson:"unmade,omitempty"` // since when something of it is to be done
	Ending    *endingDocument   `bson:"ending,omitempty"`
	Actor     audit.Actor       `bson:"actor"`
	Key       string            `bson:"key,omitempty"`
	KeyAt     *time.Time        `bson:"key_at,omitempty"`
	Body      string            `bson:"body_hash,omitempty"` // of the request with the key
	Rule      string            `bson:"rule"`
	Except    []int32           `bson:"except,omitempty"`
	During    *calendarDocument `bson:"during,omitempty"`
	NotDuring *calendarDocument `bson:"not_during,omitempty"`
	Clashes   series.Clashing   `bson:"clashes,omitempty"`

	Pattern  patternDocument      `bson:"pattern"`
	Plan     []occurrenceDocument `bson:"plan"`
	LeftOut  []leftOutDocument    `bson:"left_out,omitempty"`
	Failures idempotencyDocument  `bson:"failures"` // its failures alone
}

type endingDocument struct {
	Since  time.Time   `bson:"since"`
	Actor  audit.Actor `bson:"actor"`
	Events []int64     `bson:"events"`
}

type calendarDocument struct {
	CategoryID int64  `bson:"category_id"`
	Body       string `bson:"body,omitempty"`
}

type patternDocument struct {
	Body        string               `bson:"body"`
	CategoryID  int64                `bson:"category_id"`
	OwnerID     int64                `bson:"owner_id,omitempty"`
	OrganiserID int64                `bson:"organiser_id,omitempty"`
	Commitments []commitmentDocument `bson:"commitments,omitempty"`
	Requests    []requestDocument    `bson:"requests,omitempty"`
}

type occurrenceDocument struct {
	ID          int64     `bson:"id"` // of the event
	Place       int       `bson:"place"`
	Starts      time.Time `bson:"starts"`
	Ends        time.Time `bson:"ends"`
	AllDay      bool      `bson:"all_day"`
	Commitments []int64   `bson:"commitments,omitempty"`
	Requests    []int64   `bson:"requests,omitempty"`
}

type leftOutDocument struct {
	Starts    time.Time     `bson:"starts"`
	Reason    series.Reason `bson:"reason"`
	EventID   int64         `bson:"event_id,omitempty"`
	ElementID int64         `bson:"element_id,omitempty"`
}

// series returns what the document says.
func (d *seriesDocument) series() series.Series {
	s := series.Series{
		ID: d.ID, Version: d.Version, State: d.State, Begun: d.Begun, Actor: d.Actor,
		Key: idempotency.Key{ID: d.Key, Body: d.Body},
		Repeat: series.Repeat{
			Rule: d.Rule, During: (*series.Calendar)(d.During), NotDuring: (*series.Calendar)(d.NotDuring),
			Clashes: d.Clashes,
		},
		Pattern: event.Event{
			Body: d.Pattern.Body, CategoryID: d.Pattern.CategoryID,
			OwnerID: d.Pattern.OwnerID, OrganiserID: d.Pattern.OrganiserID,
		},
		Ending:   (*series.Ending)(d.Ending),
		Failures: d.Failures.record().Failures,
	}
	for _, day := range d.Except {
		s.Repeat.Except = append(s.Repeat.Except, wiretime.Day(day))
	}
	for _, c := range d.Pattern.Commitments {
		s.Pattern.Commitments = append(s.Pattern.Commitments, event.Commitment(c))
	}
	for _, r := range d.Pattern.Requests {
		s.Pattern.Requests = append(s.Pattern.Requests, event.Request(r))
	}
	for _, o := range d.Plan {
		s.Plan = append(s.Plan, series.Occurrence{
			Place: o.Place, EventID: o.ID, Span: wiretime.Span{Starts: o.Starts, Ends: o.Ends, AllDay: o.AllDay},
			Commitments: o.Commitments, Requests: o.Requests,
		})
	}
	for _, l := range d.LeftOut {
		s.LeftOut = append(s.LeftOut, series.LeftOut(l))
	}
	return s
}

// set makes the document say s; the version stays.
func (d *seriesDocument) set(s series.Series) {
	*d = seriesDocument{
		Head: mongostore.Head{ID: s.ID, Version: d.Version, Schema: schema}, State: s.State, Begun: s.Begun,
		Actor: s.Actor, Key: s.Key.ID, Body: s.Key.Body, Rule: s.Repeat.Rule,
		During: (*calendarDocument)(s.Repeat.During), NotDuring: (*calendarDocument)(s.Repeat.NotDuring),
		Clashes: s.Repeat.Clashes,
		Pattern: patternDocument{
			Body: s.Pattern.Body, CategoryID: s.Pattern.CategoryID,
			OwnerID: s.Pattern.OwnerID, OrganiserID: s.Pattern.OrganiserID,
		},
		Failures: idempotencyDocumentOf(event.IdempotencyRecord{Failures: s.Failures}),
	}
	d.Ending = (*endingDocument)(s.Ending)
	switch {
	case s.State != series.Made:
		d.Unmade = &s.Begun
	case s.Ending != nil:
		d.Unmade = &s.Ending.Since
	}
	if s.Key.Given() {
		d.KeyAt = &s.Begun
	}
	for _, day := range s.Repeat.Except {
		d.Except = append(d.Except, int32(day))
	}
	for _, c := range s.Pattern.Commitments {
		d.Pattern.Commitments = append(d.Pattern.Commitments, commitmentDocument(c))
	}
	for _, r := range s.Pattern.Requests {
		d.Pattern.Requests = append(d.Pattern.Requests, requestDocument(r))
	}
	for _, o := range s.Plan {
		d.Plan = append(d.Plan, occurrenceDocument{
			ID: o.EventID, Place: o.Place, Starts: o.Span.Starts, Ends: o.Span.Ends, AllDay: o.Span.AllDay,
			Commitments: o.Commitments, Requests: o.Requests,
		})
	}
	for _, l := range s.LeftOut {
		d.LeftOut = append(d.LeftOut, leftOutDocument(l))
	}
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

// ListUnmade implements series.Store, by an index that is empty but for what is being made.
func (s *Series) ListUnmade(ctx context.Context, before time.Time, limit int) ([]series.Series, error) {
	found, err := mongostore.Find[seriesDocument](ctx, s.collection, unmadeFilter(before),
		options.Find().SetSort(bson.D{{Key: "unmade", Value: 1}}).SetLimit(int64(limit)))
	unmade := make([]series.Series, len(found))
	for i := range found {
		unmade[i] = found[i].series()
	}
	return unmade, err
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
func (s *Series) Change(
	ctx context.Context, id int64, change func(*series.Series) error,
) (series.Series, error) {
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
	if _, err := s.collection.DeleteOne(ctx, bson.D{{Key: "_id", Value: id}}); err != nil {
		return fmt.Errorf("delete a series: %w", err)
	}
	return nil
}

// ForgetKeys implements series.Store.
func (s *Series) ForgetKeys(ctx context.Context, before time.Time) error {
	fields := bson.D{{Key: "key", Value: ""}, {Key: "key_at", Value: ""}, {Key: "body_hash", Value: ""}}
	update := bson.D{{Key: "$unset", Value: fields}}
	if _, err := s.collection.UpdateMany(ctx, seriesKeysFilter(before), update); err != nil {
		return fmt.Errorf("forget keys of series: %w", err)
	}
	return nil
}

// InsertEvents implements series.Store.
func (s *Series) InsertEvents(ctx context.Context, events []event.Event) ([]int, error) {
	refused, err := s.events.events.Insert(ctx, events)
	if err != nil {
		return nil, err
	}
	taken := make([]int, 0, len(refused))
	for _, w := range refused {
		taken = append(taken, w.Index)
	}
	return taken, nil
}

// FindEvents implements series.Store, by an index.
func (s *Series) FindEvents(ctx context.Context, id int64) ([]event.Event, error) {
	found, err := s.events.events.Find(ctx, inSeriesFilter(id), options.Find().
		SetProjection(unused).SetSort(bson.D{{Key: "series_id", Value: 1}, {Key: "series_place", Value: 1}}))
	return found, err
}

func inSeriesFilter(id int64) bson.D { return mongostore.WhereExists("series_id", "$eq", id) }

// FindInCategory implements series.Store. It reads no more of the events than what is asked for.
func (s *Series) FindInCategory(
	ctx context.Context, categoryID int64, from, to time.Time,
) ([]event.Event, error) {
	return s.events.findDays(ctx, inCategoriesFilter([]int64{categoryID}, from, to), bson.D{
		{Key: "body", Value: 1}, {Key: "starts", Value: 1}, {Key: "ends", Value: 1}, {Key: "all_day", Value: 1},
	})
}

// Lead implements series.Store.
func (s *Series) Lead(ctx context.Context, work func(context.Context) error) error {
	return mongostore.WithLease(ctx, s.settings, "series-lease", work)
}
