package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// Claims is the collection of claims: one document for each element that was ever booked with clashes refused, with the claims that stand at
// the moment. It implements event.Claims. Claims are not audited.
type Claims struct{ collection *mongo.Collection }

// NewClaims returns the store.
func NewClaims(db *mongo.Database) *Claims { return &Claims{db.Collection("claims")} }

// claimsDocument has the element's id as its own.
type claimsDocument struct {
	mongostore.Head `bson:",inline"`

	Claims []claimDocument `bson:"claims"`
}

type claimDocument struct {
	Token   string    `bson:"token"`
	EventID int64     `bson:"event_id"`
	Starts  time.Time `bson:"starts"`
	Ends    time.Time `bson:"ends"`
}

// Claim is event.Claims': two round trips when no other writer comes between, one when another claim stands.
func (s *Claims) Claim(ctx context.Context, elementID int64, c event.Claim) (*event.Claim, error) {
	for {
		var standing *event.Claim
		_, err := mongostore.Update(ctx, s.collection, elementID, func(d *claimsDocument) error {
			standing = nil
			for _, other := range d.Claims {
				if o := event.Claim(other); o.Overlaps(c) {
					standing = &o
					return mongostore.ErrUnchanged
				}
			}
			d.Claims = append(d.Claims, claimDocument(c))
			return nil
		})
		if !errors.Is(err, mongostore.ErrNotFound) {
			return standing, err
		}
		err = mongostore.Insert(ctx, s.collection, &claimsDocument{Head: mongostore.Head{ID: elementID, Schema: schema}, Claims: []claimDocument{claimDocument(c)}})
		if !mongostore.IsDuplicateKey(err) { // otherwise another claimed the element for the first time meanwhile
			return nil, err
		}
	}
}

// Drop is event.Claims': two round trips when no other writer comes between.
func (s *Claims) Drop(ctx context.Context, elementID int64, token string) error {
	_, err := mongostore.Update(ctx, s.collection, elementID, func(d *claimsDocument) error {
		before := len(d.Claims)
		d.Claims = slices.DeleteFunc(d.Claims, func(c claimDocument) bool { return c.Token == token })
		if len(d.Claims) == before {
			return mongostore.ErrUnchanged
		}
		return nil
	})
	if errors.Is(err, mongostore.ErrNotFound) {
		return nil
	}
	return err
}
