package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// result is what was measured of a call with some number of clients.
type result struct {
	call    string
	clients int
	size
	belfry    figures
	store     figures // the least reads; no requests: it needs none
	door      figures // the bare front door
	trips     trips
	processor map[string]float64 // seconds a request, by kind of process
}

// measureSchool starts a school, and measures what the arguments say.
func measureSchool(ctx context.Context, o arguments, out console) (r report, err error) {
	s, err := startSchool(ctx, o, out)
	if err != nil {
		return report{}, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	r = report{options: o, machine: s.machine(ctx), loaded: s.loaded}
	if r.idle, err = memory(); err != nil {
		return r, err
	}
	if r.starts, err = startTimes(ctx); err != nil {
		return r, err
	}
	calls, err := s.calls(ctx)
	if err != nil {
		return r, err
	}
	floors, err := newFloors(ctx, s)
	if err != nil {
		return r, err
	}
	defer floors.close()
	for _, c := range calls {
		for _, clients := range o.clients {
			measured, err := s.measure(ctx, c, floors, clients)
			if errors.Is(err, errUnanswered) && clients > aimClients { // more than can be answered within the deadline
				said := out.print("%s with %d clients: %v\n", c.name, clients, err)
				if err := errors.Join(said, settle(ctx)); err != nil {
					return r, err
				}
				continue
			}
			if err != nil {
				return r, fmt.Errorf("%s with %d clients: %w", c.name, clients, err)
			}
			r.results = append(r.results, measured)
			if err := out.print("%s\n", measured); err != nil {
				return r, err
			}
		}
		if o.profile {
			text, err := s.profile(ctx, c, slices.Max(o.clients))
			if err != nil {
				return r, fmt.Errorf("profile of %s: %w", c.name, err)
			}
			path := o.out + "-" + strings.NewReplacer(" ", "-", "'", "").Replace(c.name) + ".profile.txt"
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				return r, err
			}
		}
	}
	if r.held, err = memory(); err != nil {
		return r, err
	}
	r.stored, err = s.size(ctx)
	return r, err
}

// settleTimeout bounds how long the services may work on what a crowd has left behind.
const settleTimeout = 2 * time.Minute

// settle returns when nothing is left to do of the requests of clients that have gone: the services use next to no
// processor time then.
func settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	for {
		before, err := processorTime()
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the services do not settle: %w", ctx.Err())
		case <-time.After(time.Second):
		}
		after, err := processorTime()
		if err != nil {
			return err
		}
		between := used(before, after)
		if between["elements"]+between["events"] < quietSecond {
			return nil
		}
	}
}

// quietSecond is the processor time of elements and events in a second without requests, at most.
const quietSecond = 0.1

// measure measures a call, as often as asked for; the run of the median rate counts.
func (s *school) measure(ctx context.Context, c call, f *floors, clients int) (result, error) {
	var all []result
	for range s.options.runs {
		r, err := s.measureOnce(ctx, c, clients)
		if err != nil {
			return result{}, err
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b result) int { return cmp.Compare(a.belfry.rate(), b.belfry.rate()) })
	median := all[len(all)/2]
	short := max(1, s.options.seconds/4)
	var err error
	if median.store, err = f.store(ctx, c, clients, short); err != nil {
		return result{}, err
	}
	if median.door, err = f.bareDoor(ctx, s, clients, short); err != nil {
		return result{}, err
	}
	median.trips, err = s.budget.of(budgeted[c.name])
	return median, err
}

func (s *school) measureOnce(ctx context.Context, c call, clients int) (result, error) {
	before, err := processorTime()
	if err != nil {
		return result{}, err
	}
	got, err := wrk(ctx, s.scratch, s.local.URL, c.cookie, c.requests, clients, s.options.seconds)
	if err != nil {
		return result{}, err
	}
	after, err := processorTime()
	if err != nil {
		return result{}, err
	}
	r := result{call: c.name, clients: clients, size: s.options.size, belfry: got, processor: used(before, after)}
	for kind := range r.processor {
		r.processor[kind] /= float64(got.requests)
	}
	return r, nil
}

// allProcessor returns the processor time of a request by all processes.
func (r result) allProcessor() time.Duration {
	var sum float64
	for _, seconds := range r.processor {
		sum += seconds
	}
	return time.Duration(sum * float64(time.Second))
}

// floorRate returns how many requests a second there would be if each took the time of its share of the bare front
// door's and of the store's rate, and nothing else; 0 where no floor was measured.
func (r result) floorRate() float64 {
	if r.door.requests == 0 {
		return 0
	}
	share := 1 / r.door.rate()
	if r.store.requests > 0 {
		share += 1 / r.store.rate()
	}
	return 1 / share
}

// floorP50 returns the median times of the bare front door and of the store, added.
func (r result) floorP50() time.Duration { return r.door.p50 + r.store.p50 }

func (r result) String() string {
	line := fmt.Sprintf("%-42s %4d clients  %8.0f/s  p50 %7s  p99 %7s ms  processor %6s ms", r.call, r.clients,
		r.belfry.rate(), millis(r.belfry.p50), millis(r.belfry.p99), millis(r.allProcessor()))
	if rate := r.floorRate(); rate > 0 {
		line += fmt.Sprintf("  floor %6.0f/s", rate)
	}
	return line
}
