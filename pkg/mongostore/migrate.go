package mongostore

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// leaseTTL is how long the others wait for a pod that died while migrating.
const leaseTTL = 30 * time.Second

// Migration is one step of the data's history. Up must be safe to run again over its own half-done work, for a
// process may die in it. It must stop when its context ends. The release before runs until the rollout ends, so Up
// must leave documents that it can still read.
type Migration struct {
	Name string // such as "0001-day-keys"; unique in the service, never changed once released
	Up   func(context.Context, *mongo.Database) error
}

// Migrate runs the migrations of a service that the database does not have yet, in their order, and records each in
// the collection migrations. Many pods may call it at once: one works, under a lease, and the others wait for it.
// When it dies, one of them goes on after half a minute. Migrate returns when all migrations are applied, with the
// error of the first that failed, or when ctx ends.
func Migrate(ctx context.Context, db *mongo.Database, service string, migrations []Migration) error {
	m := migrator{
		db:         db,
		collection: db.Collection("migrations"),
		service:    service,
		migrations: migrations,
		ttl:        leaseTTL,
	}
	if err := m.run(ctx); err != nil {
		return fmt.Errorf("migrate %s: %w", service, err)
	}
	return nil
}

type migrator struct {
	db         *mongo.Database
	collection *mongo.Collection
	service    string
	migrations []Migration
	ttl        time.Duration
}

// migrationDocument records a migration that was applied, under "service/name"; the lease of a service is beside them
// under "service".
type migrationDocument struct {
	ID     string    `bson:"_id"`
	At     time.Time `bson:"at"`
	TookMS int64     `bson:"took_ms"`
}

func (m migrator) run(ctx context.Context) error {
	names := map[string]bool{}
	for _, migration := range m.migrations {
		if names[migration.Name] {
			return fmt.Errorf("two migrations are named %s", migration.Name)
		}
		names[migration.Name] = true
	}
	pending, err := m.pending(ctx)
	if err != nil || len(pending) == 0 {
		return err
	}
	return newLease(m.collection, m.service, m.ttl).during(ctx, m.applyPending)
}

// applyPending looks again, as another pod may have been at work while this one waited.
func (m migrator) applyPending(ctx context.Context) error {
	pending, err := m.pending(ctx)
	if err != nil {
		return err
	}
	for _, migration := range pending {
		started := time.Now()
		if err := migration.Up(ctx, m.db); err != nil {
			return fmt.Errorf("%s: %w", migration.Name, err)
		}
		if err := context.Cause(ctx); err != nil {
			return fmt.Errorf("%s: %w", migration.Name, err)
		}
		took := time.Since(started)
		_, err := m.collection.InsertOne(ctx, migrationDocument{m.id(migration), time.Now(), took.Milliseconds()})
		if err != nil {
			return fmt.Errorf("record %s: %w", migration.Name, err)
		}
		slog.InfoContext(ctx, "migration applied", "migration", migration.Name, "took", took)
	}
	return nil
}

// pending are the migrations not recorded, in order.
func (m migrator) pending(ctx context.Context) ([]Migration, error) {
	ids := make([]string, len(m.migrations))
	for i, migration := range m.migrations {
		ids[i] = m.id(migration)
	}
	documents, err := Find[migrationDocument](ctx, m.collection,
		bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}})
	if err != nil {
		return nil, err
	}
	applied := map[string]bool{}
	for _, document := range documents {
		applied[document.ID] = true
	}
	var pending []Migration
	for _, migration := range m.migrations {
		if !applied[m.id(migration)] {
			pending = append(pending, migration)
		}
	}
	return pending, nil
}

func (m migrator) id(migration Migration) string { return m.service + "/" + migration.Name }
