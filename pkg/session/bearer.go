package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/segmentio/encoding/json"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/principal"
)

// Tokens for programs are kept in MongoDB by identity. What they may do is kept here for an hour: token:<hash> is a
// hash with the fields data (JSON), user, and version (of the user's record). It is valid only while userversion:<id>
// is no newer. So whatever changes or ends sessions (Refresh, Confirm) does the same to tokens, also after Redis was
// set back.

// bearerLife is how long a token is known without identity being asked again, and so how exact its last use is.
const bearerLife = time.Hour

// Opened is identity's answer about a token.
type Opened struct {
	Record *Record       `json:"record,omitempty"` // who acts by it; nil: there is no such token
	Wait   time.Duration `json:"wait,omitempty"`   // then: until a wrong one may be sent again from that address
}

// OpenToken asks identity about a token, by its hash, that was sent from an address. An answer with a record is in
// Redis.
type OpenToken func(ctx context.Context, hash, from string) (Opened, error)

// OpenTokensBy sets how tokens are opened that Redis does not have. It must be called before any request.
func (s *Store) OpenTokensBy(open OpenToken) { s.open = open }

// ParseBearer takes the token of an Authorization header. It returns false for what can't be a token for programs.
func ParseBearer(text string) (Token, bool) { return Token{text}, principal.IsToken(text) }

func (s *Store) bearerKeys(hash string) []string {
	return []string{s.o.Prefix + "token:" + hash, s.o.Prefix}
}

// loadBearer returns the data of a token unless its user has changed since. KEYS: the token's, prefix.
var loadBearer = directory.NewScript(`
local s = redis.call('HMGET', KEYS[1], 'data', 'user', 'version')
if not s[1] then return false end
local newest = redis.call('GET', KEYS[2] .. 'userversion:' .. s[2])
if newest and tonumber(newest) > tonumber(s[3]) then redis.call('DEL', KEYS[1]) return false end
return s[1]`)

// LoadBearer returns who acts by a token that was sent from an address. When Redis does not have it, identity is asked.
// When there is no such token, the answer has no record. Any error means that it is not known.
func (s *Store) LoadBearer(ctx context.Context, token Token, from string) (Opened, error) {
	r, err := s.run(ctx, loadBearer, s.bearerKeys(token.Hash()))
	if errors.Is(err, ErrNone) {
		return s.open(ctx, token.Hash(), from)
	}
	return Opened{Record: &r}, err
}

// keepBearer keeps a token unless a newer version of its user is known. KEYS: the token's, prefix; ARGV: data, user,
// its version, milliseconds.
var keepBearer = redis.NewScript(`
local newest = redis.call('GET', KEYS[2] .. 'userversion:' .. ARGV[2])
if newest and tonumber(newest) > tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], 'data', ARGV[1], 'user', ARGV[2], 'version', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1`)

// KeepBearer makes LoadBearer return r for the token with that hash for an hour, until it ends at the latest. ErrStale,
// with nothing changed, when Refresh was called for a newer version of the user.
func (s *Store) KeepBearer(ctx context.Context, hash string, r Record, ends time.Time) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode what a token may do: %w", err)
	}
	// No longer than Refresh remembers a version.
	life := min(bearerLife, s.o.Absolute, max(time.Millisecond, time.Until(ends)))
	kept, err := keepBearer.Run(ctx, s.redis, s.bearerKeys(hash), data, r.User.UserID, r.User.Version,
		life.Milliseconds()).Int()
	if err != nil {
		return fmt.Errorf("keep a token: %w", err)
	}
	if kept == 0 {
		return ErrStale
	}
	return nil
}
