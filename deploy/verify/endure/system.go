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
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/deploy/dev/stores"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/process"
	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/frontdoor"
	"github.com/belfry-schools/belfry/pkg/testing/receivers"
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
	wires    *wires
	keepers  []*process.Keeper
	endpoint *receivers.Endpoint
	health   []string // addresses of the health listeners

	client *mongo.Client // past the proxies
	db     *mongo.Database
	redis  *redis.Client // past the proxies

	replicaSet bool // MONGODB_URI names a real one, which is stepped down, and neither killed nor cut off
}

// startSystem starts the stores, the proxies, the services, the front door and a webhook's endpoint.
func startSystem(ctx context.Context, o arguments, console *console) (_ *system, err error) {
	s := &system{admin: uuid.NewString(), dir: o.dir, kept: o.dir != "", wires: newWires()}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop(false))
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
	if s.endpoint, err = receivers.StartEndpoint(receivers.EndpointOptions{}); err != nil {
		return nil, err
	}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	if err := s.build(ctx); err != nil {
		return nil, err
	}
	if err := s.launch(ctx, o.replicas); err != nil {
		return nil, err
	}
	return s, nil
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
	options, err := redis.ParseURL(s.stores.RedisURL)
	if err != nil {
		return err
	}
	logging.Disable() // of each connection that it does not get
	s.redis = redis.NewClient(options)
	return nil
}

// build builds the services and the front door into the run's folder.
func (s *system) build(ctx context.Context) error {
	packages := []string{"./deploy/dev/tilt/frontdoor"}
	for _, name := range names.All() {
		packages = append(packages, "./services/"+name+"/cmd/"+name)
	}
	return checkout.Build(ctx, filepath.Join(s.dir, "bin")+string(filepath.Separator), packages...)
}

// replica is a process of a service.
type replica struct {
	service, name            string
	public, internal, health string // host:port
}

// launch starts the services and the front door, and waits until they are ready.
func (s *system) launch(ctx context.Context, replicas int) error {
	all := names.All()
	addresses, err := frontdoor.Addresses(3*replicas*len(all) + 1)
	if err != nil {
		return err
	}
	var fleet []replica
	for _, service := range all {
		for i := range replicas {
			a := addresses[3*len(fleet):]
			fleet = append(fleet, replica{service, service + "-" + strconv.Itoa(i+1), a[0], a[1], a[2]})
		}
	}
	shared, err := s.environment(fleet)
	if err != nil {
		return err
	}
	door := addresses[len(addresses)-1]
	s.url = "http://" + door
	arguments := []string{"-listen", door}
	for _, r := range fleet {
		s.health = append(s.health, r.health)
		arguments = append(arguments, r.service+"="+r.public)
		s.keep(r.name, append(slices.Clone(shared), "BELFRY_LISTEN="+r.public, "BELFRY_INTERNAL_LISTEN="+r.internal,
			"BELFRY_HEALTH_LISTEN="+r.health), filepath.Join(s.dir, "bin", r.service))
	}
	s.keep("frontdoor", os.Environ(), filepath.Join(s.dir, "bin", "frontdoor"), arguments...)
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for i, k := range s.keepers {
		ready := process.Serves(s.url + "/api/openapi.json")
		if i < len(s.health) {
			ready = process.Serves("http://" + s.health[i] + "/readyz")
		}
		if err := k.Await(ctx, ready); err != nil {
			return fmt.Errorf("a process is not ready; the logs are in %s: %w", s.dir, err)
		}
	}
	return nil
}

// environment returns what all services share. They reach the stores and each other through proxies.
func (s *system) environment(fleet []replica) ([]string, error) {
	mongoURI, redisURL := s.stores.MongoURI, s.stores.RedisURL
	var err error
	if !s.replicaSet { // the driver asks a replica set itself for its members' addresses
		if mongoURI, err = s.wires.through("the document store", mongoURI); err != nil {
			return nil, err
		}
	}
	if redisURL, err = s.wires.through("Redis", redisURL); err != nil {
		return nil, err
	}
	shared := append(os.Environ(),
		"MONGODB_URI="+mongoURI, "MONGODB_DATABASE="+database, "REDIS_URL="+redisURL,
		"BELFRY_INTERNAL_TOKEN="+uuid.NewString()+uuid.NewString(), "BOOTSTRAP_ADMIN_UUID="+s.admin,
		"BELFRY_SECURE_COOKIES=false", "BELFRY_DRAIN_DELAY=0s", "BELFRY_TRUSTED_PROXIES=127.0.0.0/8",
		"BELFRY_REQUEST_TIMEOUT="+deadline.String(), "BELFRY_WEBHOOK_NETWORKS=127.0.0.0/8",
		"BELFRY_PUBLIC_URL=https://belfry.school.example", "BELFRY_CLASH_NOTES_AT=")
	seen := map[string]bool{}
	for _, r := range fleet {
		if seen[r.service] {
			continue
		}
		seen[r.service] = true
		address, err := s.wires.through(r.service, "http://"+r.internal)
		if err != nil {
			return nil, err
		}
		shared = append(shared, "BELFRY_"+strings.ToUpper(r.service)+"_URL="+address)
	}
	return shared, nil
}

// keep keeps a program running, with its output in a file.
func (s *system) keep(name string, environment []string, program string, arguments ...string) {
	s.keepers = append(s.keepers, process.Keep(process.KeeperOptions{
		Command: func() *exec.Cmd {
			command := exec.Command(program, arguments...)
			command.Env, command.Dir = environment, s.root
			return command
		},
		Log: func() (io.WriteCloser, error) {
			return os.OpenFile(filepath.Join(s.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		},
		Patience:   stopTimeout,
		FirstPause: 200 * time.Millisecond, LongestPause: 5 * time.Second, Steady: 5 * time.Second, Tries: 10,
	}))
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

// stop stops everything. The folder stays when the run failed, for its logs.
func (s *system) stop(passed bool) error {
	var faults []error
	for _, k := range slices.Backward(s.keepers) {
		faults = append(faults, k.Stop())
	}
	if s.endpoint != nil {
		s.endpoint.Close()
	}
	s.wires.stop()
	if s.client != nil {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		if s.replicaSet {
			faults = append(faults, s.db.Drop(ctx))
		}
		faults = append(faults, s.client.Disconnect(ctx))
	}
	if s.redis != nil {
		faults = append(faults, s.redis.Close())
	}
	if s.stores != nil {
		faults = append(faults, s.stores.Stop())
	}
	if passed && !s.kept && s.dir != "" {
		faults = append(faults, os.RemoveAll(s.dir))
	}
	return errors.Join(faults...)
}
