// Package stores runs the document store and the Redis that Belfry needs on a developer's or CI machine. No
// installation of Belfry uses it.
//
// The document store is, in this order: what MONGODB_URI names; a mongod on the PATH, as a replica set of one;
// PostgreSQL with the DocumentDB extension and the engine of deploy/local/engine in front. Redis is what REDIS_URL
// names, a redis-server on the PATH, or Debian's. PostgreSQL, and Redis when it is not on the PATH, run from a
// Debian root folder in the user's cache. It is made once per machine, needs root, and is shared by all checkouts.
// Data, logs and sockets are in one folder of the checkout, so two checkouts share nothing.
//
// All listen on loopback addresses only and need no password. Their ports are free ones, which stay the same from
// run to run; STORES_MONGO_PORT and STORES_REDIS_PORT fix them.
package stores

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/belfry-schools/belfry/deploy/local/progress"
)

// Options says where the stores live.
type Options struct {
	// Checkout is the root of the source tree, the folder of go.work: the engine is built from it.
	Checkout string
	// Dir keeps data, logs and sockets. Empty means .local/stores in the checkout, where package storetest looks
	// for running stores.
	Dir string
	// Out gets one line per step; nil discards them.
	Out io.Writer
	// DatabaseMemory is how many MB the document store keeps of its data in memory of its own; 0: a few hundred, which
	// is enough for tests, and the system's cache of files does the rest. With more it also reads again at its start
	// what it had in memory at its end, where it can.
	DatabaseMemory int
}

// startPatience is how long the stores may take to answer once their programs are installed. PostgreSQL may have to
// recover from a crash.
const startPatience = 90 * time.Second

func (o Options) complete() Options {
	if o.Dir == "" {
		o.Dir = filepath.Join(o.Checkout, ".local", "stores")
	}
	if dir, err := filepath.Abs(o.Dir); err == nil { // programs run in other working directories
		o.Dir = dir
	}
	if o.Out == nil {
		o.Out = io.Discard
	}
	return o
}

// Running is a pair of stores that answer.
type Running struct {
	MongoURI string
	RedisURL string
	// Attached says that these stores run elsewhere, or in another process: Stop does not stop them.
	Attached bool

	dir      string
	say      *speaker
	keepers  []kept // in the order of their start
	held     *dirLock
	stopOnce sync.Once
}

// Start starts the stores and returns when both answer as Belfry needs it. When another process already runs the
// stores of the same Dir, it waits for them and returns them as attached. A store that dies is started again, with
// all acknowledged data, until Stop. When this process dies without Stop, the stores end too.
//
// The end of ctx interrupts a start but does not stop running stores. An error says what to do; nothing is left
// running then.
func Start(ctx context.Context, o Options) (*Running, error) {
	o = o.complete()
	say := &speaker{out: o.Out}
	chosen, err := choose(ctx, o.Dir, say)
	if err != nil {
		return nil, err
	}
	if len(chosen.local) == 0 {
		return &Running{MongoURI: chosen.mongoURI, RedisURL: chosen.redisURL, Attached: true, dir: o.Dir, say: say}, nil
	}
	mine, err := lockDir(o.Dir)
	for errors.Is(err, ErrLocked) {
		r, attachErr := attach(ctx, o.Dir, say)
		if !errors.Is(attachErr, errGone) {
			return r, attachErr
		}
		mine, err = lockDir(o.Dir)
	}
	if err != nil {
		return nil, err
	}
	r := &Running{dir: o.Dir, say: say, held: mine}
	if err := r.start(ctx, o, chosen); err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	return r, nil
}

func (r *Running) start(ctx context.Context, o Options, chosen choice) error {
	if err := errors.Join(removeRecord(o.Dir), r.held.endStragglers(ctx, r.say)); err != nil {
		return err
	}
	r.MongoURI, r.RedisURL = chosen.mongoURI, chosen.redisURL
	at := site{dir: o.Dir, checkout: o.Checkout, memory: o.DatabaseMemory, say: r.say, lock: r.held.children}
	for _, set := range chosen.local {
		s, err := set(ctx, at)
		if err != nil {
			return err
		}
		r.MongoURI, r.RedisURL = cmp.Or(s.mongoURI, r.MongoURI), cmp.Or(s.redisURL, r.RedisURL)
		for _, p := range s.programs {
			r.keepers = append(r.keepers, keep(p, at))
		}
		if err := r.await(ctx, s); err != nil {
			return err
		}
	}
	return writeRecord(o.Dir, record{MongoURI: r.MongoURI, RedisURL: r.RedisURL, Keeper: os.Getpid()})
}

// await waits until the store is ready. When one of its programs keeps ending, it returns an error with the end of
// the program's log.
func (r *Running) await(ctx context.Context, s store) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	for _, k := range r.keepers {
		go func() {
			select {
			case <-k.Hopeless():
				last := progress.Tail(k.logPath, 8)
				fail(fmt.Errorf("%s does not stay up; the end of %s:\n%s", k.name, k.logPath, last))
			case <-ctx.Done():
			}
		}()
	}
	err := s.ready(ctx)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, ctx.Err()) {
		return cause
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s did not answer within %s; its logs are in %s: %w", s.name, startPatience,
			filepath.Join(r.dir, "log"), err)
	}
	if err != nil {
		return err
	}
	r.say.line("%s answers", s.name)
	return nil
}

// Stop stops the stores that Start started, the engine before PostgreSQL, and returns when they have ended. It may
// be called more than once.
func (r *Running) Stop() error {
	var faults []error
	r.stopOnce.Do(func() {
		if r.held == nil {
			return
		}
		faults = append(faults, removeRecord(r.dir))
		for _, k := range slices.Backward(r.keepers) {
			r.say.line("stopping %s", k.name)
			if err := k.Stop(); err != nil {
				r.say.line("%v", err)
			}
		}
		faults = append(faults, r.held.release())
	})
	return errors.Join(faults...)
}

// errGone says that the process that started or ran the stores has ended.
var errGone = errors.New("the process that ran the stores is gone")

// attach waits for the stores that another process starts or runs; that process may have to install their programs
// first. It returns errGone when that process ends.
func attach(ctx context.Context, dir string, say *speaker) (*Running, error) {
	told := time.Now()
	var rec record
	err := retry(ctx, 50*time.Millisecond, func() (err error) {
		if rec, err = readRecord(dir); err == nil {
			err = errors.Join(checkRedis(ctx, rec.RedisURL), checkMongo(ctx, rec.MongoURI))
		}
		pid, held := holder(dir)
		switch {
		case err == nil:
			return nil
		case !held:
			return backoff.Permanent(errGone)
		case !errors.Is(err, errNotRunning):
			return backoff.Permanent(fmt.Errorf("the stores that process %d runs: %w", pid, err))
		case time.Since(told) > progress.Every:
			told = time.Now()
			say.line("… process %d is starting the stores; waiting for it", pid)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	say.line("the stores are already run by process %d; using those", rec.Keeper)
	return &Running{MongoURI: rec.MongoURI, RedisURL: rec.RedisURL, Attached: true, dir: dir, say: say}, nil
}

// speaker prints steps, one line each. It is safe for concurrent use.
type speaker struct {
	mu  sync.Mutex
	out io.Writer
}

func (s *speaker) line(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// a closed terminal is no reason to stop
	fmt.Fprintf(s.out, "stores: %s\n", strings.TrimRight(fmt.Sprintf(format, args...), "\n"))
}
