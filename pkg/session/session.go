// Package session keeps sessions in Redis (decisions, part 2). The id that a client holds is an opaque 256-bit random
// value; Redis has only its SHA-256. A session has the permissions of its user, so that a service needs no other
// service to check a request. Only identity writes sessions; the others call Load.
//
// A token for programs (bearer.go) acts as its user does in a session.
//
// Keys, all below the store's prefix: session:<hash> is a hash with the fields data (JSON), until (absolute end, Unix
// milliseconds), user, original and used (its last use, Unix microseconds), and provider, subject and sid where it
// began at a login provider; user:<id> is the set of the session hashes in which the user is the effective or the
// original one; signedin:<hash> is the set of the users who began sessions at a provider with that subject or sid;
// usersessions has the users with such a set by the time at which Sweep checks it next; userversion:<id> is the newest
// version of the user for which Refresh was called; and confirmed is what Confirm stores. All times but this one are
// Redis's own.
package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/segmentio/encoding/json"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/principal"
)

var (
	// ErrNone means that there is no such session: it never existed, was ended, or has expired.
	ErrNone = errors.New("session: none")
	// ErrStale means that the user has changed since the caller read it: read it again.
	ErrStale = errors.New("session: the user has changed meanwhile")
)

// tokenBytes is the length of a session id: 256 bits.
const tokenBytes = 32

// perUser is how many sessions a user has at most. A switched session is one of the user who switched.
const perUser = 20

// Token is the opaque id that a client holds. It prints as a mask.
type Token struct{ text string }

// ParseToken takes a cookie's value. It returns false for anything that NewToken cannot have made.
func ParseToken(value string) (Token, bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(value)
	whole := len(value) == base64.RawURLEncoding.EncodedLen(tokenBytes) // the decoder skips line ends
	return Token{value}, err == nil && len(raw) == tokenBytes && whole
}

func newToken() Token {
	raw := make([]byte, tokenBytes)
	_, _ = rand.Read(raw) // never fails, says its documentation
	return Token{base64.RawURLEncoding.EncodeToString(raw)}
}

// Reveal returns the text for the cookie.
func (t Token) Reveal() string { return t.text }

// String returns a mask.
func (t Token) String() string { return "********" }

// GoString returns a mask.
func (t Token) GoString() string { return t.String() }

// Hash returns the form in which a session's id is stored: its SHA-256, in hexadecimal. It can't be used to log in.
func (t Token) Hash() string {
	sum := sha256.Sum256([]byte(t.text))
	return hex.EncodeToString(sum[:])
}

// Subject is the part of a user that sessions need. It is stored as JSON, which the script of Refresh reads too.
type Subject struct {
	UserID      int64                 `json:"user"`
	Version     int64                 `json:"version"` // of the user's record
	Kind        principal.Kind        `json:"kind"`
	ElementID   int64                 `json:"element"`     // 0: none
	Permissions principal.Permissions `json:"permissions"` // without implied ones
	// AdminOf are the schools that the user administers, StandsFor the pupils that it stands for; left out when empty:
	// Lua's empty table would become an object.
	AdminOf   []int64 `json:"admin_of,omitempty"`
	StandsFor []int64 `json:"stands_for,omitempty"`
	Active    bool    `json:"active"`
	Since     int64   `json:"since"` // sessions that were made from an older version of the user than this have ended
}

// Record is the content of a session, stored as JSON.
type Record struct {
	User     Subject  `json:"user"`
	Original *Subject `json:"original,omitempty"` // who switched; nil when not switched
	// Token is by what the user is known instead of a session; the zero Token in a session.
	Token principal.Token `json:"token"`
	// From is where a login came from, for Create alone; what replaces a session by Rotate keeps it.
	From Origin `json:"-"`
}

// Origin is the session at a login provider from which a session here began; the zero value where there is none.
type Origin struct {
	Provider string // its name among the settings
	Subject  string // who logged in there
	SID      string // the provider's own session; empty where it names none
}

// hashed are the subject and the sid as sessions store them: they may name a person.
func (o Origin) hashed() (subject, sid string) {
	return o.hash("sub", o.Subject), o.hash("sid", o.SID)
}

func (o Origin) hash(kind, text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(kind + " " + o.Provider + " " + text))
	return hex.EncodeToString(sum[:])
}

