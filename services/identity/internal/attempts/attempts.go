// Package attempts counts failed logins in Redis, exactly over all replicas (decisions, part 2): ten in a minute from
// one address, which in IPv6 is a /64, and a hundred from one /48.
package attempts

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/belfry-schools/belfry/pkg/web"
)

// How many logins may fail in a window before further wrong ones are refused.
const (
	perAddress = 10
	perNetwork = 100
	window     = time.Minute
)

// Counter counts in sorted sets of failed logins by their time in milliseconds, that of Redis: one for each address
// and one for each network of IPv6. Each is below the prefix and gone a window after its last failure.
//
// That a set is full is remembered: nothing is counted in it until it has room, so Redis need not be asked again.
type Counter struct {
	redis  redis.UniversalClient
	prefix string
	full   full
}

// New returns the counter of the deployment with that prefix.
func New(client redis.UniversalClient, prefix string) *Counter {
	return &Counter{redis: client, prefix: prefix}
}

// counted is a set and what fits into it.
type counted struct {
	key  string
	fits int
}

// sets are those that count a failure from address. The keys of one failure have the same hash tag, so that a cluster
// keeps them on one node.
func (k *Counter) sets(address string) []counted {
	own, network := web.SourceOf(address), web.NetworkOf(address)
	key := k.prefix + "failedlogins:{" + network + "}"
	if own == network {
		return []counted{{key, perAddress}}
	}
	return []counted{{key + own, perAddress}, {key, perNetwork}}
}

// fail counts a failure in all sets, or in none when one is full, and returns the milliseconds until each of them has
// room: of the newest failures that fit, the oldest must have left the window. KEYS: the sets;
// ARGV: window in milliseconds, what fits into each, the member to count.
var fail = redis.NewScript(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local window = tonumber(ARGV[1])
local waits = {}
local full = false
for i, key in ipairs(KEYS) do
  local first = -tonumber(ARGV[i + 1])
  local oldest = redis.call('ZRANGE', key, first, first, 'WITHSCORES')
  waits[i] = oldest[2] and math.max(0, oldest[2] + window - now) or 0
  full = full or waits[i] > 0
end
if full then return waits end
for _, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - window)
  redis.call('ZADD', key, now, ARGV[#ARGV])
  redis.call('PEXPIRE', key, window)
end
return waits`)

// Fail counts a failed login from address and returns 0, or counts nothing and returns how long to wait until one more
// may fail there. Of many at once, over all replicas, exactly as many are counted as fit.
func (k *Counter) Fail(ctx context.Context, address string) (time.Duration, error) {
	var keys []string
	arguments := []any{window.Milliseconds()}
	longest := time.Duration(0)
	for _, s := range k.sets(address) {
		keys = append(keys, s.key)
		arguments = append(arguments, s.fits)
		longest = max(longest, k.full.wait(s.key))
	}
	if longest > 0 {
		return longest, nil
	}
	asked := time.Now() // before Redis decides, so that no client is refused for too long
	waits, err := fail.Run(ctx, k.redis, keys, append(arguments, rand.Text())...).Int64Slice()
	if err != nil {
		return 0, fmt.Errorf("count failed logins: %w", err)
	}
	for i, milliseconds := range waits {
		wait := time.Duration(milliseconds) * time.Millisecond
		k.full.put(keys[i], asked, wait)
		longest = max(longest, wait)
	}
	return longest, nil
}

// mostFull bounds how many full sets are remembered. Of those above it, Redis is asked each time.
const mostFull = 1 << 14

// sweepPause is the least time between two sweeps of what has expired: each goes through all.
const sweepPause = time.Second

// full remembers until when sets have no room. Its zero value is ready to use.
type full struct {
	mu    sync.Mutex
	until map[string]time.Time
	swept time.Time
}

// put remembers that from a time on there was no room for that long, if there was none.
func (f *full) put(key string, at time.Time, wait time.Duration) {
	if wait <= 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.until == nil {
		f.until = map[string]time.Time{}
	}
	if len(f.until) >= mostFull && at.Sub(f.swept) >= sweepPause {
		f.swept = at
		maps.DeleteFunc(f.until, func(_ string, until time.Time) bool { return !until.After(at) })
	}
	if _, known := f.until[key]; known || len(f.until) < mostFull {
		f.until[key] = at.Add(wait)
	}
}

// wait returns how long there will be no room, 0 when that is not known.
func (f *full) wait(key string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return max(0, time.Until(f.until[key]))
}
