package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/deploy/local/stores"
	"github.com/belfry-schools/belfry/pkg/frontdoor"
	"github.com/belfry-schools/belfry/pkg/frontdoor/fleet"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/receivers"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
)

const (
	startTimeout = 2 * time.Minute
	stopTimeout  = 20 * time.Second
	// deadline is that of a request, the services' default.
	deadline = 10 * time.Second
	database = "endure"
)

// system is Belfry with stores of its own behind proxies that can break. Every process is kept running.
type system struct {
	url   string // of the front door
	admin string // the first administrator's uuid
	root  string // of the checkout
	dir   string // of data and logs
	kept  bool   // dir was given, so it stays

	stores   *stores.Running
	wires    map[string]*storetest.Line // by what is behind each
	fleet    []*replica
	endpoint *receivers.Endpoint
	stops    []func() error

	newer, older release // older has no name where only one release runs

	client *mongo.Client // past the proxies
	db     *mongo.Database
	redis  *redis.Client // past the proxies

	replicaSet bool // MONGODB_URI names a real one, which is stepped down, and neither killed nor cut off
}

// startSystem starts the stores, the proxies, the services, the front door and a webhook's endpoint.
func startSystem(ctx context.Context, o arguments, console *console) (_ *system, err error) {
	s := &system{admin: uuid.NewString(), dir: o.dir, kept: o.dir != "", wires: map[string]*storetest.Line{},
		newer: release{name: "newer"}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop(ctx.Err() != nil))
		}
	}()
	if s.root, err = checkout.Root(); err != nil {
		return nil, err
	}
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "endure-"); err != nil {
			return nil, err
		}
	}
	if s.replicaSet, err = namesReplicaSet(ctx, os.Getenv("MONGODB_URI")); err != nil {
		return nil, err
	}
	if !s.replicaSet {
		if err := os.Unsetenv("MONGODB_URI"); err != nil {
			return nil, err
		}
	}
	if err := os.Unsetenv("REDIS_URL"); err != nil { // Redis is set back, so it is the run's own
		return nil, err
	}
	console.line("building and starting")
	s.stores, err = stores.Start(ctx, stores.Options{Checkout: s.root, Dir: filepath.Join(s.dir, "stores")})
	if err != nil {
		return nil, err
	}
	s.atStop(s.stores.Stop)
	if s.endpoint, err = receivers.StartEndpoint(receivers.EndpointOptions{}); err != nil {
		return nil, err
	}
	s.atStop(func() error { s.endpoint.Close(); return nil })
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	if err := s.build(ctx, o.older); err != nil {
		return nil, err
	}
	return s, s.launch(ctx, o.replicas)
}

// namesReplicaSet reports whether a MongoDB is a replica set with a primary to step down.
func namesReplicaSet(ctx context.Context, uri string) (bool, error) {
	if uri == "" {
		return false, nil
	}
	client, err := mongostore.Connect(ctx, uri, mongostore.Options{AppName: "belfry-endure"})
	if err != nil {
		return false, err
	}
	defer client.Disconnect(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is in progress on it
	var hello struct {
		SetName string `bson:"setName"`
		Hosts   []string
	}
	err = client.Database("admin").RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Decode(&hello)
	return hello.SetName != "" && len(hello.Hosts) > 1, err
}

// connect opens connections to the stores that no fault of a proxy concerns.
func (s *system) connect(ctx context.Context) error {
	var err error
	if s.client, err = mongostore.Connect(ctx, s.stores.MongoURI,
		mongostore.Options{AppName: "belfry-endure"}); err != nil {
		return err
	}
	s.db = s.client.Database(database)
	s.atStop(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		if s.replicaSet {
			return errors.Join(s.db.Drop(ctx), s.client.Disconnect(ctx))
		}
		return s.client.Disconnect(ctx)
	})
	options, err := redis.ParseURL(s.stores.RedisURL)
	if err != nil {
		return err
	}
	logging.Disable() // of each connection that it does not get
	s.redis = redis.NewClient(options)
	s.atStop(s.redis.Close)
	return nil
}

// build builds the front door and the services, and those of the previous release if its commit is given.
func (s *system) build(ctx context.Context, older string) error {
	packages := fleet.Packages(names.WithData())
	s.newer.bin = filepath.Join(s.dir, "bin")
	err := checkout.Build(ctx, s.newer.bin+string(filepath.Separator), append(packages, "./tilt/frontdoor")...)
	if err != nil || older == "" {
		return err
	}
	s.older, err = buildCommit(ctx, s.root, older, filepath.Join(s.dir, "older"), packages)
	return err
}

// replica is a process of a service, kept running while keeper is there.
type replica struct {
	*fleet.Replica
	name    string
	release release
	keeper  *process.Keeper
}

