package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/deploy/local/localrun"
	"github.com/belfry-schools/belfry/deploy/local/stores"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
)

const (
	stopTimeout = time.Minute
	zoneName    = "Europe/London"
	userAgent   = "belfry-bench"
)

// school is a running deployment with a demo school.
type school struct {
	options   arguments
	database  string // of this size
	engine    string // the document store, with its version
	elsewhere bool   // the document store is at MONGODB_URI
	dir       string // of this size: its stores, bundle and logs
	scratch   string // of this run
	admin     string // the first administrator's uuid
	cookie    string // the name and value of its session
	client    *client.Client
	stores    *stores.Running
	local     *localrun.Run
	loaded    loading
}

// folder returns where the data of a school of this size is, below the checkout.
func (o arguments) folder(root string) string {
	return filepath.Join(root, ".local", "bench",
		fmt.Sprintf("%d-schools-of-%d-pupils-%d-years-seed-%d", o.Schools, o.Pupils, o.Years, o.seed))
}

// startSchool starts the stores and the services, and loads the school unless an earlier run did. The data stays in
// .local/bench, in a folder for each size.
func startSchool(ctx context.Context, o arguments, out io.Writer) (_ *school, err error) {
	root, err := checkout.Root()
	if err != nil {
		return nil, err
	}
	s := &school{options: o, dir: o.folder(root), database: "belfry"}
	if uri := os.Getenv("MONGODB_URI"); uri != "" { // data of several sizes, and of others, may be there
		if o.memory > 0 {
			return nil, errors.New("-memory is for a document store that this command starts, not for MONGODB_URI")
		}
		at := sha256.Sum256([]byte(s.dir + uri))
		s.elsewhere, s.database = true, "belfry_bench_"+hex.EncodeToString(at[:4])
		s.dir += "-in-" + s.database
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop())
		}
	}()
	if o.fresh {
		if err := os.RemoveAll(s.dir); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return nil, err
	}
	if s.scratch, err = os.MkdirTemp(s.dir, "run-"); err != nil {
		return nil, err
	}
	// a run has a Redis and an administrator of its own, and a document store unless MONGODB_URI names one
	for _, name := range []string{"REDIS_URL", "BOOTSTRAP_ADMIN_UUID"} {
		if err := os.Unsetenv(name); err != nil {
			return nil, err
		}
	}
	s.stores, err = stores.Start(ctx, stores.Options{
		Checkout: root, Dir: filepath.Join(s.dir, "stores"), Out: out, DatabaseMemory: o.memory,
	})
	if err != nil {
		return nil, err
	}
	if s.engine, err = s.prepareDatabase(ctx); err != nil {
		return nil, err
	}
	if err := s.startServices(ctx, root); err != nil {
		return nil, err
	}
	if s.client, err = client.New(s.local.URL, client.Options{UserAgent: userAgent}); err != nil {
		return nil, err
	}
	if err := s.client.Login(ctx, s.admin); err != nil {
		return nil, err
	}
	if err := s.load(ctx); err != nil {
		return nil, fmt.Errorf("load the school: %w", err)
	}
	s.cookie, err = s.client.Cookie()
	return s, err
}

// prepareDatabase returns the name and version of the document store. It drops the run's own database where no school
// was loaded whole.
func (s *school) prepareDatabase(ctx context.Context) (engine string, err error) {
	client, err := mongo.Connect(options.Client().ApplyURI(s.stores.MongoURI))
	if err != nil {
		return "", errors.New("MONGODB_URI is not an address of MongoDB") // the driver's error repeats it
	}
	defer func() { err = errors.Join(err, client.Disconnect(ctx)) }()
	if engine, err = engineOf(ctx, client); err != nil {
		return "", fmt.Errorf("ask the document store for its version: %w", err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, loadedFile)); errors.Is(err, fs.ErrNotExist) && s.elsewhere {
		return engine, client.Database(s.database).Drop(ctx)
	}
	return engine, nil
}

// startServices starts the local run, which builds the services and makes the first administrator's uuid.
func (s *school) startServices(ctx context.Context, root string) error {
	binary := filepath.Join(s.scratch, "local")
	if err := localrun.Build(ctx, binary); err != nil {
		return err
	}
	command := localrun.Command(binary, s.dir, "DEMO=false", "MONGODB_DATABASE="+s.database,
		"MONGODB_URI="+s.stores.MongoURI, "REDIS_URL="+s.stores.RedisURL, "BELFRY_TIMEZONE="+zoneName)
	command.Dir = root
	var err error
	if s.local, err = localrun.Start(ctx, command); err != nil {
		return err
	}
	admin, err := os.ReadFile(filepath.Join(s.dir, "admin-uuid"))
	s.admin = strings.TrimSpace(string(admin))
	return err
}

// stop stops what was started, and removes what only this run needed.
func (s *school) stop() error {
	var faults []error
	if s.local != nil {
		faults = append(faults, s.local.Stop())
	}
	if s.stores != nil {
		faults = append(faults, s.stores.Stop())
	}
	if s.scratch != "" {
		faults = append(faults, os.RemoveAll(s.scratch))
	}
	return errors.Join(faults...)
}
