// Command bench measures Belfry on one machine: it starts the stores and the services, loads a demo school, makes each
// call through the front door by wrk, with one and with many clients, and writes one table of the results: requests a
// second, latencies, and processor time by process. The figures are for comparing runs on one machine, never for a
// test.
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

	"github.com/belfry-schools/belfry/cmd/belfryctl/demo"
	"github.com/belfry-schools/belfry/pkg/service/process"
)

// arguments are the flags of the command.
type arguments struct {
	size
	seed    uint64
	clients []int
	seconds int // of one measurement
	runs    int // of each measurement; the median counts
	calls   *regexp.Regexp
	out     string // the path of the results, without an extension
	against string // the results of another run; empty: none
	fresh   bool   // load the school again
	memory  int    // MB of the document store; 0: as it comes
}

// size is the size of the loaded Belfry: the number of schools, and of pupils in each.
type size struct{ Pupils, Years, Schools int }

func (s size) String() string {
	return fmt.Sprintf("%d × %d pupils, %d years", s.Schools, s.Pupils, s.Years)
}

func main() { process.Main("bench", run) }

// run measures as the arguments say, and writes tables to out and to files.
func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	var before []result
	if o.against != "" {
		if before, err = readResults(o.against); err != nil {
			return err
		}
	}
	r, err := measureSchool(ctx, o, out)
	if err != nil {
		return err
	}
	r.before = before
	return r.write(out, o.out)
}

// parse reads the flags.
func parse(args []string) (arguments, error) {
	var o arguments
	var clients, calls string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&o.Pupils, "pupils", 1000, "size of the school")
	flags.IntVar(&o.Years, "years", 5, "school years of it")
	flags.IntVar(&o.Schools, "schools", 1, "schools of so many pupils in one Belfry")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the school")
	flags.StringVar(&clients, "clients", "1,16", "numbers of clients at a time")
	flags.IntVar(&o.seconds, "seconds", 8, "seconds of one measurement")
	flags.IntVar(&o.runs, "runs", 1, "measurements of each call; the median counts")
	flags.StringVar(&calls, "calls", "", "regular expression of the calls to measure; empty: all")
	flags.StringVar(&o.out, "out", filepath.Join(".local", "bench", time.Now().UTC().Format("20060102-150405")),
		"path of the results, without .md and .json")
	flags.StringVar(&o.against, "against", "", "JSON file of another run to compare with")
	flags.BoolVar(&o.fresh, "fresh", false, "load the school again, which measures the import")
	flags.IntVar(&o.memory, "memory", 0, "MB of data that the document store keeps in memory; 0: as it comes")
	if err := flags.Parse(args); err != nil {
		return arguments{}, err
	}
	if o.Schools < 1 || o.Schools > demo.MostSchools {
		return arguments{}, fmt.Errorf("-schools: %d is not between 1 and %d", o.Schools, demo.MostSchools)
	}
	if o.memory < 0 || o.seconds < 1 || o.runs < 1 {
		return arguments{}, errors.New("-memory must be at least 0, -seconds and -runs at least 1")
	}
	for text := range strings.SplitSeq(clients, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1024 {
			return arguments{}, fmt.Errorf("-clients: %q is not a number from 1 to 1,024", text)
		}
		o.clients = append(o.clients, n)
	}
	var err error
	if o.calls, err = regexp.Compile(calls); err != nil {
		return arguments{}, fmt.Errorf("-calls: %w", err)
	}
	return o, nil
}
