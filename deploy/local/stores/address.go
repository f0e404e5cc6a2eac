package stores

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
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

// withoutSecrets returns err, or an error without its text when that may hold a part of the address that masked
// removes.
func withoutSecrets(address string, err error) error {
	_, rest, _ := strings.Cut(address, "://")
	i := strings.LastIndex(rest, "@")
	if i < 0 {
		return err
	}
	user, password, _ := strings.Cut(rest[:i], ":")
	for _, secret := range []string{user, password} {
		plain, unescapeErr := url.PathUnescape(secret)
		if secret == "" {
			continue
		}
		if strings.Contains(err.Error(), secret) || unescapeErr == nil && strings.Contains(err.Error(), plain) {
			return errors.New("it cannot be used (the reason is not shown: it holds the user or the password)")
		}
	}
	return err
}

func checkMongo(ctx context.Context, uri string) error {
	ctx, cancel := context.WithTimeout(ctx, addressPatience)
	defer cancel()
	client, err := mongo.Connect(options.Client().ApplyURI(uri).SetServerSelectionTimeout(addressPatience))
	if err != nil {
		return withoutSecrets(uri, err)
	}
	defer client.Disconnect(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is in progress on it
	if err := client.Ping(ctx, nil); err != nil {
		return fmt.Errorf("no answer within %s: %w", addressPatience, withoutSecrets(uri, err))
	}
	return nil
}

func checkRedis(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, addressPatience)
	defer cancel()
	settings, err := redis.ParseURL(address)
	if err != nil {
		var parse *url.Error // its text is the whole address
		if errors.As(err, &parse) {
			err = parse.Err
		}
		return withoutSecrets(address, err)
	}
	settings.MaxRetries, settings.DialerRetries = -1, 1 // do not retry
	client := redis.NewClient(settings)
	defer client.Close() //nolint:errcheck // nothing is in progress on it
	if err := client.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("no answer: %w", withoutSecrets(address, err))
	}
	return nil
}
