package store

import (
	"context"
	"log/slog"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/outbox"
	"github.com/belfry-schools/belfry/pkg/service/background"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// upgradeInterval is how late an event that the release before wrote is found by what it lacks.
const upgradeInterval = 10 * time.Second

// migrations are the steps of the events' history.
func migrations(zone wiretime.Zone) []mongostore.Migration {
	upgrade := func(ctx context.Context, db *mongo.Database) error {
		return NewEvents(db, nil, zone, nil).upgrade(ctx)
	}
	return []mongostore.Migration{
		{Name: "0001-states-and-decades", Up: upgrade},
		{Name: "0002-few-keys", Up: upgrade},
		{Name: "0003-unique-ids", Up: func(ctx context.Context, db *mongo.Database) error {
			return NewEvents(db, mongostore.NewIDs(db), zone, nil).makeUnique(ctx, EventsCollection(db))
		}},
		{Name: "0004-indexes-of-before", Up: func(ctx context.Context, db *mongo.Database) error {
			return mongostore.DropIndexes(ctx, EventsCollection(db), "commitment_id", "request_id", "older")
		}},
		{Name: "0005-search-keys", Up: upgrade},
		{Name: "0006-index-of-before-3", Up: func(ctx context.Context, db *mongo.Database) error {
			return mongostore.DropIndexes(ctx, EventsCollection(db), "before_3")
		}},
	}
}

// older matches the events of the shapes before eventSchema, and is the condition of their index, which is empty but
// for a rollout.
func older() bson.D { return bson.D{{Key: "schema", Value: bson.D{{Key: "$lt", Value: eventSchema}}}} }

// upgrade brings all older events to the shape of this release. It may be repeated, and run in several processes at
// once.
func (s *Events) upgrade(ctx context.Context) error {
	return s.rewrite(ctx, older(), func(d *eventDocument) { d.set(d.event(), s.zone) })
}

// KeepUpgraded returns what upgrades, until its context ends, the events that pods of the release before go on writing
// after the migration, until the rollout ends: they drop what they don't know. It looks for them every ten seconds.
func (s *Events) KeepUpgraded(log *slog.Logger) func(context.Context) error {
	loop := background.New(background.Options{
		Name: "the upgrade of events that the release before wrote", Log: log, Every: upgradeInterval,
		Step: s.upgrade,
	})
	return func(ctx context.Context) error { return loop.Run(outbox.Unsampled(ctx)) }
}
