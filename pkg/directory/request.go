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

// request is what one request knows of the versions: nothing until it takes a snapshot.
type request struct {
	told told // set before the request is shared

	mu       sync.Mutex
	taken    bool
	snapshot *Snapshot // nil: nothing is used from memory
	wrote    bool      // a neighbour may have written for it
}

// told is the snapshot that the asking service has sent with the question.
type told struct {
	epoch string // "": there is none
	seq   int64
}

// Header carries the value of Seen from one service to another. Services trust it because of the shared token beside
// it.
const Header = "Belfry-Directory"

// Begin returns the context of a request that may use memory, as of its snapshot. Other contexts use none.
func Begin(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey, &request{})
}

// BeginPart returns the context of a request that is part of one in another service, which tells its snapshot in
// Header. It takes no snapshot of its own if this process has one that is as new. An invalid value is ignored.
func BeginPart(ctx context.Context, header string) context.Context {
	r := &request{}
	if epoch, step, found := strings.Cut(header, " "); found {
		if seq, err := strconv.ParseInt(step, 10, 64); err == nil && seq >= 0 {
			r.told = told{epoch, seq}
		}
	}
	return context.WithValue(ctx, requestKey, r)
}

// Seen returns the snapshot that the context's request has taken or was told, for Header: "" when there is none, or
// nothing may be used from memory.
func Seen(ctx context.Context) string {
	r, begun := ctx.Value(requestKey).(*request)
	if !begun {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.told
	if r.taken {
		t = told{}
	}
	if r.snapshot != nil {
		t = told{r.snapshot.epoch.name, r.snapshot.seq}
	}
	if t.epoch == "" || r.wrote {
		return ""
	}
	return t.epoch + " " + strconv.FormatInt(t.seq, 10)
}

// Wrote makes Seen return "" from now on: a neighbour has been told to write for the context's request, after its
// snapshot.
func Wrote(ctx context.Context) {
	if r, begun := ctx.Value(requestKey).(*request); begun {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.wrote = true
	}
}

// Run runs a script; the error is redis.Nil when it returns nothing. If the context's request has no snapshot yet, the
// same command takes it. Nil versions only run the script, by the client.
func (v *Versions) Run(
	ctx context.Context, client redis.Scripter, s *Script, keys []string, args ...any,
) (answer any, err error) {
	r, begun := ctx.Value(requestKey).(*request)
	if v == nil || !begun {
		return s.alone.Run(ctx, client, keys, args...).Result()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken {
		return s.alone.Run(ctx, client, keys, args...).Result()
	}
	r.taken = true
	answer, r.snapshot, err = v.along(ctx, s, keys, args...)
	return answer, err
}

// forget stops the context's request from using memory, since it has begun to change records that it may have read.
func forget(ctx context.Context) {
	if r, begun := ctx.Value(requestKey).(*request); begun {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.taken, r.snapshot = true, nil
	}
}

// of returns the snapshot of the context's request, and takes it if need be; nil when nothing may be used from memory.
func (v *Versions) of(ctx context.Context) *Snapshot {
	r, begun := ctx.Value(requestKey).(*request)
	if !begun {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.taken {
		r.taken, r.snapshot = true, v.newest(r.told)
		if r.snapshot == nil {
			r.snapshot = v.Snapshot(ctx)
		}
	}
	return r.snapshot
}

// newest returns this process's newest snapshot, or nil when it is older than t, or of another epoch.
func (v *Versions) newest(t told) *Snapshot {
	e := v.epoch.Load()
	if t.epoch == "" || t.epoch != e.name {
		return nil
	}
	if newest := e.newest.Load(); newest.seq >= t.seq {
		return &Snapshot{e, newest.seq}
	}
	return nil
}
