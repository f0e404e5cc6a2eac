package session

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// Redis may go back to what it held some time ago: a replica that missed the last writes was promoted, or an old file
// was read. Then ended sessions and revoked rights are there again. The service that stores both in MongoDB confirms
// them repeatedly. The time up to which they are confirmed is kept beside the sessions, so it goes back with them.

// Revocations are what ended or changed sessions from some time on.
type Revocations struct {
	Versions map[int64]int64 // the users whose sessions had to change, and the version of each
	Ended    []string        // the Hash of sessions that were ended one by one
}

// Confirmed returns the time up to which the revocations are in the sessions; the zero time when Redis knows of none.
func (s *Store) Confirmed(ctx context.Context) (time.Time, error) {
	text, err := s.redis.Get(ctx, s.o.Prefix+"confirmed").Result()
	if errors.Is(err, redis.Nil) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("read up to when sessions are confirmed: %w", err)
	}
	at, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, nil //nolint:nilerr // as if it were not there: then all is confirmed again
	}
	return time.UnixMilli(at), nil
}

// confirm ends the sessions that should have ended, and returns the users whose stored version is older than theirs.
// When there is none, it stores up to when all is confirmed, unless that has changed meanwhile. KEYS: prefix; ARGV: up
// to when it was confirmed, up to when it is now, the number of users, then each with its version, then hashes.
var confirm = redis.NewScript(finish + `
local hashes = 4 + 2 * tonumber(ARGV[3])
local missing = {}
for i = 4, hashes - 1, 2 do
  local newest = redis.call('GET', KEYS[1] .. 'userversion:' .. ARGV[i])
  if not newest or tonumber(newest) < tonumber(ARGV[i + 1]) then table.insert(missing, tonumber(ARGV[i])) end
end
for i = hashes, #ARGV do
  local s = redis.call('HMGET', KEYS[1] .. 'session:' .. ARGV[i], 'user', 'original')
  if s[1] then finish(KEYS[1], ARGV[i], s[1], s[2]) end
end
if #missing == 0 and (redis.call('GET', KEYS[1] .. 'confirmed') or '') == ARGV[1] then
  redis.call('SET', KEYS[1] .. 'confirmed', ARGV[2])
end
return missing`)

// Confirm ends the sessions that the revocations ended one by one, and returns the users for which Refresh has to be
// called again. When there is none, and Confirmed still returns the same, it returns upTo from now on. All of this is
// one atomic step, so Redis can't go back in the midst of it.
func (s *Store) Confirm(ctx context.Context, confirmed, upTo time.Time, r Revocations) (missing []int64, err error) {
	arguments := append(make([]any, 0, 3+2*len(r.Versions)+len(r.Ended)), milliseconds(confirmed), milliseconds(upTo),
		len(r.Versions))
	for id, version := range r.Versions {
		arguments = append(arguments, id, version)
	}
	for _, hash := range r.Ended {
		arguments = append(arguments, hash)
	}
	missing, err = confirm.Run(ctx, s.redis, []string{s.o.Prefix}, arguments...).Int64Slice()
	if err != nil {
		return nil, fmt.Errorf("confirm sessions: %w", err)
	}
	return missing, nil
}

// milliseconds is a time as Redis has it, empty for the zero time.
func milliseconds(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}
