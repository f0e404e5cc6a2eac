package stores

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
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

// TestMain is also the program that Up starts in the background.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == SuperviseCommand {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		if err := Supervise(ctx, Options{Checkout: ".", Dir: os.Args[2], Out: os.Stdout}); err != nil {
			fmt.Println("stores:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

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

	t.Run("down leaves them to their process", func(t *testing.T) {
		err := Down(t.Context(), o)
		errortest.Says(t, err, fmt.Sprintf("run by process %d", os.Getpid()), "a folder that is in use")
		w.assertAllThere(t)
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
	if pid == 0 {
		t.Fatalf("%s does not run", k.name)
	}
	errortest.None(t, syscall.Kill(pid, syscall.SIGKILL))
	return pid
}

// assertNothingLeft fails the test unless no process has the folder's lock open, nothing is mounted below it, and
// no record says that stores run.
func assertNothingLeft(t *testing.T, dir string) {
	t.Helper()
	pids, err := openers(filepath.Join(dir, childrenFile))
	if err != nil || len(pids) > 0 {
		t.Errorf("processes %v are left (%v), want none", pids, err)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	errortest.None(t, err)
	valuetest.Lacks(t, string(mounts), rootName, "mounts are left")
	errortest.Is(t, errortest.Of(readRecord(dir)), errNotRunning, "the record of what runs")
}

func TestStoresInTheBackground(t *testing.T) {
	o := ground(t)
	t.Setenv("PATH", pathWithout(t, "redis-server")) // so Redis is Debian's here
	t.Cleanup(func() {
		errortest.Report(t, Down(context.Background(), o))
	})
	first := upAtOnce(t, o)
	w := &writer{documents: connect(t, first.MongoURI), keys: storetest.RedisAt(t, first.RedisURL)}
	writeSome := func(t *testing.T) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), healing)
		defer cancel()
		for range 20 {
			errortest.None(t, w.write(ctx))
		}
	}
	writeSome(t)

	t.Run("up again changes nothing", func(t *testing.T) {
		valuetest.Same(t, up(t, o), first, "the second up gave")
	})

	t.Run("status names no fault", func(t *testing.T) {
		errortest.Report(t, Status(t.Context(), o))
	})

	t.Run("when their keeper is killed they end, and up brings them back", func(t *testing.T) {
		killAll(t, o.Dir, first.Keeper)
		second := up(t, o)
		if second.Keeper == first.Keeper {
			t.Errorf("the keeper is still process %d", first.Keeper)
		}
		if second.MongoURI != first.MongoURI || second.RedisURL != first.RedisURL {
			t.Errorf("the addresses are %+v, want those of before, %+v", second, first)
		}
		w.assertAllThere(t)
		writeSome(t)
	})

	t.Run("everything killed at once", func(t *testing.T) {
		rec, err := find(o)
		errortest.None(t, err)
		pids, err := openers(filepath.Join(o.Dir, childrenFile))
		if err != nil || len(pids) < 3 {
			t.Fatalf("the processes are %v (%v), want three and more", pids, err)
		}
		killAll(t, o.Dir, append(pids, rec.Keeper)...)
		// What a machine that crashed during a set-up leaves as well.
		errortest.None(t, os.MkdirAll(filepath.Join(o.Dir, "postgres", "data.draft", "base"), 0o700))
		errortest.None(t, os.WriteFile(filepath.Join(o.Dir, "ports.json.part"), []byte("{"), 0o644))
		up(t, o)
		w.assertAllThere(t)
		writeSome(t)
	})

	t.Run("down ends all of them, and up finds the data", func(t *testing.T) {
		for range 2 { // the second time there is nothing to end
			errortest.None(t, Down(t.Context(), o))
			assertNothingLeft(t, o.Dir)
		}
		errortest.Is(t, Status(t.Context(), o), errNotRunning, "status when they do not run")
		up(t, o)
		w.assertAllThere(t)
	})
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
	mine, err := lockDir(dir, true)
	errortest.None(t, err)
	t.Cleanup(func() { _ = mine.release() })
	errortest.None(t, errors.Join(mine.own.Truncate(0), writeAt(mine.own, fmt.Sprintf("%d true\n", killed)),
		writeRecord(dir, Record{Keeper: killed})))
	if upAfter(dir, killed) {
		t.Error("the killed keeper counts as the new one")
	}
	errortest.None(t, errors.Join(writeAt(mine.own, fmt.Sprintf("%d true\n", os.Getpid())),
		writeRecord(dir, Record{Keeper: os.Getpid()})))
	if !upAfter(dir, killed) {
		t.Error("the new keeper does not count")
	}
}

// upAtOnce calls Up several times at once; one of the calls starts the stores.
func upAtOnce(t *testing.T, o Options) Record {
	t.Helper()
	const several = 3
	var wg sync.WaitGroup
	records, faults := make([]Record, several), make([]error, several)
	for i := range several {
		wg.Go(func() { records[i], faults[i] = Up(t.Context(), o) })
	}
	wg.Wait()
	for i := range several {
		if faults[i] != nil || records[i] != records[0] {
			t.Fatalf("the ups at once gave %+v and %v, want one pair of stores for all", records, faults)
		}
	}
	return records[0]
}

func up(t *testing.T, o Options) Record {
	t.Helper()
	rec, err := Up(t.Context(), o)
	errortest.None(t, err)
	return rec
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
