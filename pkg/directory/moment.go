package directory

import (
	"context"
	"sync"

	"github.com/redis/go-redis/v9"
)

type key int

const requestKey key = iota

// request is what one request knows of the versions: nothing until somebody has looked.
type request struct {
	mu     sync.Mutex
	looked bool
	moment *Moment // nil: nothing is used from memory
}

// Begin returns the context of a request that may use memory, as of its first look. A context that was not begun uses
// none.
func Begin(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey, &request{})
}

// Run runs a script; the error is redis.Nil when it returns nothing. In a request that has not looked yet, it looks in
// the same command. Nil versions only run the script, by the client.
func (v *Versions) Run(
	ctx context.Context, client redis.Scripter, s *Script, keys []string, args ...any,
) (answer any, err error) {
	r, begun := ctx.Value(requestKey).(*request)
	if v == nil || !begun {
		return s.alone.Run(ctx, client, keys, args...).Result()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.looked {
		return s.alone.Run(ctx, client, keys, args...).Result()
	}
	r.looked = true
	answer, r.moment, err = v.along(ctx, s, keys, args...)
	return answer, err
}

// forget makes the context's request use nothing from memory any more: it has begun to change what it may have read.
func forget(ctx context.Context) {
	if r, begun := ctx.Value(requestKey).(*request); begun {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.looked, r.moment = true, nil
	}
}

// now returns the moment of the context's request, which looks if it has not yet; nil when nothing may be used from
// memory.
func (v *Versions) now(ctx context.Context) *Moment {
	r, begun := ctx.Value(requestKey).(*request)
	if !begun {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.looked {
		r.looked, r.moment = true, v.Look(ctx)
	}
	return r.moment
}
