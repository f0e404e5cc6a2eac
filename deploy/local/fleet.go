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
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/deploy/local/progress"
	"github.com/belfry-schools/belfry/deploy/local/stores"
	"github.com/belfry-schools/belfry/pkg/frontdoor"
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

// secretOf names the one service that gets a secret, as in the chart. The other secrets are for all.
var secretOf = map[string]string{"BOOTSTRAP_ADMIN_UUID": "identity", "BELFRY_SMTP_PASSWORD": "events"}

// fleet holds the replicas of all services.
type fleet struct {
	log       *slog.Logger
	replicas  []*replica
	balancers []*frontdoor.Balancer // between the services
}

// newFleet builds the services, and sets the addresses and the environment of each replica.
func newFleet(ctx context.Context, cfg config, root, local string, at *stores.Running, admin settings.Secret,
	log *slog.Logger) (*fleet, error) {
	bin := filepath.Join(local, "bin")
	if err := buildServices(ctx, root, bin, log); err != nil {
		return nil, err
	}
	shared := append(os.Environ(),
		"MONGODB_URI="+at.MongoURI, "MONGODB_DATABASE="+cfg.Database, "REDIS_URL="+at.RedisURL,
		"BELFRY_REDIS_PREFIX="+cfg.Database+":",
		"BELFRY_TIMEZONE="+cfg.Zone.String(), "BELFRY_INTERNAL_TOKEN="+uuid.NewString()+uuid.NewString(),
		"BOOTSTRAP_ADMIN_UUID="+admin.Reveal(),
		"BELFRY_SECURE_COOKIES=false", "BELFRY_DRAIN_DELAY=0s", "BELFRY_TRUSTED_PROXIES=127.0.0.0/8")
	f := &fleet{log: log}
	logs := filepath.Join(local, "log")
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return nil, err
	}
	for _, name := range names.All() {
		for i := range cfg.Replicas {
			r := &replica{service: name, name: name, binary: filepath.Join(bin, name), log: log}
			if cfg.Replicas > 1 {
				r.name += "-" + strconv.Itoa(i+1)
			}
			r.file = filepath.Join(logs, r.name+".log")
			f.replicas = append(f.replicas, r)
		}
	}
	if err := chooseAddresses(f.replicas); err != nil {
		return nil, err
	}
	internal := f.addresses(func(r *replica) string { return r.internal })
	for _, name := range names.All() {
		balancer, err := frontdoor.Balance(internal[name])
		if err != nil {
			return nil, err
		}
		f.balancers = append(f.balancers, balancer)
		shared = append(shared, "BELFRY_"+strings.ToUpper(name)+"_URL=http://"+balancer.Address)
	}
	for _, r := range f.replicas {
		for _, variable := range shared {
			name, _, _ := strings.Cut(variable, "=")
			if only, secret := secretOf[name]; !secret || only == r.service {
				r.environment = append(r.environment, variable)
			}
		}
		r.environment = append(r.environment, "BELFRY_LISTEN="+r.public, "BELFRY_INTERNAL_LISTEN="+r.internal,
			"BELFRY_HEALTH_LISTEN="+r.health)
	}
	return f, nil
}

// buildServices builds what has changed, and logs its progress.
func buildServices(ctx context.Context, root, bin string, log *slog.Logger) error {
	log.Info("building the services")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	arguments := []string{"build", "-v", "-o", bin + string(filepath.Separator)}
	for _, name := range names.All() {
		arguments = append(arguments, "./services/"+name+"/cmd/"+name)
	}
	build := exec.Command("go", arguments...)
	build.Dir = root
	return progress.Run(ctx, func(format string, values ...any) { log.Info(fmt.Sprintf(format, values...)) }, build)
}

// chooseAddresses sets the addresses of each replica.
func chooseAddresses(replicas []*replica) error {
	addresses, err := frontdoor.Addresses(3 * len(replicas))
	if err != nil {
		return err
	}
	for i, r := range replicas {
		r.public, r.internal, r.health = addresses[3*i], addresses[3*i+1], addresses[3*i+2]
	}
	return nil
}

// start returns once every replica is ready. A replica that exits later is started again, until stop is called.
func (f *fleet) start(ctx context.Context) error {
	for _, r := range f.replicas {
		r.launch()
	}
	for _, r := range f.replicas {
		if err := r.await(ctx); err != nil {
			return err
		}
		f.log.Info("ready", "service", r.name)
	}
	return nil
}

// stop stops the replicas in reverse order of their start.
func (f *fleet) stop() {
	for _, r := range slices.Backward(f.replicas) {
		r.end()
	}
	for _, b := range f.balancers {
		b.Close()
	}
}

// addresses returns an address of each replica, by service.
func (f *fleet) addresses(of func(*replica) string) map[string][]string {
	all := map[string][]string{}
	for _, r := range f.replicas {
		all[r.service] = append(all[r.service], of(r))
	}
	return all
}

// replica is one process of a service.
type replica struct {
	service, name, binary, file string
	public, internal, health    string // host:port
	environment                 []string
	log                         *slog.Logger
	keeper                      *process.Keeper // nil before launch
}

// launch starts the process, and starts it again whenever it exits.
func (r *replica) launch() {
	r.keeper = process.Keep(process.KeeperOptions{
		Command: func() *exec.Cmd {
			command := exec.Command(r.binary)
			command.Env = r.environment
			return command
		},
		Log: func() (io.WriteCloser, error) {
			file, err := os.OpenFile(r.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
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

// await returns once the process is ready.
func (r *replica) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	err := r.keeper.Await(ctx, process.Serves("http://"+r.health+"/readyz"))
	if errors.Is(err, process.ErrEnded) {
		return fmt.Errorf("%s ended while starting; its log is %s", r.name, r.file)
	}
	if err != nil {
		return fmt.Errorf("%s is not ready: %w", r.name, err)
	}
	return nil
}

// end sends the process SIGTERM, and kills it after endTimeout.
func (r *replica) end() {
	if r.keeper == nil {
		return
	}
	if err := r.keeper.Stop(); err != nil {
		r.log.Warn("did not stop", "service", r.name, "error", err.Error())
	}
}
