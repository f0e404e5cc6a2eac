package session

import (
	"context"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// findFrom finds the sessions that began from a sid at a provider, and those of a subject where the one or the other
// has no sid. It returns the hash and the user of each. KEYS: prefix; ARGV: subject, sid.
var findFrom = redis.NewScript(`
local found = {}
for _, of in ipairs(ARGV) do
  local users = of == '' and {} or redis.call('SMEMBERS', KEYS[1] .. 'signedin:' .. of)
  for _, user in ipairs(users) do
    for _, hash in ipairs(redis.call('SMEMBERS', KEYS[1] .. 'user:' .. user)) do
      local s = redis.call('HMGET', KEYS[1] .. 'session:' .. hash, 'user', 'original', 'subject', 'sid')
      local whole = ARGV[2] == '' or (s[4] or '') == ''
      if s[1] and (whole and ARGV[1] ~= '' and s[3] == ARGV[1] or not whole and s[4] == ARGV[2]) then
        table.insert(found, hash)
        table.insert(found, s[2] == '0' and s[1] or s[2])
      end
    end
  end
end
return found`)

// FindFrom returns the sessions that began from a session at a provider: by its sid where both have one, else all of
// the subject. Those that replaced them by a switch are among them.
func (s *Store) FindFrom(ctx context.Context, from Origin) ([]Held, error) {
	subject, sid := from.hashed()
	answer, err := findFrom.Run(ctx, s.redis, []string{s.o.Prefix}, subject, sid).StringSlice()
	if err != nil {
		return nil, fmt.Errorf("find the sessions of a provider: %w", err)
	}
	var all []Held
	for i := 0; i+1 < len(answer); i += 2 {
		userID, err := strconv.ParseInt(answer[i+1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("find the sessions of a provider: %w", err)
		}
		all = append(all, Held{userID, answer[i], from.Provider})
	}
	return all, nil
}
