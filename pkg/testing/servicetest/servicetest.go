// Package servicetest runs Belfry for tests as in production: the real binaries of the services, with a database
// and Redis keys of their own, behind a front door. A test sees what a client sees.
package servicetest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/procfs"
	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/frontdoor"
	"github.com/belfry-schools/belfry/pkg/frontdoor/fleet"
	"github.com/belfry-schools/belfry/pkg/frontdoor/routes"
	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/output"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
)

const (
	startTimeout = 60 * time.Second
	stopTimeout  = 10 * time.Second
)

// Options of a system. The zero value is one replica of every service that keeps data, in Europe/London.
type Options struct {
	Services []string          // those to run; nil: those that keep data
	Console  bool              // run the console, too
	Replicas int               // of each service; 0: one
	Env      map[string]string // variables in addition to those that the system sets, or instead of them
	// NoRace runs the services without the race detector, for tests that measure them, or test something else.
	NoRace bool
	// Programs is a folder with the services' programs, such as those of a release; empty: they are built here.
	Programs string
}

// System is a running Belfry.
type System struct {
	URL       string // of the front door
	AdminUUID string // of the first administrator
	Token     string // by which the services authenticate to each other
	DB        *mongo.Database
	Redis     *redis.Client
	Prefix    string // of the Redis keys

	replicas map[string][]*replica
	plan     *fleet.Fleet
	door     *httptest.Server
	drops    []func() error
}

