package answers

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// kept returns the names of a user's answers, and each one's entry after it. KEYS: the user's list.
var kept = redis.NewScript(`
local all, i = {}, 0
while true do
  local line = redis.call('LINDEX', KEYS[1], i)
  if not line then return all end
  local name = string.match(line, '^%d+ %d+ (.*)$')
  local text = name and redis.call('GET', name)
  if text then
    table.insert(all, name)
    table.insert(all, text)
  end
  i = i + 1
end`)

// Erase forgets those of a user's answers in whose body something is found, and returns how many. A retry of such a
// request is decided by what the records say. One that was kept with an earlier secret can't be read.
func (s *Store) Erase(ctx context.Context, user int64, in func(body []byte) bool) (int, error) {
	list := fmt.Sprintf("%sanswers:%d", s.prefix(user), user)
	all, err := kept.Run(ctx, s.redis, []string{list}).StringSlice()
	if err != nil {
		return 0, problem.Wrap(problem.Unavailable, err, "")
	}
	forgotten := 0
	for i := 0; i+1 < len(all); i += 2 {
		name, text := all[i], all[i+1]
		var stored entry
		if err := json.Unmarshal([]byte(text), &stored); err != nil || stored.Sealed == nil {
			continue
		}
		answer, err := s.open(idempotency.Key{ID: strings.TrimPrefix(name, s.prefix(user)+"answer:")}, stored.Sealed)
		if err != nil || !in(answer.Body) {
			continue
		}
		if err := s.redis.Del(ctx, name).Err(); err != nil {
			return forgotten, problem.Wrap(problem.Unavailable, err, "")
		}
		forgotten++
	}
	return forgotten, nil
}