// Principal returns the user who acts in the session.
func (r Record) Principal() principal.Principal {
	p := principal.Principal{
		UserID: r.User.UserID, Version: r.User.Version, Kind: r.User.Kind, ElementID: r.User.ElementID,
		Permissions: r.User.Permissions.Implied(), AdminOf: r.User.AdminOf, StandsFor: r.User.StandsFor, Token: r.Token,
	}
	p.MayUseAPI = p.Permissions.CanAPI
	if r.Original != nil {
		p.OriginalID = r.Original.UserID
		p.MayUseAPI = r.Original.Permissions.Implied().CanAPI
	}
	return p
}

// Options of a Store. Idle ends a session that is not used for so long; Absolute ends every session so long after the
// login, whatever switches there were since.
type Options struct {
	Prefix   string
	Idle     time.Duration
	Absolute time.Duration
	// Directory is asked for the versions of the directory in the round trip of Load; nil: it is not.
	Directory *directory.Versions
}

// Store is the sessions in Redis. It is safe for concurrent use by any number of processes. Errors other than ErrNone
// and ErrStale mean that Redis is away.
type Store struct {
	redis redis.UniversalClient
	o     Options
	open  OpenToken
}

// NewStore returns the sessions that client holds.
func NewStore(client redis.UniversalClient, o Options) *Store { return &Store{redis: client, o: o} }

func (s *Store) sessionKey(hash string) string { return s.o.Prefix + "session:" + hash }

// load returns the data of a session and extends its idle end, never beyond its absolute end. A Redis without memory
// refuses a script whose first write may take some: PEXPIRE comes first, so that sessions can be used then.
var load = directory.NewScript(`
local s = redis.call('HMGET', KEYS[1], 'data', 'until')
if not s[1] then return false end
local t = redis.call('TIME')
local left = tonumber(s[2]) - (t[1] * 1000 + math.floor(t[2] / 1000))
if left <= 0 then redis.call('DEL', KEYS[1]) return false end
redis.call('PEXPIRE', KEYS[1], math.min(left, tonumber(ARGV[1])))
redis.call('HSET', KEYS[1], 'used', string.format('%s%06d', t[1], t[2]))
return s[1]`)

// Load returns the session of token and counts as its use. ErrNone when there is none.
func (s *Store) Load(ctx context.Context, token Token) (Record, error) {
	return s.run(ctx, load, []string{s.sessionKey(token.Hash())}, s.o.Idle.Milliseconds())
}

// run runs a script that returns a record or nothing, which is ErrNone.
func (s *Store) run(ctx context.Context, script *directory.Script, keys []string, args ...any) (Record, error) {
	answer, err := s.o.Directory.Run(ctx, s.redis, script, keys, args...)
	if errors.Is(err, redis.Nil) {
		return Record{}, ErrNone
	}
	if err != nil {
		return Record{}, fmt.Errorf("load session: %w", err)
	}
	data, _ := answer.(string)
	var r Record
	if err := json.Unmarshal([]byte(data), &r); err != nil {
		return Record{}, fmt.Errorf("decode session: %w", err)
	}
	return r, nil
}

// finish begins a script with a function that ends a session: it is in the sets of both its users.
const finish = `
local function finish(prefix, hash, user, original)
  redis.call('DEL', prefix .. 'session:' .. hash)
  redis.call('SREM', prefix .. 'user:' .. user, hash)
  redis.call('SREM', prefix .. 'user:' .. original, hash)
end
`

