package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/service/background"
)

const (
	// backWithin is how long Belfry may take to answer every write again once the stores answer, before the run fails.
	// It does not promise speed, which the report has: it finds services that never come back.
	backWithin = time.Minute
	// hopeless is how long the run waits for that before it ends.
	hopeless = 5 * time.Minute
	// rounds is how many probes in a row must be answered: two for each of the two replicas.
	rounds = 4
	// look is the pause between two looks at what recovers.
	look = 100 * time.Millisecond
	// stepDownEvery is how often the primary of a real replica set is stepped down.
	stepDownEvery = 30 * time.Second
)

// outage is how long Belfry took at most to recover from a kind of fault.
type outage struct {
	times int
	store time.Duration // from the fault's end until the stores answered
	back  time.Duration // from then until writes of each kind were answered by each replica
}

// trial breaks the parts of a system, one fault or two at a time, in an order that the seed decides.
type trial struct {
	*system
	ledger     *ledger
	dice       *rand.Rand
	console    *console
	complaints complaints
	probes     *writer
	outages    map[string]outage // by kind; two faults at once are a kind of their own
	notes      []string          // what the report says besides
	stepDowns  int               // of the primary of a replica set
}

func newTrial(s *system, l *ledger, o arguments, console *console) *trial {
	dice := rand.New(rand.NewPCG(o.seed, 1<<32))
	return &trial{system: s, ledger: l, dice: dice, console: console, outages: map[string]outage{},
		probes: &writer{ledger: l, hasty: true, dice: rand.New(rand.NewPCG(o.seed, 1<<33))}}
}

// run breaks something, mends it, waits until writes are answered again, and so on until the time has come. All
// kinds of faults take their turn before one comes again.
func (t *trial) run(ctx context.Context, end time.Time) {
	if !t.await(ctx, "the start") {
		return
	}
	var stepping sync.WaitGroup
	if t.replicaSet {
		until, stop := context.WithCancel(ctx)
		stepping.Go(func() { t.stepDown(until) })
		defer stepping.Wait()
		defer stop()
	}
	var deck []fault
	for time.Now().Before(end) && ctx.Err() == nil {
		if len(deck) < 2 {
			deck = append(deck, t.shuffled()...)
		}
		n := 1
		if t.dice.IntN(5) == 0 && deck[0].name != deck[1].name { // a thing cannot be broken twice in one way
			n = 2
		}
		if !t.suffer(ctx, deck[:n]) {
			return
		}
		deck = deck[n:]
		background.Pause(ctx, time.Second+time.Duration(t.dice.IntN(2000))*time.Millisecond)
	}
}

// shuffled returns one fault of each kind, in an order that the dice decide.
func (t *trial) shuffled() []fault {
	all := t.faults()
	t.dice.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	return all
}

// suffer lets faults happen one after the other, ends them, and waits until Belfry is back; false if it does not come
// back.
func (t *trial) suffer(ctx context.Context, faults []fault) bool {
	name := strings.Join(sequence.Map(faults, func(f fault) string { return f.name }), " and ")
	var mends []func() error
	for _, f := range faults {
		mend, err := f.begin()
		if err != nil {
			t.complaints.add("the fault %q could not be made: %v", f.name, err)
			continue
		}
		if mend != nil {
			mends = append(mends, mend)
		}
	}
	if len(mends) > 0 {
		background.Pause(ctx, 2*time.Second+time.Duration(t.dice.IntN(4000))*time.Millisecond)
	}
	for _, mend := range mends {
		if err := mend(); err != nil {
			t.complaints.add("%s could not be ended: %v", name, err)
		}
	}
	return t.await(ctx, name)
}

// await waits until the stores answer, and then until Belfry does, and keeps how long that took.
func (t *trial) await(ctx context.Context, after string) bool {
	began := time.Now()
	for !t.storesAnswer(ctx) {
		if time.Since(began) > hopeless || ctx.Err() != nil {
			t.complaints.add("after %s the stores did not come back", after)
			return false
		}
		background.Pause(ctx, look)
	}
	answered := time.Now()
	since, streak := answered, 0 // when the first probe was answered of those after which all were
	for streak < rounds {
		switch t.probe(ctx) {
		case true:
			if streak == 0 {
				since = time.Now()
			}
			streak++
		case false:
			streak = 0
			background.Pause(ctx, look)
		}
		if time.Since(answered) > hopeless || ctx.Err() != nil {
			t.complaints.add("after %s not every write was answered within %s", after, hopeless)
			return false
		}
	}
	store, back := answered.Sub(began), since.Sub(answered)
	t.console.line("%-55s stores %5.1f s, then Belfry %5.1f s", after, store.Seconds(), back.Seconds())
	if back > backWithin {
		t.complaints.add("after %s Belfry took %s to come back", after, back.Round(time.Second))
	}
	kind := after
	if strings.Contains(after, " and ") {
		kind = "two at once"
	}
	o := t.outages[kind]
	t.outages[kind] = outage{o.times + 1, max(o.store, store), max(o.back, back)}
	return true
}

// probe makes one write to each service that has any, and reports whether all were acknowledged at the first try.
func (t *trial) probe(ctx context.Context) bool {
	b := t.probes.create(ctx)
	if b.stands != done {
		return false
	}
	t.probes.note(ctx, b)
	t.probes.open = nil
	for _, v := range b.notes {
		if v != done {
			return false
		}
	}
	a, err := t.ledger.admin.send(ctx, http.MethodPut,
		fmt.Sprintf("/api/admin/elements/%d/administrators/%d", t.ledger.calendars[0], t.ledger.keeperID), nil)
	return err == nil && a.Code == http.StatusOK
}
