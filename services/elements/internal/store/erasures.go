package store

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// Erasures implements element.ErasureStore, by the collection erasures. Erasures are not audited: what they change is.
type Erasures struct {
	erasures *mongo.Collection
	salt     *mongostore.Constant
}

func newErasures(db *mongo.Database) *Erasures {
	settings := db.Collection("element_settings")
	return &Erasures{db.Collection("erasures"), mongostore.NewConstant(settings, "erasure_salt")}
}

var erasureIndexes = []mongostore.Index{
	{Name: "running", Keys: bson.D{{Key: "running", Value: 1}}, Where: runningErasures()},
}

func runningErasures() bson.D { return bson.D{{Key: "running", Value: true}} }

// erasureDocument is an erasure as it is stored, under the id of its element.
type erasureDocument struct {
	mongostore.Head `bson:",inline"`

	EntityType    string         `bson:"entity_type"`
	Fingerprint   string         `bson:"fingerprint"`
	Person        erasure.Person `bson:"person"`
	Namesakes     []int64        `bson:"namesakes,omitempty"`
	WithNamesakes bool           `bson:"with_namesakes,omitempty"`
	Actor         audit.Actor    `bson:"actor"`
	AskedAt       time.Time      `bson:"asked_at"`
	DoneAt        time.Time      `bson:"done_at,omitempty"`
	Running       bool           `bson:"running,omitempty"` // neither done nor incomplete
	Incomplete    bool           `bson:"incomplete,omitempty"`

	Round   int    `bson:"round"`
	Service string `bson:"service,omitempty"`
	After   string `bson:"after,omitempty"`
	Found   int    `bson:"found"`
	Records int    `bson:"records"`
}

func (d *erasureDocument) erasure() element.Erasure {
	return element.Erasure{
		ID: d.ID, Version: d.Version, EntityType: d.EntityType, Fingerprint: d.Fingerprint, Person: d.Person,
		Namesakes: d.Namesakes, WithNamesakes: d.WithNamesakes, Actor: d.Actor, AskedAt: d.AskedAt, DoneAt: d.DoneAt,
		Incomplete: d.Incomplete,
		Round:      d.Round, Service: d.Service, After: d.After, Found: d.Found, Records: d.Records,
	}
}

// set makes the document say e, but for the version.
func (d *erasureDocument) set(e element.Erasure) {
	*d = erasureDocument{
		Head:       mongostore.Head{ID: e.ID, Version: d.Version, Schema: schema},
		EntityType: e.EntityType, Fingerprint: e.Fingerprint, Person: e.Person,
		Namesakes: e.Namesakes, WithNamesakes: e.WithNamesakes, Actor: e.Actor, AskedAt: e.AskedAt, DoneAt: e.DoneAt,
		Running: e.Running(), Incomplete: e.Incomplete,
		Round: e.Round, Service: e.Service, After: e.After, Found: e.Found, Records: e.Records,
	}
}

// Get implements element.ErasureStore.
func (s *Erasures) Get(ctx context.Context, id int64) (element.Erasure, error) {
	d, err := mongostore.Load[erasureDocument](ctx, s.erasures, id)
	if err != nil {
		return element.Erasure{}, err
	}
	return d.erasure(), nil
}

// List implements element.ErasureStore.
func (s *Erasures) List(ctx context.Context, after int64, limit int) ([]element.Erasure, error) {
	return s.find(ctx, erasuresAfter(after), options.Find().SetSort(orderOfID).SetLimit(int64(limit)))
}

func erasuresAfter(id int64) bson.D {
	return bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: id}}}}
}

// mostRunning is how many erasures are gone on with at a time.
const mostRunning = 100

// ListRunning implements element.ErasureStore, by an index that holds only these.
func (s *Erasures) ListRunning(ctx context.Context) ([]element.Erasure, error) {
	return s.find(ctx, runningErasures(), options.Find().SetLimit(mostRunning))
}

func (s *Erasures) find(
	ctx context.Context, filter bson.D, o *options.FindOptionsBuilder,
) ([]element.Erasure, error) {
	found, err := mongostore.Find[erasureDocument](ctx, s.erasures, filter, o)
	all := make([]element.Erasure, len(found))
	for i := range found {
		all[i] = found[i].erasure()
	}
	return all, err
}

// Insert implements element.ErasureStore.
func (s *Erasures) Insert(ctx context.Context, e element.Erasure) error {
	var d erasureDocument
	d.set(e)
	err := mongostore.Insert(ctx, s.erasures, &d)
	if mongostore.IsDuplicateKey(err) {
		return errors.Join(element.ErrErasing, err)
	}
	return err
}

// Change implements element.ErasureStore.
func (s *Erasures) Change(
	ctx context.Context, id int64, decide func(*element.Erasure) error,
) (element.Erasure, error) {
	d, err := mongostore.Update(ctx, s.erasures, id, func(d *erasureDocument) error {
		e := d.erasure()
		if err := decide(&e); err != nil {
			return err
		}
		d.set(e)
		return nil
	})
	return d.erasure(), err
}

// Salt implements element.ErasureStore.
func (s *Erasures) Salt(ctx context.Context) (string, error) { return s.salt.Get(ctx) }

// LeadErasures runs work while no other process does.
func LeadErasures(ctx context.Context, db *mongo.Database, work func(context.Context) error) error {
	return mongostore.WithLease(ctx, db.Collection("element_settings"), "erasures", work)
}
