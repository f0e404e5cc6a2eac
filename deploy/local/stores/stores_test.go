package stores

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// healing is how long stores may take to answer again after one of their processes was killed.
const healing = 20 * time.Second

// ground returns options for the test's own stores. The folder's path is longer than a socket's may be.
func ground(t *testing.T) Options {
	t.Helper()
	for _, name := range []string{"MONGODB_URI", "REDIS_URL", "STORES_MONGO_PORT", "STORES_REDIS_PORT"} {
		t.Setenv(name, "")
	}
	root := checkout.Folder(t)
	return Options{Checkout: root, Dir: filepath.Join(t.TempDir(), strings.Repeat("a long way down/", 8), "stores"),
		Out: t.Output()}
}

func connect(t *testing.T, uri string) *mongo.Collection {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(uri).SetServerSelectionTimeout(healing))
	errortest.None(t, err)
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return client.Database("belfry_stores_test").Collection("acknowledged")
}

// writer writes one number after another into both stores until it is stopped. It repeats writes that were not
// acknowledged, and records those that were.
type writer struct {
	documents *mongo.Collection
	keys      *redis.Client
	next      int64
}

func (w *writer) write(ctx context.Context) error {
	w.next++
	for {
		_, err := w.documents.InsertOne(ctx, bson.D{{Key: "_id", Value: w.next}})
		if err == nil || mongo.IsDuplicateKeyError(err) { // written, but the acknowledgement was lost
			break
		}
		if ctx.Err() != nil {
			return fmt.Errorf("document %d: %w", w.next, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	for {
		err := w.keys.SAdd(ctx, "acknowledged", w.next).Err()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("Redis member %d: %w", w.next, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// assertAllThere fails the test unless every acknowledged write can be read.
func (w *writer) assertAllThere(t *testing.T) {
	t.Helper()
	if n, err := w.documents.CountDocuments(t.Context(), bson.D{}); n != w.next || err != nil {
		t.Errorf("%d documents are there (%v), want the %d acknowledged", n, err, w.next)
	}
	if n, err := w.keys.SCard(t.Context(), "acknowledged").Result(); n != w.next || err != nil {
		t.Errorf("%d members are in Redis (%v), want the %d acknowledged", n, err, w.next)
	}
}

func TestStoresHealWhenAProcessIsKilled(t *testing.T) {
	o := ground(t)
	r, err := Start(t.Context(), o)
	errortest.None(t, err)
	t.Cleanup(func() {
		errortest.Report(t, r.Stop())
		assertNothingLeft(t, o.Dir)
	})
	w := &writer{documents: connect(t, r.MongoURI), keys: storetest.RedisAt(t, r.RedisURL)}
	for _, k := range r.keepers {
		t.Run(k.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), healing)
			defer cancel()
			before := kill(t, k)
			for range 50 {
				errortest.None(t, w.write(ctx), "%s does not heal", k.name)
			}
			if after := pidOf(t, k); after == before {
				t.Errorf("%s is still process %d, want a new one", k.name, before)
			}
			w.assertAllThere(t)
		})
	}

	t.Run("a second start attaches", func(t *testing.T) {
		second, err := Start(t.Context(), o)
		errortest.None(t, err)
		if !second.Attached || second.MongoURI != r.MongoURI || second.RedisURL != r.RedisURL {
			t.Errorf("the second start gave %+v, want the stores of the first, attached", second)
		}
		errortest.Report(t, second.Stop())
		w.assertAllThere(t) // Stop of the second left them alone
	})
}

// pidOf returns the id of the program's process, which writes to the program's log; 0 between two.
func pidOf(t *testing.T, k kept) int {
	t.Helper()
	below, err := process.Below(os.Getpid())
	errortest.None(t, err)
	for _, stat := range below { // those that it has started come after it
		if path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/1", stat.PID)); err == nil && path == k.logPath {
			return stat.PID
		}
	}
	return 0
}

// kill ends the keeper's process as the kernel would for want of memory, and returns its id.
func kill(t *testing.T, k kept) int {
	t.Helper()
	pid := pidOf(t, k)
	valuetest.MustHold(t, pid != 0, "%s does not run", k.name)
	errortest.None(t, syscall.Kill(pid, syscall.SIGKILL))
	return pid
}

// assertNothingLeft fails the test unless no process has the folder's lock open, nothing is mounted below it, and
// no record says that stores run.
func assertNothingLeft(t *testing.T, dir string) {
	t.Helper()
	pids, err := openers(filepath.Join(dir, childrenFile))
	valuetest.Holds(t, err == nil && len(pids) == 0, "processes %v are left (%v), want none", pids, err)
	mounts, err := os.ReadFile("/proc/self/mounts")
	errortest.None(t, err)
	valuetest.Lacks(t, string(mounts), rootName, "mounts are left")
	errortest.Is(t, errortest.Of(readRecord(dir)), errNotRunning, "the record of what runs")
}

// runStores starts the command for a folder, and returns the addresses that it prints.
func runStores(t *testing.T, program string, o Options) (keeper *process.Process, addresses string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "addresses")
	printed, err := os.Create(out)
	errortest.None(t, err)
	defer printed.Close() //nolint:errcheck // written by the process, not by us
	run := exec.Command(program)
	run.Dir, run.Stdout, run.Stderr = o.Checkout, printed, t.Output()
	run.Env = append(os.Environ(), "STORES_DIR="+o.Dir)
	keeper, err = process.Start(run)
	errortest.None(t, err)
	t.Cleanup(func() { errortest.Report(t, keeper.Stop(syscall.SIGINT, startPatience)) })
	errortest.None(t, keeper.Await(t.Context(), func(context.Context) bool {
		text, err := os.ReadFile(out)
		addresses = string(text)
		return err == nil && strings.Contains(addresses, "REDIS_URL")
	}))
	return keeper, addresses
}

func TestTheCommandRunsTheStoresUntilItIsInterrupted(t *testing.T) {
	o := ground(t)
	t.Setenv("PATH", pathWithout(t, "redis-server")) // so Redis is Debian's here
	program := filepath.Join(t.TempDir(), "stores")
	errortest.None(t, checkout.Build(t.Context(), program, "./deploy/local/stores/cmd/stores"))
	keeper, addresses := runStores(t, program, o)
	rec, err := readRecord(o.Dir)
	errortest.None(t, err)
	w := &writer{documents: connect(t, rec.MongoURI), keys: storetest.RedisAt(t, rec.RedisURL)}
	// stands fails the test unless the stores are at the same addresses, with all that was written, and takes more.
	stands := func(now string) {
		t.Helper()
		valuetest.Same(t, now, addresses, "the addresses")
		ctx, cancel := context.WithTimeout(t.Context(), healing)
		defer cancel()
		w.assertAllThere(t)
		for range 20 {
			errortest.None(t, w.write(ctx))
		}
	}
	stands(addresses)

	// Given a command, it attaches, and ends as that does.
	run := exec.Command(program, "sh", "-c", "echo $MONGODB_URI $REDIS_URL; exit $0", "3")
	run.Dir, run.Env, run.Stderr = o.Checkout, append(os.Environ(), "STORES_DIR="+o.Dir), t.Output()
	printed, err := run.Output()
	valuetest.Same(t, string(printed), rec.MongoURI+" "+rec.RedisURL+"\n", "the addresses for a command")
	valuetest.Holds(t, err != nil, "the command fails, and stores does not")
	stands(addresses)

	// When it is killed, the stores end, and the next one finds the data.
	killAll(t, o.Dir, keeper.PID())
	keeper, now := runStores(t, program, o)
	stands(now)

	// So it is when everything is killed at once.
	pids, err := openers(filepath.Join(o.Dir, childrenFile))
	valuetest.MustHold(t, err == nil && len(pids) >= 3, "the processes are %v (%v), want three and more", pids, err)
	killAll(t, o.Dir, append(pids, keeper.PID())...)
	// What a machine that crashed during a set-up leaves as well.
	errortest.None(t, os.MkdirAll(filepath.Join(o.Dir, "postgres", "data.draft", "base"), 0o700))
	errortest.None(t, os.WriteFile(filepath.Join(o.Dir, "ports.json.part"), []byte("{"), 0o644))
	keeper, now = runStores(t, program, o)
	stands(now)

	errortest.None(t, keeper.Stop(syscall.SIGINT, startPatience))
	assertNothingLeft(t, o.Dir)
	_, now = runStores(t, program, o)
	stands(now)
}

// TestStartsAtOnceShareOnePairOfStores: one of them starts the stores, and the others attach.
func TestStartsAtOnceShareOnePairOfStores(t *testing.T) {
	o := ground(t)
	const several = 3
	var wg sync.WaitGroup
	running, faults := make([]*Running, several), make([]error, several)
	for i := range several {
		wg.Go(func() { running[i], faults[i] = Start(t.Context(), o) })
	}
	wg.Wait()
	errortest.None(t, errors.Join(faults...))
	for _, r := range running {
		t.Cleanup(func() { errortest.Report(t, r.Stop()) })
		valuetest.Same(t, r.MongoURI+r.RedisURL, running[0].MongoURI+running[0].RedisURL, "the stores of each")
	}
}

// killAll kills processes, the keeper among them, and waits until the keeper has ended: a killed process lives a
// moment longer.
func killAll(t *testing.T, dir string, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL) // some end with others
	}
	timetest.Eventually(t, "the keeper ends", healing, func() bool {
		_, held := holder(dir)
		return !held
	})
}

