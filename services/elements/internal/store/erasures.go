package store

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// erasures implements element.ErasureStore, by the collection erasures. Erasures are not audited; the changes that they
// make are.
type erasures struct {
	erasures *mongo.Collection
	salt     *mongostore.Constant
}

func newErasures(db *mongo.Database) *erasures {
	settings := db.Collection("element_settings")
	return &erasures{db.Collection("erasures"), mongostore.NewConstant(settings, "erasure_salt")}
}

var erasureIndexes = []mongostore.Index{{Name: "running", Keys: mongostore.By("running"), Where: runningErasures()}}

func runningErasures() bson.D { return bson.D{{Key: "running", Value: true}} }

// erasureDocument is an erasure as it is stored, under the id of its element.
type erasureDocument struct {
	mongostore.Head `bson:",inline"`

	Erasure element.Erasure `bson:",inline"`
	Running bool            `bson:"running,omitempty"` // neither done nor incomplete
}

func (d *erasureDocument) erasure() element.Erasure {
	e := d.Erasure
	e.ID, e.Version = d.ID, d.Version
	return e
}

// set stores e in the document, except the version.
func (d *erasureDocument) set(e element.Erasure) {
	*d = erasureDocument{
		Head:    mongostore.Head{ID: e.ID, Version: d.Version, Schema: schema},
		Erasure: e, Running: e.Running(),
	}
}

func (s *erasures) Get(ctx context.Context, id int64) (element.Erasure, error) {
	d, err := mongostore.Load[erasureDocument](ctx, s.erasures, id)
	return d.erasure(), err
}

func (s *erasures) List(ctx context.Context, after int64, limit int) ([]element.Erasure, error) {
	return s.find(ctx, erasuresAfter(after), options.Find().SetSort(orderOfID).SetLimit(int64(limit)))
}

func erasuresAfter(id int64) bson.D {
	return bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: id}}}}
}

// mostRunning bounds the erasures that are continued at a time.
const mostRunning = 100

// ListRunning uses an index that holds only these.
func (s *erasures) ListRunning(ctx context.Context) ([]element.Erasure, error) {
	return s.find(ctx, runningErasures(), options.Find().SetLimit(mostRunning))
}

func (s *erasures) find(ctx context.Context, filter bson.D, o *options.FindOptionsBuilder) ([]element.Erasure, error) {
	found, err := mongostore.Find[erasureDocument](ctx, s.erasures, filter, o)
	return sequence.Map(found, func(f erasureDocument) element.Erasure { return f.erasure() }), err
}

func (s *erasures) Insert(ctx context.Context, e element.Erasure) error {
	var d erasureDocument
	d.set(e)
	err := mongostore.Insert(ctx, s.erasures, &d)
	if mongostore.IsDuplicateKey(err) {
		return errors.Join(element.ErrErasing, err)
	}
	return err
}

func (s *erasures) Change(ctx context.Context, id int64, decide func(*element.Erasure) error) (element.Erasure, error) {
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

func (s *erasures) Salt(ctx context.Context) (string, error) { return s.salt.Get(ctx) }

// LeadErasures runs work while no other process does.
func LeadErasures(ctx context.Context, db *mongo.Database, work func(context.Context) error) error {
	return mongostore.WithLease(ctx, db.Collection("element_settings"), "erasures", work)
}
