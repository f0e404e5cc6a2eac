// Package turn lets one at a time do something, over all replicas, by a key in Redis that runs out.
package turn

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// lifetime is how long the others wait for one who died. It is far beyond a request's deadline, and so beyond any living turn.
	lifetime = time.Minute
	pause    = 20 * time.Millisecond
)

// Turns are those of the deployment with the prefix.
type Turns struct {
	redis  redis.UniversalClient
	prefix string
}

// New returns the turns of the deployment with that prefix.
func New(client redis.UniversalClient, prefix string) *Turns { return &Turns{client, prefix} }

// release gives the turn up, unless it has run out and somebody else has it.
var release = redis.NewScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`)

// Take waits for the turn of that name and calls do while it lasts. It returns do's error, or ctx's when the turn did not come in time.
// The context given to do ends before the turn runs out.
func (t *Turns) Take(ctx context.Context, name string, do func(ctx context.Context) error) error {
	key, holder := t.prefix+"turn:"+name, rand.Text()
	for {
		taken, err := t.redis.SetNX(ctx, key, holder, lifetime).Result()
		if err != nil {
			return fmt.Errorf("wait for a turn: %w", err)
		}
		if taken {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
	// What was done is done when giving up the turn fails: then it runs out.
	defer func() { _ = release.Run(context.WithoutCancel(ctx), t.redis, []string{key}, holder).Err() }()
	ctx, cancel := context.WithTimeout(ctx, lifetime/2)
	defer cancel()
	return do(ctx)
}
