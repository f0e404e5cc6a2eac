package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

const (
	// writers is how many clients write at the same time: a fault stops many of them for a deadline.
	writers = 24
	// againAfter is the pause before a write without an answer is repeated.
	againAfter = 300 * time.Millisecond
	// lateAfter is how long an answer may take, a new login included, before the run fails. A request's deadline is far
	// less, but the process that has it may be paused, and the machine busy.
	lateAfter = 45 * time.Second
	// openEvents is how many events a writer goes on to change.
	openEvents = 40
)

// The kinds of writes.
const (
	kindEvent      = "event"
	kindAdd        = "add"
	kindChange     = "change"
	kindDecision   = "decision"
	kindAllocation = "allocation"
	kindNote       = "note"
	kindMembership = "membership"
	kindDelete     = "delete"
	kindSeries     = "series"
	kindMove       = "move"
)

// kinds are all kinds of write, each with its share in percent and the function that makes one, which returns false if
// there is nothing to write to.
var kinds = []struct {
	name   string
	weight int
	write  func(*writer, context.Context) bool
}{
	{kindEvent, 27, func(w *writer, ctx context.Context) bool { w.create(ctx); return true }},
	{kindAdd, 12, onOpen((*writer).add)},
	{kindChange, 14, onOpen((*writer).rename)},
	{kindDecision, 10, onOpen((*writer).decide)},
	{kindAllocation, 8, onOpen((*writer).allocate)},
	{kindNote, 16, onOpen((*writer).note)},
	{kindMembership, 6, (*writer).join},
	{kindDelete, 4, onOpen((*writer).remove)},
	{kindSeries, 1, (*writer).series},
	{kindMove, 2, (*writer).move},
}

// onOpen makes a write to one of the writer's events.
func onOpen(write func(*writer, context.Context, *booking) bool) func(*writer, context.Context) bool {
	return func(w *writer, ctx context.Context) bool {
		return len(w.open) > 0 && write(w, ctx, w.open[w.dice.IntN(len(w.open))])
	}
}

// booking is an event in the ledger. One writer changes it, so that its parts have an order.
type booking struct {
	slot   int    // which minute it takes; no two have the same
	title  string // the first
	id     int64  // 0 while it is not known
	stands verdict
	gone   verdict // whether it was deleted

	base        []int64 // the elements that it was created with, without the resource group
	wantsBuses  bool    // two of them
	calendar    int64   // the controlled element among base, 0: none
	entry       int64   // the commitment to it
	requestID   int64
	titles      map[string]verdict
	added       map[int64]verdict
	allocated   map[int64]verdict
	notes       map[string]verdict
	decided     string // confirmed, rejected or noted
	decision    verdict
	changesOpen bool // no change is without an answer
}

func (b *booking) starts() time.Time {
	return firstDay.AddDate(0, 0, b.slot%days).Add(time.Duration(b.slot/days) * time.Minute)
}

// membership is a pupil's day in a group.
type membership struct {
	group, pupil int64
	day          int
}

// ledger writes through the front door and keeps what came of it.
type ledger struct {
	*school
	seed       uint64
	rate       int
	console    *console
	complaints complaints
	counts     *counts
	slots      atomic.Int64
	since      string // the token of the changes before all writes

	mu          sync.Mutex
	bookings    []*booking
	repeated    []*repeated
	memberships map[membership]verdict
}

func newLedger(ctx context.Context, s *system, o arguments, console *console) (*ledger, error) {
	sc, err := newSchool(ctx, s)
	if err != nil {
		return nil, err
	}
	l := &ledger{school: sc, seed: o.seed, rate: o.rate, console: console, counts: newCounts(),
		memberships: map[membership]verdict{}}
	if _, l.since, err = sc.client.Changes(ctx, ""); err == nil {
		err = sc.fillHalls(ctx)
	}
	return l, err
}

// write lets the writers write at the rate until ctx ends, and waits for the answers under way.
func (l *ledger) write(ctx context.Context) {
	tokens := make(chan struct{})
	var work sync.WaitGroup
	for n := range writers {
		w := &writer{ledger: l, dice: rand.New(rand.NewPCG(l.seed, uint64(n)))}
		work.Go(func() {
			for range tokens {
				w.one(ctx)
			}
		})
	}
	ticker := time.NewTicker(time.Second / time.Duration(l.rate))
	defer ticker.Stop()
	for ctx.Err() == nil {
		<-ticker.C
		select {
		case tokens <- struct{}{}:
		default: // all are busy: this machine, or this fault, lets fewer through
		}
	}
	close(tokens)
	work.Wait()
}

// writer makes one write after the other.
type writer struct {
	*ledger
	dice *rand.Rand
	open []*booking // created, and not deleted

	hasty bool // it repeats nothing
}

// one makes a write of a kind that the dice choose, or an event where that kind has nothing to write to.
func (w *writer) one(ctx context.Context) {
	roll := w.dice.IntN(100)
	for _, k := range kinds {
		if roll -= k.weight; roll < 0 {
			if !k.write(w, ctx) {
				w.create(ctx)
			}
			return
		}
	}
}

// attempt sends a write. A client that insists repeats it, with the same key, until it is acknowledged or ctx ends;
// another sends it once. accept says whether an answer that is neither success nor unavailability still counts as a
// success.
func (w *writer) attempt(ctx context.Context, as *caller, kind, method, path string, body any,
	accept func(a servicetest.Answer, repeated bool) bool) (servicetest.Answer, verdict) {
	insists := !w.hasty && w.flag(6)
	key := uuid.NewString()
	for try := 0; ; try++ {
		began := time.Now()
		a, err := as.send(ctx, method, path, body, "Idempotency-Key", key)
		took := time.Since(began)
		w.counts.answer(kind, a, err, took)
		if took > lateAfter {
			w.complaints.add("%s %s took %s", method, path, took.Round(time.Second))
		}
		switch {
		case err == nil && (a.Code == http.StatusOK || a.Code == http.StatusCreated),
			err == nil && accept != nil && accept(a, try > 0):
			if a.Fault() != nil {
				w.complaints.add("an answer is not as the interface's document says: %v", a.Fault())
			}
			return a, done
		case err == nil && !isUnavailable(a) && !isUnderWay(a):
			w.complaints.add("%s was answered %d %s", a.Request, a.Code, a.Body)
			return a, unknown
		}
		if !insists || ctx.Err() != nil {
			return a, unknown
		}
		select {
		case <-ctx.Done():
			return a, unknown
		case <-time.After(againAfter):
		}
	}
}

// isUnderWay reports whether an answer says that the request with this key is under way.
func isUnderWay(a servicetest.Answer) bool {
	return a.Code == http.StatusConflict && a.Header.Get("Retry-After") != ""
}

// shown is an event as answers show it.
type shown = servicetest.BookedEvent

// eventOf reads an answer of create, add or allocate. Nothing may have failed.
func (w *writer) eventOf(a servicetest.Answer) shown {
	var reply servicetest.Booking
	if err := json.Unmarshal([]byte(a.Body), &reply); err != nil || len(reply.Failures) > 0 {
		w.complaints.add("%s: an addition failed: %s", a.Request, a.Body)
	}
	return reply.Event
}

// pick returns one of the ids.
func (w *writer) pick(ids []int64) int64 { return ids[w.dice.IntN(len(ids))] }

// flag returns true n times of ten.
func (w *writer) flag(n int) bool { return w.dice.IntN(10) < n }

// word returns a unique text.
func word(kind string) string { return kind + " " + strings.ReplaceAll(uuid.NewString(), "-", "") }