// launch starts the services and the front door, and waits until they are ready. With a previous release, only its
// services are started.
func (s *system) launch(ctx context.Context, replicas int) error {
	first := s.newer
	releases := []release{s.newer}
	if s.older.name != "" {
		first, releases = s.older, append(releases, s.older)
	}
	for _, service := range names.WithData() {
		for _, of := range releases {
			for i := range replicas {
				r := &fleet.Replica{Service: service, Program: filepath.Join(of.bin, service)}
				s.fleet = append(s.fleet, &replica{Replica: r, release: of,
					name: service + "-" + of.name + "-" + strconv.Itoa(i+1)})
			}
		}
	}
	variables, err := s.variables()
	if err != nil {
		return err
	}
	all := sequence.Map(s.fleet, func(r *replica) *fleet.Replica { return r.Replica })
	plan, err := fleet.New(fleet.Options{Replicas: all, Variables: variables, Through: s.through})
	if err != nil {
		return err
	}
	s.atStop(func() error { plan.Close(); return nil })
	addresses, err := frontdoor.Addresses(1)
	if err != nil {
		return err
	}
	s.url = "http://" + addresses[0]
	arguments := []string{"-listen", addresses[0]}
	for _, r := range s.fleet {
		arguments = append(arguments, r.Service+"="+r.Public)
	}
	s.atStop(func() error { return errors.Join(s.end(s.newer), s.end(s.older)) })
	door := s.keep("frontdoor", func() *exec.Cmd {
		command := exec.Command(filepath.Join(s.newer.bin, "frontdoor"), arguments...)
		command.Dir = s.root
		return command
	})
	s.atStop(door.Stop)
	if err := s.start(ctx, first); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return door.Await(ctx, process.Serves(s.url+"/api/openapi.json"))
}

// start starts the processes of a release, and waits until they are ready.
func (s *system) start(ctx context.Context, of release) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for _, r := range s.fleet {
		if r.release == of {
			r.keeper = s.keep(r.name, r.Command)
		}
	}
	for _, r := range s.fleet {
		if r.release != of {
			continue
		}
		if err := r.keeper.Await(ctx, r.Ready); err != nil {
			return fmt.Errorf("%s is not ready; the logs are in %s: %w", r.name, s.dir, err)
		}
	}
	return nil
}

// end stops the processes of a release, one after the other.
func (s *system) end(of release) error {
	var faults []error
	for _, r := range slices.Backward(s.fleet) {
		if r.release == of && r.keeper != nil {
			faults = append(faults, r.keeper.Stop())
			r.keeper = nil
		}
	}
	return errors.Join(faults...)
}

// through returns the address of a wire to what is at an address.
func (s *system) through(name, address string) (string, error) {
	wire, near, err := storetest.NewLine(address)
	if err == nil {
		s.wires[name] = wire
		s.atStop(func() error { wire.Cut(); return nil })
	}
	return near, err
}

// variables returns what all services share. They reach the stores through proxies.
func (s *system) variables() ([]string, error) {
	mongoURI, redisURL := s.stores.MongoURI, s.stores.RedisURL
	var err error
	if !s.replicaSet { // the driver asks a replica set itself for its members' addresses
		if mongoURI, err = s.through("the document store", mongoURI); err != nil {
			return nil, err
		}
	}
	if redisURL, err = s.through("Redis", redisURL); err != nil {
		return nil, err
	}
	return []string{
		"MONGODB_URI=" + mongoURI, "MONGODB_DATABASE=" + database, "REDIS_URL=" + redisURL,
		"BELFRY_INTERNAL_TOKEN=" + uuid.NewString() + uuid.NewString(), "BOOTSTRAP_ADMIN_UUID=" + s.admin,
		"BELFRY_TRUSTED_PROXIES=127.0.0.0/8",
		"BELFRY_REQUEST_TIMEOUT=" + deadline.String(), "BELFRY_WEBHOOK_NETWORKS=127.0.0.0/8",
		"BELFRY_PUBLIC_URL=https://belfry.school.example", "BELFRY_CLASH_NOTES_AT=",
	}, nil
}

// keep keeps a program running, with its output in a file.
func (s *system) keep(name string, command func() *exec.Cmd) *process.Keeper {
	return process.Keep(process.KeeperOptions{
		Command: command,
		Log: func() (io.WriteCloser, error) {
			return os.OpenFile(filepath.Join(s.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		},
		Patience:   stopTimeout,
		FirstPause: 200 * time.Millisecond, LongestPause: 5 * time.Second, Steady: 5 * time.Second, Tries: 10,
	})
}

// storesAnswer reports whether both stores answer, asked past the proxies.
func (s *system) storesAnswer(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if s.redis.Ping(ctx).Err() != nil {
		return false
	}
	// a write: a database that recovers may read already
	_, err := s.db.Collection("endure").InsertOne(ctx, bson.D{{Key: "at", Value: time.Now()}})
	return err == nil
}

// stop stops everything that was started, the last first. The folder stays, for its logs, unless the run has passed or
// was interrupted.
func (s *system) stop(over bool) error {
	var faults []error
	for _, stop := range slices.Backward(s.stops) {
		faults = append(faults, stop())
	}
	if over && !s.kept && s.dir != "" {
		faults = append(faults, os.RemoveAll(s.dir))
	}
	return errors.Join(faults...)
}

// atStop makes stop call a function.
func (s *system) atStop(do func() error) { s.stops = append(s.stops, do) }
