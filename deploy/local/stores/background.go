package stores

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/belfry-schools/belfry/pkg/service/process"
)

// SuperviseCommand is the first argument with which Up starts its own executable in the background, in the
// checkout; the second is Options.Dir. The executable has to call Supervise with the same options.
const SuperviseCommand = "supervise"

// Up starts the stores in the background, supervised by a process of the same executable. It returns when they
// answer, at once when they already run.
func Up(ctx context.Context, o Options) (Record, error) {
	o = o.complete()
	say := &speaker{out: o.Out}
	chosen, err := choose(ctx, o.Dir, say)
	if err != nil || len(chosen.local) == 0 {
		return Record{MongoURI: chosen.mongoURI, RedisURL: chosen.redisURL}, err
	}
	var before Record
	_ = readJSON(filepath.Join(o.Dir, recordFile), &before) // without one it is empty
	if _, held := holder(o.Dir); held {
		switch _, err := attach(ctx, o.Dir, say); {
		case err == nil:
			return readRecord(o.Dir)
		case !errors.Is(err, errGone):
			return Record{}, err
		}
	}
	if err := spawn(ctx, o, before.Keeper); err != nil {
		return Record{}, err
	}
	return readRecord(o.Dir)
}

// upAfter says whether a keeper other than the one that has gone runs the stores. Until a new one has entered itself as
// the holder of the lock, the record of the old one looks valid.
func upAfter(dir string, gone int) bool {
	rec, err := readRecord(dir)
	return err == nil && rec.Keeper != gone
}

// spawn starts the background process and prints its output until its stores answer or it ends; gone is the keeper
// before it, or 0.
func spawn(ctx context.Context, o Options, gone int) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	path := filepath.Join(o.Dir, "log", "supervisor.log")
	log, err := OpenLog(path)
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // written by the process, not by us
	end, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	cmd := exec.Command(program, SuperviseCommand, o.Dir)
	cmd.Dir = o.Checkout
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	supervisor, err := process.Start(cmd)
	if err != nil {
		return err
	}
	shown, err := os.Open(path)
	if err != nil {
		return err
	}
	defer shown.Close() //nolint:errcheck // only read
	if _, err := shown.Seek(end, io.SeekStart); err != nil {
		return err
	}
	show := func() error { _, err := io.Copy(o.Out, bufio.NewReader(shown)); return err }
	up := func() bool { return upAfter(o.Dir, gone) }
	var showErr error
	err = supervisor.Await(ctx, func(context.Context) bool {
		showErr = show()
		return up() || showErr != nil
	})
	switch {
	case err == nil:
		return errors.Join(showErr, show())
	case !errors.Is(err, process.ErrEnded):
		return errors.Join(err, supervisor.Stop(syscall.SIGTERM, startPatience))
	case up(): // another process was quicker, and this one has ended
		return show()
	}
	return errors.Join(show(), fmt.Errorf("the stores did not come up: %w", supervisor.Err()))
}

// Supervise keeps the stores running until ctx ends. It is what the process started by Up runs.
func Supervise(ctx context.Context, o Options) error {
	o.background = true
	r, err := Start(ctx, o)
	if err != nil {
		return err
	}
	if r.held == nil {
		return nil
	}
	<-ctx.Done()
	return r.Stop()
}

// find returns the addresses of the stores of a checkout: MONGODB_URI and REDIS_URL where they are set, else those
// of the stores that run in its folder.
func find(o Options) (Record, error) {
	o = o.complete()
	given := Record{MongoURI: os.Getenv("MONGODB_URI"), RedisURL: os.Getenv("REDIS_URL")}
	if given.MongoURI != "" && given.RedisURL != "" {
		return given, nil
	}
	rec, err := readRecord(o.Dir)
	rec.MongoURI, rec.RedisURL = cmp.Or(given.MongoURI, rec.MongoURI), cmp.Or(given.RedisURL, rec.RedisURL)
	return rec, err
}

// Status prints the addresses of the stores and which process runs them. The error names a store that does not
// answer.
func Status(ctx context.Context, o Options) error {
	rec, err := find(o)
	if err != nil {
		return err
	}
	o = o.complete()
	say := &speaker{out: o.Out}
	if rec.Keeper != 0 {
		say.line("run by process %d, in %s", rec.Keeper, o.Dir)
	}
	var faults []error
	for _, s := range []struct {
		name, address string
		check         func(context.Context, string) error
	}{{"the document store", rec.MongoURI, checkMongo}, {"Redis", rec.RedisURL, checkRedis}} {
		if err := s.check(ctx, s.address); err != nil {
			faults = append(faults, fmt.Errorf("%s (%s): %w", s.name, masked(s.address), err))
			continue
		}
		say.line("%s answers at %s", s.name, masked(s.address))
	}
	return errors.Join(faults...)
}

// Down stops the stores that run in the background, and any processes that a killed supervisor left. It returns
// when they have ended. It returns an error, and stops nothing, when another program such as the local run runs
// them.
func Down(ctx context.Context, o Options) error {
	o = o.complete()
	say := &speaker{out: o.Out}
	if _, err := os.Stat(o.Dir); errors.Is(err, os.ErrNotExist) {
		say.line("nothing runs")
		return nil
	}
	asked := false
	return retry(ctx, 100*time.Millisecond, func() error {
		mine, err := lockDir(o.Dir, true)
		if err == nil {
			err = errors.Join(mine.endStragglers(ctx, say), removeRecord(o.Dir), mine.release())
			if err == nil {
				say.line("nothing runs")
			}
		}
		if h, ok := holder(o.Dir); ok && !asked && errors.Is(err, ErrLocked) {
			if !h.background {
				return backoff.Permanent(fmt.Errorf("the stores are run by process %d; end that", h.pid))
			}
			say.line("stopping the stores of process %d", h.pid)
			if err := syscall.Kill(h.pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
				return backoff.Permanent(err)
			}
			asked = true
		}
		return unlessLocked(err)
	})
}