// create writes a new session, ends the one that it replaces, and ends the sessions unused longest when the user would
// have too many, all in one atomic step. It returns 0 when a subject is older than the version that Refresh stored, and
// -1 when the session that it must replace does not exist. KEYS: new session, replaced session, prefix; ARGV: data,
// idle, absolute, new hash, old hash, user, its version, original or 0, its version, 1 when the replaced session must
// exist, the largest number of sessions of a user, and the provider, the subject and the sid of a session that replaces
// none. One that must replace another takes these, and the absolute end, from that. When its answer is lost, the
// library sends it again: then the new session exists, and nothing is left to do.
var create = redis.NewScript(finish + `
if redis.call('HMGET', KEYS[1], 'until')[1] then return 1 end
for i = 6, 8, 2 do
  if ARGV[i] ~= '0' then
    local newest = redis.call('GET', KEYS[3] .. 'userversion:' .. ARGV[i])
    if newest and tonumber(newest) > tonumber(ARGV[i + 1]) then return 0 end
  end
end
local old = redis.call('HMGET', KEYS[2], 'user', 'original', 'until', 'provider', 'subject', 'sid')
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local ends = now + tonumber(ARGV[3])
local from = {ARGV[12], ARGV[13], ARGV[14]}
if ARGV[10] == '1' then
  if not old[1] or tonumber(old[3]) <= now then return -1 end
  ends = math.min(ends, tonumber(old[3]))
  from = {old[4] or '', old[5] or '', old[6] or ''}
end
if old[1] then finish(KEYS[3], ARGV[5], old[1], old[2]) end
local holder = ARGV[8] == '0' and ARGV[6] or ARGV[8]
local others = {}
for _, hash in ipairs(redis.call('SMEMBERS', KEYS[3] .. 'user:' .. holder)) do
  local s = redis.call('HMGET', KEYS[3] .. 'session:' .. hash, 'user', 'original', 'used')
  if not s[1] then
    redis.call('SREM', KEYS[3] .. 'user:' .. holder, hash)
  elseif s[2] == holder or s[2] == '0' then
    table.insert(others, {hash = hash, user = s[1], original = s[2], used = tonumber(s[3] or 0)})
  end
end
table.sort(others, function(a, b) return a.used < b.used end)
for i = 1, #others + 1 - tonumber(ARGV[11]) do
  finish(KEYS[3], others[i].hash, others[i].user, others[i].original)
end
local lives = math.min(tonumber(ARGV[2]), ends - now)
redis.call('HSET', KEYS[1], 'data', ARGV[1], 'until', ends, 'user', ARGV[6], 'original', ARGV[8],
  'used', string.format('%s%06d', t[1], t[2]))
redis.call('PEXPIRE', KEYS[1], lives)
for i = 6, 8, 2 do
  if ARGV[i] ~= '0' then
    redis.call('SADD', KEYS[3] .. 'user:' .. ARGV[i], ARGV[4])
    redis.call('PEXPIRE', KEYS[3] .. 'user:' .. ARGV[i], ARGV[3])
    redis.call('ZADD', KEYS[3] .. 'usersessions', 'LT', now + lives, ARGV[i])
  end
end
if from[1] ~= '' then
  redis.call('HSET', KEYS[1], 'provider', from[1], 'subject', from[2], 'sid', from[3])
  for i = 2, 3 do
    if from[i] ~= '' then
      redis.call('SADD', KEYS[3] .. 'signedin:' .. from[i], holder)
      redis.call('PEXPIRE', KEYS[3] .. 'signedin:' .. from[i], ARGV[3])
    end
  end
end
return 1`)

// Create makes a session with a new id and, in the same step, ends the session of replaces, if there is one (a
// login). When the user has 20 sessions already, the one unused longest ends. ErrStale, with nothing changed, when
// Refresh was called for a newer version of a subject.
func (s *Store) Create(ctx context.Context, r Record, replaces Token) (Token, error) {
	return s.create(ctx, r, replaces, 0)
}

// Rotate is Create for a session that must replace another one (a switch, a revert): ErrNone when that one does not
// exist. The new session has the absolute end of the old one. When several callers use one id at the same time, one of
// them succeeds.
func (s *Store) Rotate(ctx context.Context, r Record, replaces Token) (Token, error) {
	return s.create(ctx, r, replaces, 1)
}

func (s *Store) create(ctx context.Context, r Record, replaces Token, mustReplace int) (Token, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return Token{}, fmt.Errorf("encode session: %w", err)
	}
	var original Subject
	if r.Original != nil {
		original = *r.Original
	}
	subject, sid := r.From.hashed()
	token := newToken()
	made, err := create.Run(ctx, s.redis,
		[]string{s.sessionKey(token.Hash()), s.sessionKey(replaces.Hash()), s.o.Prefix},
		data, s.o.Idle.Milliseconds(), s.o.Absolute.Milliseconds(), token.Hash(), replaces.Hash(),
		r.User.UserID, r.User.Version, original.UserID, original.Version, mustReplace, perUser,
		r.From.Provider, subject, sid).Int()
	switch {
	case err != nil:
		return Token{}, fmt.Errorf("create session: %w", err)
	case made == 0:
		return Token{}, ErrStale
	case made < 0:
		return Token{}, ErrNone
	}
	return token, nil
}

