// Package room bounds what the requests of one process hold in memory at once while large answers are made and sent.
// A request without room waits in order; a user whose answers hold much waits only for those.
package room

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/belfry-schools/belfry/pkg/problem"
)

// Small is the size up to which an answer needs no room.
const Small = 64 << 10

// retry is the Retry-After of a request that got no room until its deadline.
const retry = time.Second

// Options of New.
type Options struct {
	Bytes int64 // in all
	Each  int64 // of one user, and of one request without a user
}

// Room is safe for concurrent use.
type Room struct {
	Options
	all   *semaphore.Weighted
	mu    sync.Mutex
	users map[int64]*part
}

// part is the room of one user, as long as requests of that user are under way.
type part struct {
	room     *semaphore.Weighted
	requests int
}

// New returns an empty room.
func New(o Options) *Room {
	return &Room{Options: o, all: semaphore.NewWeighted(o.Bytes), users: map[int64]*part{}}
}

// Hold is what one request holds. Several goroutines may Take at once; all else is for one at a time. A nil Hold takes
// none.
type Hold struct {
	room   *Room
	user   int64
	own    *part      // nil for requests without a user
	taking sync.Mutex // held while it waits, so that the request never waits for what it takes itself
	size   int64
}

// For begins a request of a user; 0: of no user, such as of another service, which asks on behalf of many. It ends with
// Release.
func (r *Room) For(user int64) *Hold {
	h := &Hold{room: r, user: user}
	if user == 0 {
		return h
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if h.own = r.users[user]; h.own == nil {
		h.own = &part{room: semaphore.NewWeighted(r.Each)}
		r.users[user] = h.own
	}
	h.own.requests++
	return h
}

// Take makes the request hold that many bytes, or the most that it may hold, and waits until they are free. Unavailable
// when ctx ends first.
func (h *Hold) Take(ctx context.Context, bytes int64) error {
	if h == nil {
		return nil
	}
	h.taking.Lock()
	defer h.taking.Unlock()
	more := max(0, min(bytes, h.room.Each)-h.size)
	if more == 0 {
		return nil
	}
	if h.own != nil {
		if err := h.own.room.Acquire(ctx, more); err != nil {
			return away(err)
		}
	}
	if err := h.room.all.Acquire(ctx, more); err != nil {
		if h.own != nil {
			h.own.room.Release(more)
		}
		return away(err)
	}
	h.size += more
	return nil
}

func away(err error) error {
	p := problem.Wrap(problem.Unavailable, fmt.Errorf("wait for room for an answer: %w", err), "")
	p.RetryAfter = retry
	return p
}

// Size is the number of bytes that the request holds.
func (h *Hold) Size() int64 {
	if h == nil {
		return 0
	}
	return h.size
}

// Shrink gives back what the request holds above that many bytes.
func (h *Hold) Shrink(bytes int64) {
	if less := h.size - bytes; less > 0 {
		h.room.all.Release(less)
		if h.own != nil {
			h.own.room.Release(less)
		}
		h.size = bytes
	}
}

// Release ends the request. It is called once.
func (h *Hold) Release() {
	h.Shrink(0)
	if h.own == nil {
		return
	}
	h.room.mu.Lock()
	defer h.room.mu.Unlock()
	if h.own.requests--; h.own.requests == 0 {
		delete(h.room.users, h.user)
	}
}

type holdKey struct{}

// With returns a context that has the request's Hold.
func With(ctx context.Context, h *Hold) context.Context { return context.WithValue(ctx, holdKey{}, h) }

// Of returns the Hold of the request, nil when its answers are small.
func Of(ctx context.Context) *Hold {
	h, _ := ctx.Value(holdKey{}).(*Hold)
	return h
}
