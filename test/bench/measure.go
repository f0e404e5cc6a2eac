package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/cmd/belfryctl/wholefile"
)

// result is what was measured of a call with some number of clients.
type result struct {
	Call    string
	Clients int
	Engine  string // the document store, with its version
	size
	figures
	Processor map[string]float64 // seconds a request, by kind of process
}

// measureSchool starts a school, and measures what the arguments say.
func measureSchool(ctx context.Context, o arguments, out io.Writer) (r report, err error) {
	s, err := startSchool(ctx, o, out)
	if err != nil {
		return report{}, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	r = report{options: o, machine: s.machine(ctx), elsewhere: s.elsewhere, loaded: s.loaded}
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
	for _, c := range calls {
		for _, clients := range o.clients {
			measured, err := s.measure(ctx, c, clients)
			if err != nil {
				return r, fmt.Errorf("%s with %d clients: %w", c.name, clients, err)
			}
			r.results = append(r.results, measured)
			fmt.Fprintln(out, measured)
		}
	}
	if r.held, err = memory(); err != nil {
		return r, err
	}
	r.stored, err = s.size(ctx)
	return r, err
}

// measure measures a call, as often as asked for; the run of the median rate counts.
func (s *school) measure(ctx context.Context, c call, clients int) (result, error) {
	var all []result
	for range s.options.runs {
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
		r := result{Call: c.name, Clients: clients, Engine: s.engine, size: s.options.size, figures: got,
			Processor: used(before, after)}
		for kind := range r.Processor {
			r.Processor[kind] /= float64(got.Requests)
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b result) int { return cmp.Compare(a.rate(), b.rate()) })
	return all[len(all)/2], nil
}

// allProcessor returns the processor time of a request by all processes.
func (r result) allProcessor() time.Duration {
	var sum float64
	for _, seconds := range r.Processor {
		sum += seconds
	}
	return time.Duration(sum * float64(time.Second))
}

func (r result) String() string {
	return fmt.Sprintf("%-42s %4d clients  %8.0f/s  p50 %7s  p99 %7s ms  processor %6s ms", r.Call, r.Clients, r.rate(),
		millis(r.P50), millis(r.P99), millis(r.allProcessor()))
}

// readResults reads the results of another run.
func readResults(path string) ([]result, error) {
	var all []result
	if err := wholefile.ReadJSON(path, &all); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s holds no results", path)
	}
	return all, nil
}
