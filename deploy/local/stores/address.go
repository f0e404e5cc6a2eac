package stores

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/mongostore"
)

// addressPatience is how long a store at a configured address may take to answer.
const addressPatience = 5 * time.Second

// masked returns an address without user, password and parameters. It works on the text, since malformed addresses
// are shown too.
func masked(address string) string {
	scheme, rest, found := strings.Cut(address, "://")
	if !found {
		return "not a URL"
	}
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		rest = rest[i+1:]
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return scheme + "://" + rest
}

// checkMongo returns an error that holds nothing of the address unless the document store answers.
func checkMongo(ctx context.Context, uri string) error {
	ctx, cancel := context.WithTimeout(ctx, addressPatience)
	defer cancel()
	client, err := mongostore.Connect(ctx, uri, mongostore.Options{AppName: "belfry-stores"})
	if err != nil {
		return err
	}
	return client.Disconnect(context.WithoutCancel(ctx))
}

// checkRedis returns an error that holds nothing of the address unless Redis answers and has read its data.
func checkRedis(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, addressPatience)
	defer cancel()
	settings, err := redis.ParseURL(address)
	if err != nil {
		return errors.New("not an address of Redis") // the library's error repeats it
	}
	// Ask only when something listens: the client logs each failed connection to standard error.
	conn, err := (&net.Dialer{}).DialContext(ctx, settings.Network, settings.Addr)
	if err != nil {
		return errors.New("no answer: is the address right, and is Redis running?")
	}
	_ = conn.Close() // it only shows that something listens
	settings.MaxRetries, settings.DialerRetries = -1, 1
	client := redis.NewClient(settings)
	defer client.Close() //nolint:errcheck // nothing is in progress on it
	if client.Ping(ctx).Err() != nil {
		return errors.New("no answer: are user and password right?")
	}
	return nil
}

// awaitMongo waits until the document store accepts writes.
func awaitMongo(ctx context.Context, uri string) error {
	client, err := mongo.Connect(options.Client().ApplyURI(uri).SetServerSelectionTimeout(time.Second))
	if err != nil {
		return err
	}
	defer client.Disconnect(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is in progress on it
	db := client.Database(fmt.Sprintf("belfry_stores_check_%d", os.Getpid()))
	return retry(ctx, 50*time.Millisecond, func() error { return db.Drop(ctx) })
}

// retry repeats what fails, after a pause, until it succeeds, fails with a permanent error (backoff.Permanent) or ctx
// ends. The error of an end of ctx holds the last other one.
func retry(ctx context.Context, pause time.Duration, try func() error) error {
	var last error
	_, err := backoff.Retry(ctx, func() (struct{}, error) { last = try(); return struct{}{}, last },
		backoff.WithBackOff(backoff.NewConstantBackOff(pause)), backoff.WithMaxElapsedTime(0))
	if err != nil && ctx.Err() != nil && !errors.Is(last, ctx.Err()) {
		return fmt.Errorf("%w: %w", ctx.Err(), last)
	}
	return err
}
