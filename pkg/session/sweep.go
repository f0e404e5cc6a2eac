package session

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/belfry-schools/belfry/pkg/service/background"
)

const (
	// sweepInterval is how long a session that has expired stays in the set of its user at most.
	sweepInterval = 10 * time.Minute
	// sweepBatch is how many users one script checks: Redis serves no other client meanwhile.
	sweepBatch = 100
	// firstRetry and longestRetry bound the pause between two tries while Redis is away.
	firstRetry   = 5 * time.Second
	longestRetry = time.Minute
)

// sweep removes expired sessions from the sets of the users that are due, and sets when each is due again: when the
// first of its sessions may expire, a second from now at the earliest. It returns how many users were due and how
// many sessions it removed. KEYS: prefix; ARGV: how many users at most.
var sweep = redis.NewScript(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local due = redis.call('ZRANGEBYSCORE', KEYS[1] .. 'usersessions', '-inf', now, 'LIMIT', 0, ARGV[1])
local removed = 0
for _, user in ipairs(due) do
  local again = nil
  for _, hash in ipairs(redis.call('SMEMBERS', KEYS[1] .. 'user:' .. user)) do
    local left = redis.call('PTTL', KEYS[1] .. 'session:' .. hash)
    if left == -2 then
      removed = removed + redis.call('SREM', KEYS[1] .. 'user:' .. user, hash)
    else
      again = math.min(again or left, left)
    end
  end
  if again then
    redis.call('ZADD', KEYS[1] .. 'usersessions', now + math.max(again, 1000), user)
  else
    redis.call('ZREM', KEYS[1] .. 'usersessions', user)
  end
end
return {#due, removed}`)

// Sweep removes sessions that have expired from the sets of their users and returns how many. Several processes may
// sweep at once.
func (s *Store) Sweep(ctx context.Context) (int, error) {
	removed := int64(0)
	for {
		did, err := sweep.Run(ctx, s.redis, []string{s.o.Prefix}, sweepBatch).Int64Slice()
		if err != nil {
			return int(removed), fmt.Errorf("sweep sessions: %w", err)
		}
		removed += did[1]
		if did[0] < sweepBatch {
			return int(removed), nil
		}
	}
}

// RunSweep returns the loop that sweeps every ten minutes until its context ends.
func (s *Store) RunSweep(log *slog.Logger) func(ctx context.Context) error {
	return background.New(background.Options{
		Name: "the sweep of sessions", Log: log, Every: sweepInterval, Retry: firstRetry, LongestRetry: longestRetry,
		Step: func(ctx context.Context) error {
			_, err := s.Sweep(ctx)
			return err
		},
	}).Run
}
