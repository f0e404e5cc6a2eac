package store

import (
	"context"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/events/internal/clash"
)

// Reservations is the collection of reservations, named claims: one document for each element that was ever booked with
// clashes skipped or refused, with its current reservations. It implements clash.Reservations. Reservations are not
// audited.
type Reservations struct{ collection *mongo.Collection }

// NewReservations returns the store.
func NewReservations(db *mongo.Database) *Reservations { return &Reservations{db.Collection("claims")} }

// reservationsDocument has the element's id as its own.
type reservationsDocument struct {
	mongostore.Head `bson:",inline"`

	Reservations []clash.Reservation `bson:"claims"`
}

// Insert implements clash.Reservations.
func (s *Reservations) Insert(
	ctx context.Context, elementID int64, new ...clash.Reservation,
) (*clash.Reservation, error) {
	for {
		var standing *clash.Reservation
		_, err := mongostore.Update(ctx, s.collection, elementID, func(d *reservationsDocument) error {
			standing = nil
			for _, other := range d.Reservations {
				if slices.ContainsFunc(new, other.Overlaps) {
					standing = &other
					return record.ErrUnchanged
				}
			}
			d.Reservations = append(d.Reservations, new...)
			return nil
		})
		if !errors.Is(err, record.ErrNotFound) {
			return standing, err
		}
		err = mongostore.Insert(ctx, s.collection, &reservationsDocument{
			Head: mongostore.Head{ID: elementID, Schema: schema}, Reservations: new,
		})
		if !mongostore.IsDuplicateKey(err) { // else another booking made the element's first reservation meanwhile
			return nil, err
		}
	}
}

// Delete implements clash.Reservations.
func (s *Reservations) Delete(ctx context.Context, elementID int64, token string, eventIDs ...int64) error {
	_, err := mongostore.Update(ctx, s.collection, elementID, func(d *reservationsDocument) error {
		before := len(d.Reservations)
		d.Reservations = slices.DeleteFunc(d.Reservations, func(r clash.Reservation) bool {
			return r.Token == token && (len(eventIDs) == 0 || slices.Contains(eventIDs, r.EventID))
		})
		if len(d.Reservations) == before {
			return record.ErrUnchanged
		}
		return nil
	})
	if errors.Is(err, record.ErrNotFound) {
		return nil
	}
	return err
}
