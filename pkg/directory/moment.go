package directory

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

type key int

const requestKey key = iota

// request is what one request knows of the versions: nothing until somebody has looked.
type request struct {
	heard heard // before it is shared

	mu     sync.Mutex
	looked bool
	moment *Moment // nil: nothing is used from memory
	wrote  bool    // a neighbour may have written for it
}

// heard is what was current when the request was looked for elsewhere that this one is part of.
type heard struct {
	epoch string // "": nothing was heard
	seq   int64
}

// Header carries from one service to another what Heard returned. Services trust it because of the shared token beside
// it.
const Header = "Belfry-Directory"

// Begin returns the context of a request that may use memory, as of its first look. A context that was not begun uses
// none.
func Begin(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey, &request{})
}

// BeginPart returns the context of a request that is part of another one, whose service says what it has seen (Header).
// It need not look where this process knows of all that happened up to then. A value that makes no sense says nothing.
func BeginPart(ctx context.Context, header string) context.Context {
	r := &request{}
	if epoch, step, found := strings.Cut(header, " "); found {
		if seq, err := strconv.ParseInt(step, 10, 64); err == nil && seq >= 0 {
			r.heard = heard{epoch, seq}
		}
	}
	return context.WithValue(ctx, requestKey, r)
}

// Seen returns what the context's request has seen or heard of, for Header: "" when that is nothing, or it may use
// nothing from memory.
func Seen(ctx context.Context) string {
	r, begun := ctx.Value(requestKey).(*request)
	if !begun {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.heard
	if r.looked {
		h = heard{}
	}
	if r.moment != nil {
		h = heard{r.moment.life.epoch, r.moment.seq}
	}
	if h.epoch == "" || r.wrote {
		return ""
	}
	return h.epoch + " " + strconv.FormatInt(h.seq, 10)
}

// Wrote makes Seen return nothing any more: a neighbour has been told to write for the context's request, after its
// look.
func Wrote(ctx context.Context) {
	if r, begun := ctx.Value(requestKey).(*request); begun {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.wrote = true
	}
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
		r.looked, r.moment = true, v.at(r.heard)
		if r.moment == nil {
			r.moment = v.Look(ctx)
		}
	}
	return r.moment
}

// at returns the moment of this process's newest look, if no older than what was heard: it knows of every move up to
// then. Nil when it is older, or of another epoch.
func (v *Versions) at(h heard) *Moment {
	l := v.life.Load()
	if h.epoch == "" || h.epoch != l.epoch {
		return nil
	}
	if newest := l.newest.Load(); newest.seq >= h.seq {
		return &Moment{l, newest.seq}
	}
	return nil
}
