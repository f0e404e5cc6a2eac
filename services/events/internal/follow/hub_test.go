package follow

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// pages is a log in memory, as package changelog reads one.
type pages struct {
	mu   sync.Mutex
	all  []change.Page // the first is empty
	gone int64         // the number of the first that is kept
	more bool          // more waits than could be moved
}

func newPages() *pages { return &pages{all: []change.Page{{Mark: 7}}} }

// add appends a page of changes, and returns their ids.
func (p *pages) add(n int) (ids []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	added := change.Page{Number: int64(len(p.all)), Mark: 7}
	for range n {
		item := change.Item{Kind: change.Event, Record: int64(len(p.all)), At: time.Now()}
		item.ID = fmt.Sprint(added.Number, ":", len(added.Changes))
		added.Changes = append(added.Changes, item)
		ids = append(ids, item.ID)
	}
	p.all = append(p.all, added)
	return ids
}

func (p *pages) read(_ context.Context, q fact.ChangesQuestion) (part change.Part, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q.After == nil {
		last := p.all[len(p.all)-1]
		part.Now, part.Waits = last.After(len(last.Changes)), p.more
		return part, nil
	}
	if q.After.Page < p.gone {
		return change.Part{Gone: true}, nil
	}
	for _, page := range p.all[q.After.Page:] {
		if page.Number == q.After.Page {
			page.Skipped, page.Changes = q.After.Read, page.Changes[q.After.Read:]
		}
		if len(page.Changes) > q.Limit {
			page.Changes, part.More = page.Changes[:q.Limit], true
		}
		if q.Limit -= len(page.Changes); len(page.Changes) > 0 {
			part.Pages = append(part.Pages, page)
		}
		if q.Limit == 0 {
			part.More = part.More || page.Number < int64(len(p.all)-1)
			break
		}
	}
	part.Waits, part.More = p.more, part.More || p.more
	return part, nil
}

var staff = principal.Principal{UserID: 1, Kind: principal.Staff}

func newHub(events *pages) *Hub {
	return NewHub(New(Options{Events: events.read, Elements: newPages().read, Notes: newPages().read, Secret: "x"}))
}

// readAll reads until it has so many changes, and fails when it would wait for longer than a minute.
func readAll(t *testing.T, f *Follower, n int) (ids []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for len(ids) < n {
		f.Wait(ctx)
		if ctx.Err() != nil {
			t.Errorf("it waits, with %d of %d", len(ids), n)
			return ids
		}
		found, err := f.Read(ctx, staff)
		if err != nil {
			t.Error(err)
			return ids
		}
		for _, item := range found {
			ids = append(ids, item.ID)
		}
	}
	return ids
}

// following is a follower of a log, from its end on, until the test ends.
func following(t *testing.T) (*pages, *Hub, *Follower) {
	t.Helper()
	log := newPages()
	h := newHub(log)
	place, err := h.service.Now(t.Context(), staff)
	errortest.None(t, err)
	f := h.Follow(place)
	t.Cleanup(f.Done)
	return log, h, f
}

// Each of many followers, which begin and end at any time, reads every change after its place once and in order,
// also those between its own read of the logs and the hub's first.
func TestClients_HubTellsEveryChangeOnce(t *testing.T) {
	log := newPages()
	h := newHub(log)
	ctx, cancel := context.WithCancel(t.Context())
	var looks sync.WaitGroup
	looks.Go(func() {
		for ctx.Err() == nil {
			if err := h.Step(ctx); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	})
	var all []string
	var mu sync.Mutex
	var followers sync.WaitGroup
	for range 300 {
		mu.Lock()
		begun := len(all)
		place, err := h.service.Now(ctx, staff)
		errortest.None(t, err)
		all = append(all, log.add(1+rand.IntN(3*toldAtOnce))...)
		want := len(all)
		mu.Unlock()
		followers.Go(func() {
			f := h.Follow(place)
			defer f.Done()
			got := readAll(t, f, want-begun)
			mu.Lock()
			defer mu.Unlock()
			valuetest.List(t, got, all[begun:min(begun+len(got), len(all))],
				"from %d on: changes, and they differ", begun)
		})
	}
	followers.Wait()
	cancel()
	looks.Wait()
}

// A change comes between the read of the only follower and the first one of the hub: only the logs have it.
func TestClients_HubThatBeginsLateLosesNothing(t *testing.T) {
	log, h, f := following(t)
	if found, err := f.hub.service.read(t.Context(), f.place, toldAtOnce); err != nil || len(found.held) > 0 {
		t.Fatal(found, err)
	}
	want := log.add(1)
	if err := h.Step(t.Context()); err != nil { // it begins after the change
		t.Fatal(err)
	}
	f.more = false
	f.attach()
	valuetest.List(t, readAll(t, f, 1), want)
}

// A follower that is further behind than what the hub holds reads the logs. It gets Gone when they do not go back so
// far.
func TestClients_HubHoldsABoundedNumber(t *testing.T) {
	log := newPages()
	h := newHub(log)
	place, err := h.service.Now(t.Context(), staff)
	errortest.None(t, err)
	slow, fast := h.Follow(place), h.Follow(place)
	step := func() {
		t.Helper()
		errortest.None(t, h.Step(t.Context()))
	}
	step()
	for _, f := range []*Follower{slow, fast} { // both have read all, and go on by what is held
		if found, err := f.Read(t.Context(), staff); err != nil || len(found) > 0 {
			t.Fatal(found, err)
		}
	}
	var want []string
	for range 3 * mostHeld / MaxListed {
		added := log.add(MaxListed)
		want = append(want, added...)
		step()
		if got := readAll(t, fast, len(added)); !slices.Equal(got, added) {
			t.Fatal("the fast one was told others")
		}
	}
	valuetest.Same(t, len(h.held), mostHeld, "%d are held", len(h.held))
	valuetest.List(t, readAll(t, slow, len(want)), want, "what the slow one was told")
	log.gone = 2
	if _, err := h.Follow(place).Read(t.Context(), staff); !problem.Is(err, problem.Gone) {
		t.Errorf("of a place that is no longer kept: %v", err)
	}
	slow.Done()
	fast.Done()
}

// While no one follows, the hub neither reads nor holds anything.
func TestClients_HubRestsWhileNobodyFollows(t *testing.T) {
	log := newPages()
	h := newHub(log)
	f := h.Follow(Place{})
	for range 2 {
		errortest.None(t, h.Step(t.Context()))
		log.add(5)
	}
	f.Done()
	h.service.logs[ofEvents] = func(context.Context, fact.ChangesQuestion) (change.Part, error) {
		return change.Part{}, errors.New("it looked")
	}
	if err := h.Step(t.Context()); err != nil || len(h.held) > 0 {
		t.Errorf("%v, %d are held", err, len(h.held))
	}
}
