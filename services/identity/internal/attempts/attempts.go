// Package attempts counts failed logins in Redis, exactly over all replicas (decisions, part 2): ten in a minute from
// one address, fifty in a second over the deployment.
package attempts

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// What may fail before further logins are refused unseen.
const (
	perAddress    = 10
	addressWindow = time.Minute
	overAll       = 50
	allWindow     = time.Second
)

// Counter counts in sorted sets of attempts by their time in milliseconds, that of Redis: one for each address, one
// for all, each below the prefix and gone when its window has passed.
type Counter struct {
	redis  redis.UniversalClient
	prefix string
}

// New returns the counter of the deployment with that prefix.
func New(client redis.UniversalClient, prefix string) *Counter { return &Counter{client, prefix} }

func (k *Counter) addressKey(address string) string { return k.prefix + "failedlogins:" + address }
func (k *Counter) allKey() string                   { return k.prefix + "failedlogins" }

// begin counts an attempt in both sets, or in neither when one is full, and then gives the milliseconds until there
// is room. KEYS: the sets; ARGV: attempt, then for each set what fits and its window in milliseconds.
var begin = redis.NewScript(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local wait = 0
for i, key in ipairs(KEYS) do
  local fits, window = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - window)
  local count = redis.call('ZCARD', key)
  if count >= fits then
    local leaves = redis.call('ZRANGE', key, count - fits, count - fits, 'WITHSCORES')
    wait = math.max(wait, leaves[2] + window - now, 1)
  end
end
if wait > 0 then return wait end
for i, key in ipairs(KEYS) do
  redis.call('ZADD', key, now, ARGV[1])
  redis.call('PEXPIRE', key, ARGV[2 * i + 1])
end
return 0`)

// Begin counts an attempt as failed until it is forgiven, so that attempts under way at once cannot exceed the limit
// together. When a limit is reached it counts nothing and returns how long to wait. One round trip.
func (k *Counter) Begin(ctx context.Context, address string) (attempt string, wait time.Duration, err error) {
	attempt = rand.Text()
	milliseconds, err := begin.Run(ctx, k.redis, []string{k.addressKey(address), k.allKey()}, attempt,
		perAddress, addressWindow.Milliseconds(), overAll, allWindow.Milliseconds()).Int64()
	if err != nil {
		return "", 0, fmt.Errorf("count a login: %w", err)
	}
	return attempt, time.Duration(milliseconds) * time.Millisecond, nil
}

// Forgive takes an attempt back. One round trip.
func (k *Counter) Forgive(ctx context.Context, address, attempt string) error {
	_, err := k.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.ZRem(ctx, k.addressKey(address), attempt)
		p.ZRem(ctx, k.allKey(), attempt)
		return nil
	})
	if err != nil {
		return fmt.Errorf("take back a counted login: %w", err)
	}
	return nil
}
