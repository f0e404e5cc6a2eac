// Command endure runs Belfry under load while its parts are killed, paused, cut off, slowed and set back, and then
// compares what is stored with a ledger of the acknowledged writes. Each acknowledged write must be there once, every
// other completely or not at all, and nothing may be left over. The faults come in an order that the seed decides, so
// that a run can be repeated. With -older, two releases are exchanged in place of faults, and both write meanwhile.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
)

// arguments are the flags of the command.
type arguments struct {
	duration time.Duration
	rate     int
	seed     uint64
	replicas int // of each service and release: two in all
	dir      string
	older    string // commit of the release before, "": only one release runs
}

// errFailed says that the run found something; it has been printed.
var errFailed = errors.New("not everything held; see above")

func main() { process.Main("endure", run) }

// run starts Belfry, writes and breaks it for as long as the arguments say, checks, and prints the report.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	console := newConsole(out)
	if o.older != "" {
		root, err := checkout.Root()
		if err != nil {
			return err
		}
		o.older, err = olderCommit(ctx, root, o.older)
		if errors.Is(err, errNoOlder) {
			console.line("skipped: %v", err)
			return nil
		}
		if err != nil {
			return err
		}
		console.line("the release before is commit %s", o.older)
	}
	console.line("seed %d, %s, %d writes a second at most, %d replicas of each service", o.seed, o.duration, o.rate,
		o.replicas)
	s, err := startSystem(ctx, o, console)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop(err == nil || ctx.Err() != nil)) }()
	l, err := newLedger(ctx, s, o, console)
	if err != nil {
		return err
	}

	writing, stopWriting := context.WithCancel(ctx)
	defer stopWriting()
	written := make(chan struct{})
	go func() {
		defer close(written)
		l.write(writing)
	}()
	trial := newTrial(s, l, o, console)
	began := time.Now()
	if o.older == "" {
		trial.run(ctx, began.Add(o.duration))
	} else {
		trial.rollOut(ctx, o.duration)
	}
	stopWriting()
	<-written
	if ctx.Err() != nil {
		return ctx.Err()
	}

	console.line("%s of writes; now the comparison", time.Since(began).Round(time.Second))
	if o.older != "" {
		trial.compareBack(ctx)
	}
	c := newCheck(s, l)
	if err := c.run(ctx); err != nil {
		c.complaints.add("the comparison could not be made: %v", err)
	}
	found := append(append(l.complaints.all(), trial.complaints.all()...), c.complaints.all()...)
	if err := report(out, o, l, trial, c, found); err != nil {
		return err
	}
	if len(found) > 0 {
		console.line("data and logs are in %s", s.dir)
		return errFailed
	}
	return nil
}

// parse reads the flags.
func parse(args []string) (arguments, error) {
	var o arguments
	flags := flag.NewFlagSet("endure", flag.ContinueOnError)
	flags.DurationVar(&o.duration, "duration", 30*time.Minute, "how long Belfry is written to and broken")
	flags.IntVar(&o.rate, "rate", 50, "most writes a second; a slow machine makes fewer")
	flags.Uint64Var(&o.seed, "seed", uint64(time.Now().Unix()), "seed of the faults and of the writes")
	flags.StringVar(&o.older, "older", "", "in place of faults, exchange this release and the one of this `revision`; "+
		"previous: the release before")
	flags.StringVar(&o.dir, "dir", "", "folder of data and logs, kept when the run fails; empty: a temporary one")
	if err := flags.Parse(args); err != nil {
		return arguments{}, err
	}
	if flags.NArg() > 0 {
		return arguments{}, fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	if o.replicas = 2; o.older != "" {
		o.replicas = 1
	}
	if o.dir != "" { // programs run in other folders
		var err error
		if o.dir, err = filepath.Abs(o.dir); err != nil {
			return arguments{}, err
		}
	}
	if o.duration <= 0 || o.rate < 1 || o.rate > 1000 {
		return arguments{}, errors.New("-duration must be more than 0, -rate 1 to 1,000")
	}
	return o, nil
}
