// Command bench measures Belfry on one machine: it starts the stores and the services, loads a demo school, makes
// each call through the front door with one and with many clients, and writes one table of what came: requests a
// second, latencies, and processor time by process. In the same run it measures the floor of each call, the least
// reads that could answer it. Figures are for comparing within a run, or runs of one machine: never for a test.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/process"
)

// arguments are the flags of the command.
type arguments struct {
	pupils, years int
	seed          uint64
	clients       []int
	seconds       int // of one measurement
	runs          int // of each measurement; the median counts
	calls         *regexp.Regexp
	out           string // the prefix of the files of results
	against       string // the CSV of another run; empty: none
}

func main() { process.Main("bench", run) }

// run measures as the arguments say, and writes the table to out and to files.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	var before []result
	if o.against != "" {
		if before, err = readCSV(o.against); err != nil {
			return err
		}
	}
	s, err := startSchool(ctx, o, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	calls, err := s.calls(ctx)
	if err != nil {
		return err
	}
	floors, err := newFloors(ctx, s)
	if err != nil {
		return err
	}
	defer floors.close()

	r := report{options: o, school: s, before: before}
	for _, c := range calls {
		if !o.calls.MatchString(c.name) {
			continue
		}
		for _, clients := range o.clients {
			measured, err := s.measure(ctx, c, floors, clients)
			if err != nil {
				return fmt.Errorf("%s with %d clients: %w", c.name, clients, err)
			}
			r.results = append(r.results, measured)
			if _, err := fmt.Fprintln(out, measured); err != nil {
				return err
			}
		}
	}
	r.memory = s.memory()
	return r.write(out)
}

// parse reads the flags.
func parse(args []string) (arguments, error) {
	var o arguments
	var clients, calls string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&o.pupils, "pupils", 1000, "size of the school")
	flags.IntVar(&o.years, "years", 5, "school years of it")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the school")
	flags.StringVar(&clients, "clients", "1,16", "numbers of clients at a time")
	flags.IntVar(&o.seconds, "seconds", 8, "seconds of one measurement")
	flags.IntVar(&o.runs, "runs", 1, "measurements of each call; the median counts")
	flags.StringVar(&calls, "calls", "", "regular expression of the calls to measure; empty: all")
	flags.StringVar(&o.out, "out", filepath.Join(".local", "bench", time.Now().UTC().Format("20060102-150405")),
		"path of the results, without .md and .csv")
	flags.StringVar(&o.against, "against", "", "CSV file of another run to compare with")
	if err := flags.Parse(args); err != nil {
		return arguments{}, err
	}
	for text := range strings.SplitSeq(clients, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1024 {
			return arguments{}, fmt.Errorf("-clients: %q is no number from 1 to 1,024", text)
		}
		o.clients = append(o.clients, n)
	}
	if o.seconds < 1 || o.runs < 1 {
		return arguments{}, errors.New("-seconds and -runs: at least 1")
	}
	var err error
	if o.calls, err = regexp.Compile(calls); err != nil {
		return arguments{}, fmt.Errorf("-calls: %w", err)
	}
	return o, nil
}
