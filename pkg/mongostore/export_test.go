package mongostore

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ClientOptions are the options that Connect uses.
var ClientOptions = clientOptions

// MigrateWithTTL is Migrate with a shorter lease.
func MigrateWithTTL(ctx context.Context, db *mongo.Database, service string, migrations []Migration,
	ttl time.Duration) error {
	m := migrator{db: db, collection: db.Collection("migrations"), service: service, migrations: migrations, ttl: ttl}
	return m.run(ctx)
}

// Removal are the writes of Pending.Remove, in their order.
func Removal(p Pending, copied []Copied) []mongo.WriteModel { return p.removal(copied) }
