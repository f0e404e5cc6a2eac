package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// reservation is what a booking that refuses clashes, or an allocation, leaves when it is killed.
type reservation struct {
	ElementID int64 `bson:"-"`
	EventID   int64 `bson:"event_id"`
	Starts    time.Time
	Ends      time.Time
}

// compareReservations books each element for which a reservation was left, at its time. A reservation refuses another
// booking only if its own booking was made.
func (c *check) compareReservations(ctx context.Context) error {
	left, err := c.reservations(ctx)
	if err != nil {
		return err
	}
	c.reserved = len(left)
	for _, r := range left {
		again, err := c.ledger.client.Book(ctx,
			c.ledger.eventAt(word("Booked again"), r.Starts, r.Ends.Sub(r.Starts)), []int64{r.ElementID}, false)
		if err != nil {
			return err
		}
		at := taking{r.ElementID, r.Starts.UTC()}
		made := slices.Contains(c.elements[r.ElementID], r.EventID) || c.taken[at]
		refused := strings.Contains(fmt.Sprint(again.Failures), "is already booked")
		if slices.ContainsFunc(c.ledger.halls, func(h hall) bool { return h.room == r.ElementID }) {
			c.taken[at] = true // by this booking, if not before
		}
		if refused != made {
			c.complaints.add("event %d left a reservation of element %d, which it holds: %t; another was refused: %t",
				r.EventID, r.ElementID, made, refused)
		}
	}
	return nil
}

// reservations returns those that are left.
func (c *check) reservations(ctx context.Context) ([]reservation, error) {
	var stored []struct {
		ID     int64         `bson:"_id"`
		Claims []reservation `bson:"claims"`
	}
	cursor, err := c.db.Collection("claims").Find(ctx, bson.D{})
	if err != nil {
		return nil, err
	}
	if err := cursor.All(ctx, &stored); err != nil {
		return nil, err
	}
	var left []reservation
	for _, s := range stored {
		for _, r := range s.Claims {
			r.ElementID = s.ID
			left = append(left, r)
		}
	}
	return left, nil
}
