// Command empty removes all data of a development deployment: its database and its keys in Redis. The services have
// to be restarted afterwards, since they create indexes when they start. It reads MONGODB_URI, MONGODB_DATABASE,
// REDIS_URL and BELFRY_REDIS_PREFIX from the environment which have no defaults, so that a forgotten variable
// removes nothing.
package main

import (
	"context"
	"errors"
	"io"

	"github.com/redis/go-redis/v9"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/service/settings"
)

// scanned is the COUNT of each SCAN.
const scanned = 1000

type config struct {
	MongoURI    settings.Secret `envconfig:"MONGODB_URI" required:"true" desc:"connection string of MongoDB"`
	Database    string          `envconfig:"MONGODB_DATABASE" required:"true" desc:"database to remove"`
	RedisURL    settings.Secret `envconfig:"REDIS_URL" required:"true" desc:"URL of Redis"`
	RedisPrefix string          `envconfig:"BELFRY_REDIS_PREFIX" required:"true" desc:"what the keys to remove begin with"`
}

func main() { process.Main("empty", run) }

func run(ctx context.Context, _ []string, _ io.Writer) error {
	var cfg config
	if err := settings.Load(&cfg); err != nil {
		return err
	}
	return errors.Join(dropDatabase(ctx, cfg.MongoURI.Reveal(), cfg.Database),
		removeKeys(ctx, cfg.RedisURL.Reveal(), cfg.RedisPrefix))
}

func dropDatabase(ctx context.Context, uri, name string) error {
	client, err := mongostore.Connect(ctx, uri, mongostore.Options{AppName: "belfry-empty"})
	if err != nil {
		return err
	}
	return errors.Join(client.Database(name).Drop(ctx), client.Disconnect(ctx))
}

func removeKeys(ctx context.Context, url, prefix string) error {
	options, err := redis.ParseURL(url)
	if err != nil {
		return errors.New("REDIS_URL is not a redis:// address") // the library's error repeats it, password and all
	}
	client := redis.NewClient(options)
	keys := client.Scan(ctx, 0, prefix+"*", scanned).Iterator()
	for err == nil && keys.Next(ctx) {
		err = client.Del(ctx, keys.Val()).Err()
	}
	return errors.Join(err, keys.Err(), client.Close())
}
