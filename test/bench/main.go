// Command bench measures Belfry on one machine: it starts the stores and the services, loads a demo school, makes
// each call through the front door with one and with many clients, and writes one table of what came: requests a
// second, latencies, and processor time by process. In the same run it measures the floor of each call, the least
// reads that could answer it. Figures are for comparing within a run, or runs of one machine: never for a test.
package main

import (
	"cmp"
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
	out     string   // the prefix of the files of results
	against string   // the CSV of another run; empty: none
	fresh   bool     // load the school again
	profile bool     // of each call
	growth  bool     // over several schools
	sizes   []size   // of the growth
	crowd   []int    // more numbers of clients, for the first of the schools
	keep    bool     // the data of these schools
	memory  int      // MB of the document store; 0: as it comes
	from    []string // CSV files to take growth from, without measuring
}

// size is that of what is in Belfry: so many schools, each of so many pupils.
type size struct{ pupils, years, schools int }

// String is the size as -schools takes it.
func (s size) String() string {
	text := fmt.Sprintf("%dx%d", s.pupils, s.years)
	if s.schools > 1 {
		text += fmt.Sprintf("x%d", s.schools)
	}
	return text
}

// describe is the size in words.
func (s size) describe() string {
	text := fmt.Sprintf("%d pupils, %d years", s.pupils, s.years)
	if s.schools > 1 {
		text = fmt.Sprintf("%d schools of ", s.schools) + text
	}
	return text
}

// readSizes reads -schools of -growth.
func readSizes(list string) ([]size, error) {
	var all []size
	for text := range strings.SplitSeq(list, ",") {
		s := size{schools: 1}
		_, err := fmt.Sscanf(text, "%dx%dx%d", &s.pupils, &s.years, &s.schools)
		if err != nil && strings.Count(text, "x") < 2 {
			_, err = fmt.Sscanf(text, "%dx%d", &s.pupils, &s.years)
		}
		if err != nil || s.String() != strings.TrimSuffix(text, "x1") && s.String() != text {
			return nil, fmt.Errorf("%q is not pupils x years or pupils x years x schools, such as 1000x5 or 1000x1x20",
				text)
		}
		all = append(all, s)
	}
	return all, nil
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
		if before, err = readCSV(o.against); err != nil {
			return err
		}
	}
	say := console{out}
	if o.growth {
		return grow(ctx, o, say)
	}
	r, err := measureSchool(ctx, o, say)
	if err != nil {
		return err
	}
	r.before = before
	return r.write(say, o.out)
}

// grownSizes are the sizes of -growth unless others are asked for.
const grownSizes = "1000x1,1000x5,1000x10,5000x1,20000x1,1000x1x20"

// parse reads the flags.
func parse(args []string) (arguments, error) {
	var o arguments
	var clients, calls, schools, crowd, from string
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
	flags.BoolVar(&o.fresh, "fresh", false, "load the school again, which measures the import")
	flags.BoolVar(&o.profile, "profile", false, "write a profile of each call, by perf")
	flags.BoolVar(&o.growth, "growth", false, "measure -schools one after another, and compare how each call grows")
	flags.StringVar(&schools, "schools", "",
		"schools of so many pupils in one Belfry (1); with -growth pupils x years [x schools] of each Belfry ("+
			grownSizes+")")
	flags.StringVar(&crowd, "crowd", "64,256", "further numbers of clients for the first school of -growth")
	flags.BoolVar(&o.keep, "keep", false, "keep the data of the schools of -growth")
	flags.IntVar(&o.memory, "memory", 0, "MB of data that the document store keeps in memory; 0: as it comes")
	flags.StringVar(&from, "from", "", "CSV files of runs: -growth compares them, and measures nothing")
	if err := flags.Parse(args); err != nil {
		return arguments{}, err
	}
	var err error
	if o.clients, err = numbers(clients); err != nil {
		return arguments{}, fmt.Errorf("-clients: %w", err)
	}
	if o.crowd, err = numbers(crowd); err != nil {
		return arguments{}, fmt.Errorf("-crowd: %w", err)
	}
	if o.growth {
		o.sizes, err = readSizes(cmp.Or(schools, grownSizes))
	} else {
		o.schools, err = strconv.Atoi(cmp.Or(schools, "1"))
		if err == nil && (o.schools < 1 || o.schools > demo.MostSchools) {
			err = fmt.Errorf("%d is not between 1 and %d", o.schools, demo.MostSchools)
		}
	}
	if err != nil {
		return arguments{}, fmt.Errorf("-schools: %w", err)
	}
	if from != "" {
		o.from = strings.Split(from, ",")
	}
	if o.memory < 0 {
		return arguments{}, errors.New("-memory: at least 0")
	}
	if o.seconds < 1 || o.runs < 1 {
		return arguments{}, errors.New("-seconds and -runs: at least 1")
	}
	if o.calls, err = regexp.Compile(calls); err != nil {
		return arguments{}, fmt.Errorf("-calls: %w", err)
	}
	return o, nil
}

// numbers reads numbers of clients, separated by commas.
func numbers(list string) ([]int, error) {
	var all []int
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1024 {
			return nil, fmt.Errorf("%q is not a number from 1 to 1,024", text)
		}
		all = append(all, n)
	}
	return all, nil
}
