package mongostore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/service/background"
)

// leaseTTL is how long the others wait for a holder of a lease that died.
const leaseTTL = 30 * time.Second

// firstLook is the first pause of a process that waits for a lease. Each further one is twice as long, up to a
// twentieth of the lease's ttl, until the lease changes hands. The first pause is short for requests that wait for
// another one, which is soon done.
const firstLook = 10 * time.Millisecond

// errLeaseLost ends the work of a holder that can't renew its lease.
var errLeaseLost = errors.New("mongostore: the lease is lost to another process, or the database is away")

// lease allows one process at a time to do something. It is a document {_id, holder, beat}, whose beat the holder
// raises. No clocks are compared: a waiting process takes the lease over after it has seen the same beat for ttl.
type lease struct {
	collection *mongo.Collection
	id         string
	holder     string
	ttl        time.Duration
}

type leaseDocument struct {
	ID     string `bson:"_id"`
	Holder string `bson:"holder"` // "" when free
	Beat   int64  `bson:"beat"`
}

func newLease(collection *mongo.Collection, id string, ttl time.Duration) *lease {
	return &lease{collection: collection, id: id, holder: rand.Text(), ttl: ttl}
}

// acquire waits until the lease is ours.
func (l *lease) acquire(ctx context.Context) error {
	var seen leaseDocument
	since := time.Now()
	for pause := firstLook; ; pause = min(2*pause, l.ttl/20) {
		var current leaseDocument
		err := l.collection.FindOne(ctx, byID(l.id)).Decode(&current)
		if errors.Is(err, mongo.ErrNoDocuments) {
			_, err = l.collection.InsertOne(ctx, leaseDocument{ID: l.id, Holder: l.holder, Beat: 1})
			if err == nil {
				return nil
			}
			if IsDuplicateKey(err) {
				continue
			}
		}
		if err != nil {
			return err
		}
		if current.Holder != seen.Holder {
			pause = firstLook
		}
		if current != seen {
			seen, since = current, time.Now()
		}
		if current.Holder == "" || time.Since(since) >= l.ttl {
			taken, err := l.take(ctx, current)
			if taken || err != nil {
				return err
			}
		}
		if background.Pause(ctx, pause); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// hold runs work while renewing the lease. When the lease is lost, work's context ends with errLeaseLost as
// its cause, before another process can have taken over.
func (l *lease) hold(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	renewing := make(chan struct{})
	go func() {
		defer close(renewing)
		l.renew(ctx, cancel)
	}()
	err := work(ctx)
	lost := context.Cause(ctx)
	cancel(nil)
	<-renewing
	if errors.Is(lost, errLeaseLost) {
		return errors.Join(lost, err)
	}
	return err
}

// renew raises the beat every quarter of ttl until ctx ends. Other processes wait a whole ttl after the last beat
// they saw; renew fails three quarters of ttl after the last beat that is certainly stored.
func (l *lease) renew(ctx context.Context, cancel context.CancelCauseFunc) {
	stored := time.Now()
	for background.Pause(ctx, l.ttl/4); ctx.Err() == nil; background.Pause(ctx, l.ttl/4) {
		sent := time.Now()
		renewal, done := context.WithTimeout(ctx, l.ttl/4)
		result, err := l.collection.UpdateOne(renewal,
			bson.D{{Key: "_id", Value: l.id}, {Key: "holder", Value: l.holder}},
			bson.D{{Key: "$inc", Value: bson.D{{Key: "beat", Value: int64(1)}}}})
		done()
		switch {
		case err == nil && result.MatchedCount == 1:
			stored = sent
		case err == nil || time.Since(stored) >= l.ttl/2:
			cancel(errLeaseLost)
			return
		}
	}
}

// release frees the lease if it is still ours. When that fails, others wait for ttl.
func (l *lease) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.ttl/4)
	defer cancel()
	_, err := l.collection.UpdateOne(ctx,
		bson.D{{Key: "_id", Value: l.id}, {Key: "holder", Value: l.holder}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "holder", Value: ""}}}})
	return err
}

// take makes us the holder if the lease is still as it was read.
func (l *lease) take(ctx context.Context, read leaseDocument) (bool, error) {
	result, err := l.collection.UpdateOne(ctx,
		bson.D{{Key: "_id", Value: l.id}, {Key: "holder", Value: read.Holder}, {Key: "beat", Value: read.Beat}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "holder", Value: l.holder}, {Key: "beat", Value: read.Beat + 1}}}})
	if err != nil {
		return false, err
	}
	return result.MatchedCount == 1, nil
}

// WithLease runs work while no other process runs work under the lease with the same id in the collection. The others
// wait, and go on half a minute after the holder died. Work must stop when its context ends, which it does when the
// lease is lost.
func WithLease(ctx context.Context, collection *mongo.Collection, id string, work func(context.Context) error) error {
	return newLease(collection, id, leaseTTL).during(ctx, work)
}

// during waits for the lease, runs work under it and frees it.
func (l *lease) during(ctx context.Context, work func(context.Context) error) error {
	if err := l.acquire(ctx); err != nil {
		return fmt.Errorf("wait for the lease: %w", err)
	}
	err := l.hold(ctx, work)
	if releaseErr := l.release(ctx); releaseErr != nil {
		slog.WarnContext(ctx, "a lease runs out by itself", "lease", l.id, "error", releaseErr)
	}
	return err
}