// Held is a session that a user has.
type Held struct {
	UserID   int64  // of a switched session, who switched; 0: there is no such session
	Hash     string // Token.Hash of its id
	Provider string // Origin.Provider
}

// Find returns the session of token, whether or not its user may use it.
func (s *Store) Find(ctx context.Context, token Token) (Held, error) {
	hash := token.Hash()
	var stored struct {
		User     int64  `redis:"user"`
		Original int64  `redis:"original"`
		Provider string `redis:"provider"`
	}
	if err := s.redis.HMGet(ctx, s.sessionKey(hash), "user", "original", "provider").Scan(&stored); err != nil {
		return Held{}, fmt.Errorf("find session: %w", err)
	}
	return Held{cmp.Or(stored.Original, stored.User), hash, stored.Provider}, nil
}

// end removes sessions. KEYS: prefix; ARGV: hashes.
var end = redis.NewScript(finish + `
for _, hash in ipairs(ARGV) do
  local s = redis.call('HMGET', KEYS[1] .. 'session:' .. hash, 'user', 'original')
  if s[1] then finish(KEYS[1], hash, s[1], s[2]) end
end
return 0`)

// End ends the sessions with these hashes that exist.
func (s *Store) End(ctx context.Context, hashes ...string) error {
	if err := end.Run(ctx, s.redis, []string{s.o.Prefix}, hashes).Err(); err != nil {
		return fmt.Errorf("end sessions: %w", err)
	}
	return nil
}

// refresh rewrites a user in all its sessions, or ends them. It stores the version, so that a login with an older one
// is refused. It does nothing when a newer version is stored. KEYS: prefix; ARGV: user, version, subject,
// milliseconds to keep the version.
var refresh = redis.NewScript(finish + `
local versionkey = KEYS[1] .. 'userversion:' .. ARGV[1]
local newest = redis.call('GET', versionkey)
if newest and tonumber(newest) > tonumber(ARGV[2]) then return 0 end
redis.call('SET', versionkey, ARGV[2], 'PX', ARGV[4])
local subject = cjson.decode(ARGV[3])
local touched = 0
for _, hash in ipairs(redis.call('SMEMBERS', KEYS[1] .. 'user:' .. ARGV[1])) do
  local key = KEYS[1] .. 'session:' .. hash
  local s = redis.call('HMGET', key, 'data', 'user', 'original')
  if not s[1] then
    redis.call('SREM', KEYS[1] .. 'user:' .. ARGV[1], hash)
  else
    local record = cjson.decode(s[1])
    local over = not subject.active
    if s[2] == ARGV[1] then
      over = over or record.user.version < subject.since
      record.user = subject
    end
    if s[3] == ARGV[1] then
      over = over or record.original.version < subject.since
      record.original = subject
    end
    if record.original and not record.original.permissions.admin then
      over = over or not record.original.permissions.can_su or record.user.permissions.admin or record.user.admin_of
    end
    if over then
      finish(KEYS[1], hash, s[2], s[3])
    else
      redis.call('HSET', key, 'data', cjson.encode(record))
    end
    touched = touched + 1
  end
end
return touched`)

// Refresh writes the subject into all sessions of the user, also those in which it is the original user. It ends the
// sessions of an inactive user, those that are older than subject.Since, and switched ones whose switch is no longer
// allowed: the original user has lost can_su, or the effective user is now an administrator, of a school
// perhaps, and the original is not one of everything.
// It returns how many sessions it rewrote or ended. It may be repeated and come late: an older version never
// overwrites a newer one.
func (s *Store) Refresh(ctx context.Context, subject Subject) (int, error) {
	data, err := json.Marshal(subject)
	if err != nil {
		return 0, fmt.Errorf("encode subject: %w", err)
	}
	// A login creates the session soon after it has read the user; the absolute lifetime is far longer.
	touched, err := refresh.Run(ctx, s.redis, []string{s.o.Prefix},
		subject.UserID, subject.Version, data, s.o.Absolute.Milliseconds()).Int()
	if err != nil {
		return 0, fmt.Errorf("refresh sessions of a user: %w", err)
	}
	return touched, nil
}
