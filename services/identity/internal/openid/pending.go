package openid

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/oauth2"

	"github.com/belfry-schools/belfry/pkg/redisstore"
	"github.com/belfry-schools/belfry/pkg/web"
)

// Life is how long a login may be under way.
const Life = 10 * time.Minute

// leftFor is how long a login stays in Redis after it was taken: longer than a request lasts by default.
const leftFor = 15 * time.Second

// How many logins are under way at most, in all, from one network and from one address. The oldest give way.
const (
	inAll      = 20_000
	perNetwork = 5_000
	perOne     = 2_000
)

// Attempt is a login under way.
type Attempt struct {
	Provider string `json:"provider"`
	Return   string `json:"return"`   // path to go to afterwards
	Nonce    string `json:"nonce"`    // which the provider's token repeats
	Verifier string `json:"verifier"` // of PKCE

	State string `json:"-"` // goes to the provider and back
	// Key is the cookie's value. The state is its hash, so only the browser in which the login began can end it.
	Key string `json:"-"`
}

// Pending keeps the logins under way in Redis, for all replicas: login:<state> has one, logins the states of all by
// their time in milliseconds, that of Redis, and logins:<address> those from one address or network. logout:<hash> is a
// logout token that has ended its sessions.
type Pending struct {
	redis  redis.UniversalClient
	prefix string

	inAll, perNetwork, perOne int
}

// NewPending returns the logins under way of a deployment.
func NewPending(client redis.UniversalClient, keys redisstore.Keys) *Pending {
	return &Pending{client, keys.Together("logins"), inAll, perNetwork, perOne}
}

// stateOf is the state of the login whose cookie has that value.
func stateOf(key string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(key))) }

// add keeps a login, and removes the oldest where there are too many. KEYS: prefix; ARGV: state, login, milliseconds to
// keep it, then sets, each with how many it may have, at last that of all. What gives way in one leaves that of all
// too: otherwise what is gone would push others out.
var add = redis.NewScript(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('SET', KEYS[1] .. 'login:' .. ARGV[1], ARGV[2], 'PX', ARGV[3])
for i = 4, #ARGV, 2 do
  local key, most = KEYS[1] .. ARGV[i], ARGV[i + 1]
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - ARGV[3])
  redis.call('ZADD', key, now, ARGV[1])
  redis.call('PEXPIRE', key, ARGV[3])
  local over = redis.call('ZCARD', key) - most
  for _, state in ipairs(over > 0 and redis.call('ZRANGE', key, 0, over - 1) or {}) do
    redis.call('DEL', KEYS[1] .. 'login:' .. state)
    redis.call('ZREM', key, state)
    redis.call('ZREM', KEYS[1] .. 'logins', state)
  end
end
return 1`)

// Begin keeps a new login at a provider that began from an address, and returns it.
func (p *Pending) Begin(ctx context.Context, provider, returning, address string) (Attempt, error) {
	a := Attempt{
		Provider: provider, Return: returning,
		Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Key: rand.Text(),
	}
	a.State = stateOf(a.Key)
	data, err := json.Marshal(a)
	if err != nil {
		return Attempt{}, fmt.Errorf("encode a login: %w", err)
	}
	source, network := web.SourceOf(address), web.NetworkOf(address)
	arguments := []any{a.State, data, Life.Milliseconds(), "logins:" + source, p.perOne}
	if network != source {
		arguments = append(arguments, "logins:"+network, p.perNetwork)
	}
	arguments = append(arguments, "logins", p.inAll)
	err = add.Run(ctx, p.redis, []string{p.prefix}, arguments...).Err()
	if err != nil {
		return Attempt{}, fmt.Errorf("keep a login: %w", err)
	}
	return a, nil
}

// take returns a login and leaves it to its taker alone, in one step: when the answer is lost, the library sends it
// again. A script needs no right that Belfry did not have before GETDEL. KEYS: prefix; ARGV: state, the taker's mark,
// milliseconds to leave it.
var take = redis.NewScript(`
local key = KEYS[1] .. 'login:' .. ARGV[1]
local login = redis.call('GET', key)
if login and string.sub(login, 1, 1) ~= '{' then
  return string.sub(login, 1, #ARGV[2]) == ARGV[2] and string.sub(login, #ARGV[2] + 1)
end
if login then redis.call('SET', key, ARGV[2] .. login, 'PX', ARGV[3]) end
redis.call('ZREM', KEYS[1] .. 'logins', ARGV[1])
return login`)

// Take returns the login with that state that began in the browser with that key, once. ErrState when there is none.
func (p *Pending) Take(ctx context.Context, state, key string) (Attempt, error) {
	if state == "" || state != stateOf(key) {
		return Attempt{}, ErrState
	}
	data, err := take.Run(ctx, p.redis, []string{p.prefix}, state, rand.Text(), leftFor.Milliseconds()).Text()
	if errors.Is(err, redis.Nil) {
		return Attempt{}, ErrState
	}
	if err != nil {
		return Attempt{}, fmt.Errorf("take a login: %w", err)
	}
	a := Attempt{State: state, Key: key}
	if err := json.Unmarshal([]byte(data), &a); err != nil {
		return Attempt{}, fmt.Errorf("decode a login: %w", err)
	}
	return a, nil
}

// key is that of the logout token in Redis.
func (p *Pending) key(l Logout) string {
	return p.prefix + "logout:" + stateOf(l.From.Provider+" "+l.ID)
}

// Used says whether a logout token has ended its sessions already. It must not end those that began since.
func (p *Pending) Used(ctx context.Context, l Logout) (bool, error) {
	err := p.redis.Get(ctx, p.key(l)).Err()
	if err != nil && !errors.Is(err, redis.Nil) {
		return false, fmt.Errorf("look for a logout: %w", err)
	}
	return err == nil, nil
}

// Use keeps, as long as a logout token is valid, that it has ended its sessions.
func (p *Pending) Use(ctx context.Context, l Logout) error {
	left := max(time.Until(l.Until), time.Second)
	if err := p.redis.Set(ctx, p.key(l), 1, left).Err(); err != nil {
		return fmt.Errorf("keep a logout: %w", err)
	}
	return nil
}
