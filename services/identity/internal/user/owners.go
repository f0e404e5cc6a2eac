package user

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

const (
	// searchesAtOnce is how many searches for the owners of uuids, or of tokens, run at once in a process. Requests
	// that come meanwhile wait for the next.
	searchesAtOnce = 4
	// mostSearched bounds the hashes of one search.
	mostSearched = 200
	// searchTime bounds a search, which continues when the request that began it has ended.
	searchTime = 10 * time.Second
)

// owners finds the users of uuids, or of tokens, for many requests in one search.
type owners struct {
	search func(ctx context.Context, hashes []string) ([]User, error)
	hashes func(User) []string // those by which a user is found

	mu       sync.Mutex
	searches int
	waiting  []search
}

// search is one request's.
type search struct {
	hash  string
	found chan owner // has room for the answer
}

type owner struct {
	user   User
	exists bool
	err    error
}

// find returns the user with that hash, if there is one, as stored after find was called.
func (o *owners) find(ctx context.Context, hash string) (User, bool, error) {
	own := search{hash, make(chan owner, 1)}
	o.mu.Lock()
	o.waiting = append(o.waiting, own)
	if o.searches < searchesAtOnce {
		o.searches++
		go o.serve(context.WithoutCancel(ctx))
	}
	o.mu.Unlock()
	select {
	case found := <-own.found:
		return found.user, found.exists, found.err
	case <-ctx.Done():
		return User{}, false, ctx.Err()
	}
}

// serve serves all waiting requests, and then those that have come meanwhile, until none waits.
func (o *owners) serve(ctx context.Context) {
	for {
		o.mu.Lock()
		if len(o.waiting) == 0 {
			o.searches--
			o.mu.Unlock()
			return
		}
		n := min(len(o.waiting), mostSearched)
		batch := slices.Clone(o.waiting[:n])
		o.waiting = slices.Delete(o.waiting, 0, n)
		o.mu.Unlock()
		o.answer(ctx, batch)
	}
}

func (o *owners) answer(ctx context.Context, batch []search) {
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	hashes := sequence.Map(batch, func(s search) string { return s.hash })
	users, err := o.search(ctx, hashes)
	byHash := make(map[string]User, len(users))
	for _, u := range users {
		for _, hash := range o.hashes(u) {
			byHash[hash] = u
		}
	}
	for _, s := range batch {
		u, exists := byHash[s.hash]
		s.found <- owner{u, exists, err}
	}
}