// TestARecordOfAKilledKeeperIsNotTheNewOnes: between locking the folder and entering its own number, a new keeper shows
// the old one's.
func TestARecordOfAKilledKeeperIsNotTheNewOnes(t *testing.T) {
	const killed = 4_999_999 // above the kernel's numbers
	dir := t.TempDir()
	mine, err := lockDir(dir)
	errortest.None(t, err)
	t.Cleanup(func() { _ = mine.release() })
	errortest.None(t, errors.Join(mine.own.Truncate(0), writeAt(mine.own, strconv.Itoa(killed)),
		writeRecord(dir, record{Keeper: killed})))
	errortest.Is(t, errortest.Of(readRecord(dir)), errNotRunning, "the killed keeper's record")
	errortest.None(t, errors.Join(mine.own.Truncate(0), writeAt(mine.own, strconv.Itoa(os.Getpid())),
		writeRecord(dir, record{Keeper: os.Getpid()})))
	errortest.None(t, errortest.Of(readRecord(dir)))
}

// pathWithout returns a folder for PATH with links to all programs of the real PATH except the given one.
func pathWithout(t *testing.T, program string) string {
	t.Helper()
	bin := t.TempDir()
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // a PATH may name folders that are not there
		}
		for _, entry := range entries {
			if entry.Name() == program {
				continue
			}
			err := os.Symlink(filepath.Join(dir, entry.Name()), filepath.Join(bin, entry.Name()))
			if err != nil && !errors.Is(err, os.ErrExist) {
				t.Fatal(err)
			}
		}
	}
	return bin
}
