package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/deploy/local/progress"
	"github.com/belfry-schools/belfry/deploy/local/stores"
	"github.com/belfry-schools/belfry/pkg/frontdoor/fleet"
	"github.com/belfry-schools/belfry/pkg/frontdoor/routes"
	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/service/settings"
)

const (
	readyTimeout = 60 * time.Second
	// endTimeout is how long a service may take to stop after SIGTERM before it is killed.
	endTimeout = 20 * time.Second
	// firstPause and longestPause bound the pause before a service that exited is started again.
	firstPause   = 200 * time.Millisecond
	longestPause = 10 * time.Second
)

// replicas are the processes of all services, with the addresses and the balancers that they share.
type replicas struct {
	log  *slog.Logger
	plan *fleet.Fleet
	all  []*replica
}

// newReplicas builds the services, and sets the addresses and the environment of each replica.
func newReplicas(ctx context.Context, cfg config, root, local string, table routes.Table, at *stores.Running,
	admin settings.Secret, signIn *signIn, log *slog.Logger) (*replicas, error) {
	bin, logs := filepath.Join(local, "bin"), filepath.Join(local, "log")
	if err := buildServices(ctx, root, bin, log); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return nil, err
	}
	o := fleet.Options{Table: table, Variables: []string{
		"MONGODB_URI=" + at.MongoURI, "MONGODB_DATABASE=" + cfg.Database, "REDIS_URL=" + at.RedisURL,
		"BELFRY_REDIS_PREFIX=" + cfg.Database + ":", "BELFRY_TIMEZONE=" + cfg.Zone.String(),
		"BELFRY_INTERNAL_TOKEN=" + uuid.NewString() + uuid.NewString(), "BOOTSTRAP_ADMIN_UUID=" + admin.Reveal(),
		"BELFRY_TRUSTED_PROXIES=127.0.0.0/8",
	}}
	o.Variables = append(o.Variables, signIn.variables()...)
	f := &replicas{log: log}
	for _, name := range names.All() {
		for i := range cfg.Replicas {
			planned := &fleet.Replica{Service: name, Program: filepath.Join(bin, name)}
			r := &replica{Replica: planned, name: name, log: log}
			if cfg.Replicas > 1 {
				r.name += "-" + strconv.Itoa(i+1)
			}
			r.file = filepath.Join(logs, r.name+".log")
			f.all = append(f.all, r)
			o.Replicas = append(o.Replicas, r.Replica)
		}
	}
	var err error
	f.plan, err = fleet.New(o)
	return f, err
}

// buildServices builds what has changed, and logs its progress.
func buildServices(ctx context.Context, root, bin string, log *slog.Logger) error {
	log.Info("building the services")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	arguments := []string{"build", "-v", "-o", bin + string(filepath.Separator)}
	build := exec.Command("go", append(arguments, fleet.Packages(names.All())...)...)
	build.Dir = root
	return progress.Run(ctx, func(format string, values ...any) { log.Info(fmt.Sprintf(format, values...)) }, build)
}

// start returns once every replica is ready. A replica that exits later is started again, until stop is called.
func (f *replicas) start(ctx context.Context) error {
	for _, r := range f.all {
		r.launch()
	}
	for _, r := range f.all {
		soon, cancel := context.WithTimeout(ctx, readyTimeout)
		err := r.keeper.Await(soon, r.Ready)
		cancel()
		if errors.Is(err, process.ErrEnded) {
			return fmt.Errorf("%s ended while starting; its log is %s", r.name, r.file)
		}
		if err != nil {
			return fmt.Errorf("%s is not ready: %w", r.name, err)
		}
		f.log.Info("ready", "service", r.name)
	}
	return nil
}

// stop stops the replicas in reverse order of their start: each gets SIGTERM, and is killed after endTimeout.
func (f *replicas) stop() {
	for _, r := range slices.Backward(f.all) {
		if r.keeper == nil {
			continue
		}
		if err := r.keeper.Stop(); err != nil {
			f.log.Warn("did not stop", "service", r.name, "error", err.Error())
		}
	}
	f.plan.Close()
}

// replica is one process of a service.
type replica struct {
	*fleet.Replica
	name, file string // file is its log
	log        *slog.Logger
	keeper     *process.Keeper // nil before launch
}

// launch starts the process, and starts it again whenever it exits.
func (r *replica) launch() {
	r.keeper = process.Keep(process.KeeperOptions{
		Command: r.Command,
		Log: func() (io.WriteCloser, error) {
			file, err := stores.OpenLog(r.file)
			return &lines{log: r.log, name: r.name, file: file, parse: true}, err
		},
		Patience:   endTimeout,
		FirstPause: firstPause, LongestPause: longestPause, Steady: longestPause,
		Ended: func(err error, pause time.Duration) {
			r.log.Warn("ended by itself, starting it again",
				"service", r.name, "how", err.Error(), "pause", pause.String())
		},
	})
}
