package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/cmd/belfryctl/demo"
	"github.com/belfry-schools/belfry/cmd/belfryctl/wholefile"
	"github.com/belfry-schools/belfry/pkg/importer/load"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
)

// loadedFile is written when a school is loaded whole.
const loadedFile = "loaded"

// importer is the program that loads a school.
const importer = "belfryctl"

// loading is how the import of the school went. It is kept beside the school's data.
type loading struct {
	Records   int
	Seconds   float64
	Peak      int                // bytes of belfryctl at most
	Processor map[string]float64 // seconds by kind of process
	Logins    []demo.Login       // of the school
}

// stored is how large the school's data is.
type stored struct {
	collections []collection
	disk, redis int64 // bytes
}

// collection is what the document store says of one: bytes but for the documents.
type collection struct {
	name      string
	Documents int64 `bson:"count"`
	Size      int64 `bson:"size"`
	Stored    int64 `bson:"storageSize"`
	Indexes   int64 `bson:"totalIndexSize"`
}

// of returns how many documents a collection has.
func (s stored) of(name string) int64 {
	for _, c := range s.collections {
		if c.name == name {
			return c.Documents
		}
	}
	return 0
}

// load imports the demo school with belfryctl, unless it is there.
func (s *school) load(ctx context.Context) error {
	done := filepath.Join(s.dir, loadedFile)
	if err := wholefile.ReadJSON(done, &s.loaded); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir := filepath.Join(s.dir, "bundle")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	made, err := demo.Generate(dir, demo.Options{
		Pupils: s.options.Pupils, Years: s.options.Years, Schools: s.options.Schools, Seed: s.options.seed,
		LastYear: demo.DefaultLastYear,
	})
	if err != nil {
		return err
	}
	s.loaded.Logins = made.Logins
	if err := s.importBundle(ctx, dir); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(dir), wholefile.WriteJSON(done, s.loaded))
}

// importBundle runs belfryctl, and records its time and memory.
func (s *school) importBundle(ctx context.Context, dir string) error {
	program := filepath.Join(s.scratch, importer)
	if err := checkout.Build(ctx, program, "./cmd/belfryctl"); err != nil {
		return err
	}
	before, err := processorTime()
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, program, "import", dir, "--url", s.local.URL, "--timezone", zoneName, "-o=json")
	command.Env = append(os.Environ(), "BELFRY_UUID="+s.admin)
	var faults bytes.Buffer
	command.Stderr = &faults
	begun := time.Now()
	printed, err := command.Output()
	if err != nil {
		return fmt.Errorf("belfryctl import: %w\n%s%s", err, &faults, printed)
	}
	s.loaded.Seconds = time.Since(begun).Seconds()
	if err := s.listed(ctx); err != nil {
		return err
	}
	after, err := processorTime()
	if err != nil {
		return err
	}
	s.loaded.Processor = used(before, after)
	state := command.ProcessState
	s.loaded.Processor[importer] = (state.UserTime() + state.SystemTime()).Seconds()
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		s.loaded.Peak = int(usage.Maxrss) << 10
	}
	var outcome struct{ Kinds []load.Tally }
	if err := json.Unmarshal(printed, &outcome); err != nil {
		return fmt.Errorf("what belfryctl printed: %w", err)
	}
	for _, kind := range outcome.Kinds {
		s.loaded.Records += kind.Created + kind.Updated + kind.Unchanged
	}
	return nil
}

// listTimeout bounds how long the services may take until all that was imported is in their lists of changes.
const listTimeout = 10 * time.Minute

// listed returns when what was imported is in the lists of changes: that work is the import's, too.
func (s *school) listed(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	for {
		_, _, err := s.client.Changes(ctx, "")
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}

// size returns how large the data is.
func (s *school) size(ctx context.Context) (stored, error) {
	c, err := mongo.Connect(options.Client().ApplyURI(s.stores.MongoURI))
	if err != nil {
		return stored{}, err
	}
	defer func() { _ = c.Disconnect(ctx) }() // it has told what it knows
	var size stored
	db := c.Database(s.database)
	names, err := db.ListCollectionNames(ctx, bson.D{})
	if err != nil {
		return stored{}, err
	}
	slices.Sort(names)
	for _, name := range names {
		one := collection{name: name}
		if err := db.RunCommand(ctx, bson.D{{Key: "collStats", Value: name}}).Decode(&one); err != nil {
			return stored{}, fmt.Errorf("the size of %s: %w", name, err)
		}
		size.collections = append(size.collections, one)
	}
	fields, err := redisInfo(ctx, s.stores.RedisURL, "memory")
	if err != nil {
		return stored{}, err
	}
	if size.redis, err = strconv.ParseInt(fields["used_memory"], 10, 64); err != nil {
		return stored{}, fmt.Errorf("used_memory of Redis: %w", err)
	}
	return size, filepath.WalkDir(filepath.Join(s.dir, "stores"), func(_ string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // removed while it was listed
			return nil
		}
		if err != nil || entry.IsDir() {
			return err
		}
		if info, err := entry.Info(); err == nil { // else it has gone
			size.disk += info.Size()
		}
		return nil
	})
}
