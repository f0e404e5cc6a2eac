package follow

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
)

const (
	// LookEvery is the pause between two reads of the logs while there are followers.
	LookEvery = time.Second
	// mostHeld is how many changes a hub holds; a follower that is further behind reads the logs.
	mostHeld = 5000
	// toldAtOnce bounds the changes of one read.
	toldAtOnce = 100
)

// Hub reads changes once for all followers in a process. Without followers it does not read.
type Hub struct {
	service *Service

	mu        sync.Mutex
	followers int
	begun     chan struct{} // has a value when the first follower begins
	held      []heldChange
	first     uint64        // number of the first that is held
	from, to  Place         // before and after them
	news      chan struct{} // closed when there are more
}

// NewHub returns a hub, which reads when Step is called.
func NewHub(s *Service) *Hub {
	return &Hub{service: s, begun: make(chan struct{}, 1), news: make(chan struct{})}
}

// Step reads changes once, if there are followers.
func (h *Hub) Step(ctx context.Context) error {
	h.mu.Lock()
	followed, to := h.followers > 0, h.to
	if !followed { // what is held gets old
		h.first += uint64(len(h.held))
		h.held, h.from, h.to = nil, Place{}, Place{}
	}
	h.mu.Unlock()
	if !followed {
		return nil
	}
	if to == (Place{}) {
		now, err := h.service.now(ctx)
		if err == nil {
			h.begin(now)
		}
		return err
	}
	for {
		found, err := h.service.read(ctx, to, MaxListed)
		if problem.Is(err, problem.Gone) { // the logs were set back: each follower finds out by itself
			h.begin(Place{})
			return nil
		}
		if err != nil || found.place == to {
			return err
		}
		h.hold(found)
		to = found.place
	}
}

// Begun has a value when the first follower begins.
func (h *Hub) Begun() <-chan struct{} { return h.begun }

// begin empties the hub and lets it begin at a place.
func (h *Hub) begin(from Place) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.first += uint64(len(h.held)) + 1
	h.held, h.from, h.to = nil, from, from
	h.tell()
}

// hold adds changes and drops the oldest.
func (h *Hub) hold(found part) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held = append(h.held, found.held...)
	h.to = found.place
	if excess := len(h.held) - mostHeld; excess > 0 {
		for _, c := range h.held[:excess] {
			h.from[c.log] = c.at
		}
		h.held = slices.Clone(h.held[excess:])
		h.first += uint64(excess)
	}
	h.tell()
}

// tell wakes all followers that wait.
func (h *Hub) tell() {
	close(h.news)
	h.news = make(chan struct{})
}

// Follower follows changes for one client. It is not safe for concurrent use.
type Follower struct {
	hub   *Hub
	place Place
	next  uint64        // number of the next change that is held; 0: it reads the logs
	more  bool          // there may be more at once
	news  chan struct{} // closed when there is more
}

// Follow returns a follower that begins at a place. End it by Done.
func (h *Hub) Follow(from Place) *Follower {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.followers++; h.followers == 1 {
		select {
		case h.begun <- struct{}{}:
		default:
		}
	}
	return &Follower{hub: h, place: from, more: true}
}

// Done ends the follower.
func (f *Follower) Done() {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	f.hub.followers--
}

// Place is the place after what was read.
func (f *Follower) Place() Place { return f.place }

// Wait waits until there may be more, or ctx ends.
func (f *Follower) Wait(ctx context.Context) {
	if f.more {
		return
	}
	select {
	case <-f.news:
	case <-ctx.Done():
	}
}

// Read returns the next changes that the viewer may see, if any. A Gone problem as for List.
func (f *Follower) Read(ctx context.Context, p principal.Principal) ([]change.Item, error) {
	if err := f.hub.service.mayFollow(p); err != nil {
		return nil, err
	}
	found, known := f.take()
	if !known {
		read, err := f.hub.service.read(ctx, f.place, toldAtOnce)
		if err != nil {
			return nil, err
		}
		found, f.more = read.held, read.place != f.place
		if !f.more { // it has read all that the logs have, and goes on by what the hub holds from then on
			f.attach()
		}
	}
	shown, err := f.hub.service.visible(ctx, p, found)
	if err != nil {
		return nil, err
	}
	var told []change.Item
	for i, c := range found {
		f.place[c.log] = c.at
		if shown[i] != nil {
			told = append(told, *shown[i])
		}
	}
	return told, nil
}

// attach makes it continue with the changes that the hub holds. If the hub began after its last read, the changes in
// between are only in the logs, so it reads those once more.
func (f *Follower) attach() {
	h := f.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	f.news, f.next = h.news, 0
	if h.to == (Place{}) {
		return
	}
	for i := range f.place {
		if isAfter(h.from[i], f.place[i]) {
			f.more = true
			return
		}
	}
	f.next, f.more = h.first, true
}

// take returns the next changes that the hub holds; false when those begin later.
func (f *Follower) take() (found []heldChange, known bool) {
	h := f.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.next == 0 || f.next < h.first {
		f.next = 0
		return nil, false
	}
	f.news, f.more = h.news, false
	for ; f.next < h.first+uint64(len(h.held)); f.next++ {
		if len(found) == toldAtOnce {
			f.more = true
			break
		}
		if c := h.held[f.next-h.first]; isAfter(c.at, f.place[c.log]) { // it has read the others itself
			found = append(found, c)
		}
	}
	return found, true
}

func isAfter(a, b change.Position) bool {
	return a.Page > b.Page || a.Page == b.Page && a.Read > b.Read
}