// Start runs a system for one test and stops it when the test ends.
func Start(t testing.TB, o Options) *System {
	t.Helper()
	s, err := start(t.Context(), o)
	errortest.None(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what the services complained of:\n%s", s.complaints())
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Run runs a system for all tests of a package; TestMain calls it. It calls use with the system, runs the tests,
// and returns the exit code. m is a *testing.M, or wraps one. While go test fuzzes, in many processes, there is no
// system: fuzz targets call functions. A package that has tests of functions too shares a system (see Share).
func Run(m interface{ Run() int }, o Options, use func(*System)) int {
	flag.Parse()
	if target := flag.Lookup("test.fuzz"); target != nil && target.Value.String() != "" {
		return m.Run()
	}
	s, err := start(context.Background(), o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	use(s)
	return s.finish(m.Run())
}

// Shared is a system that the tests of a package share. The first test that needs it starts it, so that tests of
// functions and fuzz targets need no stores.
type Shared struct {
	start   func() (*System, error)
	started *System // nil: no test has needed it
}

// Share returns a system that has not started.
func Share(o Options) *Shared {
	s := &Shared{}
	s.start = sync.OnceValues(func() (_ *System, err error) {
		s.started, err = start(context.Background(), o)
		return s.started, err
	})
	return s
}

// Get returns the running system. The test fails when it cannot be started.
func (s *Shared) Get(t testing.TB) *System {
	t.Helper()
	system, err := s.start()
	errortest.None(t, err)
	return system
}

// Run runs the tests and stops the system, and returns the exit code; TestMain calls it.
func (s *Shared) Run(m *testing.M) int {
	code := m.Run()
	if s.started == nil {
		return code
	}
	return s.started.finish(code)
}

// finish stops the system after its tests, and returns their exit code, or 1 when it cannot be stopped.
func (s *System) finish(code int) int {
	if code != 0 {
		fmt.Fprintf(os.Stderr, "what the services complained of:\n%s", s.complaints())
	}
	if err := s.stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func start(ctx context.Context, o Options) (*System, error) {
	if o.Services == nil {
		o.Services = names.WithData()
	}
	if o.Console {
		o.Services = append(o.Services, names.Console)
	}
	o.Replicas = max(o.Replicas, 1)
	root, err := checkout.Root()
	if err != nil {
		return nil, err
	}
	binaries := o.Programs
	if binaries == "" {
		if binaries, err = build(ctx, root, o); err != nil {
			return nil, err
		}
	}
	s := &System{AdminUUID: uuid.NewString(), Token: uuid.NewString() + uuid.NewString(),
		replicas: map[string][]*replica{}}
	if err := s.openStores(ctx); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	table, err := checkout.Routes()
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	if err := s.startServices(o, table, binaries); err != nil {
		return nil, errors.Join(err, fmt.Errorf("what the services complained of:\n%s", s.complaints()), s.stop())
	}
	s.door = httptest.NewServer(frontdoor.New(table, s.plan.Public(), slog.New(slog.DiscardHandler)))
	s.URL = s.door.URL
	return s, nil
}

func (s *System) openStores(ctx context.Context) error {
	db, dropDB, err := storetest.NewMongo(ctx)
	if err != nil {
		return err
	}
	s.DB = db
	s.drops = append(s.drops, dropDB)
	client, prefix, dropKeys, err := storetest.NewRedis(ctx)
	if err != nil {
		return err
	}
	s.Redis, s.Prefix = client, prefix
	s.drops = append(s.drops, dropKeys)
	return nil
}

// startServices starts all replicas at the same time, as a deployment may.
func (s *System) startServices(o Options, table routes.Table, binaries string) error {
	mongoURI, redisURL, err := storetest.URIs()
	if err != nil {
		return err
	}
	plan := fleet.Options{Table: table, Variables: []string{
		"MONGODB_URI=" + mongoURI, "MONGODB_DATABASE=" + s.DB.Name(), "REDIS_URL=" + redisURL,
		"BELFRY_REDIS_PREFIX=" + s.Prefix, "BELFRY_INTERNAL_TOKEN=" + s.Token,
		"BOOTSTRAP_ADMIN_UUID=" + s.AdminUUID, "BELFRY_LOG_LEVEL=DEBUG",
		// a hundred writers of one event must not time out on a busy machine
		"BELFRY_REQUEST_TIMEOUT=25s",
	}}
	for name, value := range o.Env {
		plan.Variables = append(plan.Variables, name+"="+value)
	}
	for _, service := range o.Services {
		for range o.Replicas {
			r := &replica{Replica: &fleet.Replica{Service: service, Program: filepath.Join(binaries, service)}}
			s.replicas[service] = append(s.replicas[service], r)
			plan.Replicas = append(plan.Replicas, r.Replica)
		}
	}
	if s.plan, err = fleet.New(plan); err != nil {
		return err
	}
	var starting errgroup.Group
	for _, replicas := range s.replicas {
		for _, r := range replicas {
			starting.Go(r.start)
		}
	}
	return starting.Wait()
}

func (s *System) stop() error {
	var faults []error
	if s.door != nil {
		s.door.Close()
	}
	for _, service := range slices.Backward(names.All()) {
		for _, r := range s.replicas[service] {
			faults = append(faults, r.stop(syscall.SIGTERM))
		}
	}
	if s.plan != nil {
		s.plan.Close()
	}
	for _, drop := range s.drops {
		faults = append(faults, drop())
	}
	return errors.Join(faults...)
}

// Kill kills every replica of a service with SIGKILL.
func (s *System) Kill(t testing.TB, service string) { s.signal(t, service, syscall.SIGKILL) }

// Stop stops every replica of a service with SIGTERM.
func (s *System) Stop(t testing.TB, service string) { s.signal(t, service, syscall.SIGTERM) }

func (s *System) signal(t testing.TB, service string, signal syscall.Signal) {
	t.Helper()
	for _, r := range s.replicas[service] {
		errortest.None(t, r.stop(signal))
	}
}

// Restart starts a service again that was killed or stopped, at the same addresses.
func (s *System) Restart(t testing.TB, service string) {
	t.Helper()
	for i := range s.replicas[service] {
		s.StartReplica(t, service, i)
	}
}

// StopReplica ends one replica of a service by a signal, and leaves it dead.
func (s *System) StopReplica(t testing.TB, service string, i int, signal syscall.Signal) {
	t.Helper()
	if err := s.replicas[service][i].stop(signal); err != nil {
		t.Error(err)
	}
}

// StartReplica starts one again, at the same addresses.
func (s *System) StartReplica(t testing.TB, service string, i int) {
	t.Helper()
	if err := s.replicas[service][i].start(); err != nil {
		t.Fatalf("%v\n%s", err, s.complaints())
	}
}

// KillReplica kills one replica of a service with SIGKILL, and starts it again at the same addresses.
func (s *System) KillReplica(t testing.TB, service string, i int) {
	t.Helper()
	r := s.replicas[service][i]
	if err := errors.Join(r.stop(syscall.SIGKILL), r.start()); err != nil {
		t.Errorf("%v\n%s", err, r.log.String())
	}
}

// Replica returns the address (http://host:port) of one replica's public listener.
func (s *System) Replica(service string, i int) string {
	return "http://" + s.replicas[service][i].Public
}

// Health returns host:port of one replica's health listener.
func (s *System) Health(service string, i int) string { return s.replicas[service][i].Health }

// Forget makes all replicas use nothing of the directory that they have in memory: the versions in Redis start over.
func (s *System) Forget(t testing.TB) {
	t.Helper()
	errortest.None(t, s.Redis.Del(t.Context(), s.Prefix+"directory:state").Err())
}

// Internal returns where a replica listens for the other services: a host and a port.
func (s *System) Internal(service string, i int) string { return s.replicas[service][i].Internal }

// Memory returns how much memory a replica's process has resident, in KiB, and how much it had at most.
func (s *System) Memory(t testing.TB, service string, i int) (resident, peak int) {
	t.Helper()
	p, err := procfs.NewProc(s.replicas[service][i].process.PID())
	errortest.None(t, err)
	status, err := p.NewStatus()
	errortest.None(t, err)
	return int(status.VmRSS >> 10), int(status.VmHWM >> 10)
}

// Metrics returns the metrics of one replica of a service, in the format of Prometheus.
func (s *System) Metrics(t testing.TB, service string, i int) string {
	t.Helper()
	_, text := s.Probe(t, service, i, "/metrics")
	return text
}

// Probe returns what a path of a replica's health listener answers.
func (s *System) Probe(t testing.TB, service string, i int, path string) (code int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		"http://"+s.replicas[service][i].Health+path, nil)
	errortest.None(t, err)
	answer, err := http.DefaultClient.Do(request)
	errortest.None(t, err)
	text, err := io.ReadAll(answer.Body)
	errortest.None(t, errors.Join(err, answer.Body.Close()))
	return answer.StatusCode, string(text)
}

// Logs returns the output of all services so far.
func (s *System) Logs() string {
	var all strings.Builder
	for _, replicas := range s.replicas {
		for _, r := range replicas {
			all.WriteString(r.log.String())
		}
	}
	return all.String()
}

// complaints returns the lines of the logs that are not routine.
func (s *System) complaints() string {
	var lines strings.Builder
	for line := range strings.Lines(s.Logs()) {
		if !strings.Contains(line, `"level":"INFO"`) && !strings.Contains(line, `"level":"DEBUG"`) {
			lines.WriteString(line)
		}
	}
	return lines.String()
}

// replica is one process of a service.
type replica struct {
	*fleet.Replica
	log     output.Buffer
	process *process.Process // nil before the first start
}

// start returns once the process is ready.
func (r *replica) start() error {
	command := r.Command()
	command.Stdout, command.Stderr = &r.log, &r.log
	p, err := process.Start(command)
	if err != nil {
		return err
	}
	r.process = p
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := p.Await(ctx, r.Ready); err != nil {
		return fmt.Errorf("%s is not ready: %w", r.Service, err)
	}
	return nil
}

func (r *replica) stop(signal syscall.Signal) error {
	if r.process == nil {
		return nil
	}
	return r.process.Stop(signal, stopTimeout)
}
