package directory_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/metrictest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// replica is one of several processes that keep a shelf of texts in memory. Its loads are counted.
type replica struct {
	versions *directory.Versions
	shelf    *directory.Shelf[string]
	derived  *directory.Derived[string]
	memory   *directory.Memory
	loads    int
}

func newReplica(t *testing.T, client redis.UniversalClient, prefix string, bytes int64) *replica {
	t.Helper()
	r := &replica{versions: directory.New(directory.Options{
		Redis: client, Prefix: prefix, Patience: 300 * time.Millisecond,
	})}
	memory, err := directory.NewMemory(directory.MemoryOptions{
		Versions: r.versions, Bytes: bytes, Meter: metricnoop.NewMeterProvider(),
	})
	errortest.None(t, err)
	r.memory = memory
	r.shelf = directory.NewShelf(memory, "texts", directory.Element, func(text string) int { return len(text) })
	r.derived = directory.NewDerived(memory, "lengths", directory.Element, func(text string) int { return len(text) })
	return r
}

// get is a request that reads one text, whose stored value is source.
func (r *replica) get(t *testing.T, id int64, source string) string {
	t.Helper()
	found, err := r.shelf.Find(directory.Begin(t.Context()), []int64{id},
		func(_ context.Context, ids []int64) (map[int64]string, error) {
			r.loads++
			return map[int64]string{ids[0]: source}, nil
		})
	errortest.None(t, err)
	return found[id]
}

// write is a change of elements, from its intent to its acknowledgement.
func (r *replica) write(t *testing.T, ids ...int64) {
	t.Helper()
	for _, id := range ids {
		intent, err := r.versions.Open(t.Context(), element(id))
		if err == nil {
			err = r.versions.Close(t.Context(), intent, element(id))
		}
		errortest.None(t, err)
	}
}

func element(id int64) []directory.Key { return []directory.Key{{Kind: directory.Element, ID: id}} }

func TestShelf_AnswersFromMemoryUntilItIsInvalidated(t *testing.T) {
	client, prefix := storetest.Redis(t)
	a, b := newReplica(t, client, prefix, 1<<20), newReplica(t, client, prefix, 1<<20)
	for range 3 {
		if got := a.get(t, 1, "old"); got != "old" || a.loads != 1 {
			t.Fatalf("%q after %d loads", got, a.loads)
		}
	}
	a.get(t, 2, "other")
	b.write(t, 1)
	valuetest.Same(t, a.get(t, 1, "new"), "new", "after the change was acknowledged")
	valuetest.Same(t, a.get(t, 2, "never read"), "other", "the change of another element has emptied this one's shard")
}

// TestDerived_IsCurrentWhileNoneOfItsRecordsHasChanged: a value comes from the elements 1 and 2, and only as long as it
// fits.
func TestDerived_IsCurrentWhileNoneOfItsRecordsHasChanged(t *testing.T) {
	client, prefix := storetest.Redis(t)
	a, b := newReplica(t, client, prefix, 1<<20), newReplica(t, client, prefix, 1<<20)
	works := 0
	get := func(ctx context.Context, fits string, value string) string {
		t.Helper()
		got, err := a.derived.Get(ctx, 7, func(kept string) bool { return kept != fits },
			func(context.Context) (string, []int64, error) {
				works++
				return value, []int64{1, 2}, nil
			})
		errortest.None(t, err)
		return got
	}
	for i, c := range []struct {
		changed int64 // 0: nothing
		unfit   string
		want    string
		works   int
	}{
		{0, "", "v0", 1}, {0, "", "v0", 1}, {2, "", "v2", 2}, {0, "", "v2", 2}, {1, "", "v4", 3}, {3, "", "v4", 3},
		{0, "v4", "v6", 4}, {0, "v4", "v6", 4},
	} {
		if c.changed != 0 {
			b.write(t, c.changed)
		}
		if got := get(directory.Begin(t.Context()), c.unfit, fmt.Sprintf("v%d", i)); got != c.want || works != c.works {
			t.Errorf("step %d: %q after %d times of work, want %q after %d", i, got, works, c.want, c.works)
		}
	}
	if got := get(t.Context(), "", "alone"); got != "alone" { // no request, nothing from memory
		t.Errorf("without a request: %q", got)
	}
	fault := errors.New("away")
	_, err := a.derived.Get(directory.Begin(t.Context()), 8, func(string) bool { return true },
		func(context.Context) (string, []int64, error) { return "", nil, fault })
	errortest.Is(t, err, fault)
}

// TestDerived_IsComputedOnceForConcurrentRequests, and again where the one that began fails, or where a change was
// acknowledged before the others began.
func TestDerived_IsComputedOnceForConcurrentRequests(t *testing.T) {
	const requests = 8
	client, prefix := storetest.Redis(t)
	fault := errors.New("away")
	for name, c := range map[string]struct {
		first   error
		changed bool
	}{
		"it works":   {nil, false},
		"it fails":   {fault, false},
		"it was old": {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := newReplica(t, client, prefix, 1<<20), newReplica(t, client, prefix, 1<<20)
			reader := metric.NewManualReader()
			memory, err := directory.NewMemory(directory.MemoryOptions{
				Versions: a.versions, Bytes: 1 << 20, Meter: metric.NewMeterProvider(metric.WithReader(reader)),
			})
			errortest.None(t, err)
			texts := directory.NewDerived(memory, "texts", directory.Element, func(s string) int { return len(s) })
			var works atomic.Int64
			begun, goOn := make(chan struct{}), make(chan struct{})
			get := func(work func() (string, error)) (string, error) {
				return texts.Get(directory.Begin(t.Context()), 7, func(string) bool { return true },
					func(context.Context) (string, []int64, error) {
						works.Add(1)
						value, err := work()
						return value, []int64{1}, err
					})
			}
			answers := make(chan string, requests)
			go func() {
				value, err := get(func() (string, error) {
					close(begun)
					<-goOn
					return "first", c.first
				})
				answers <- fmt.Sprint(value, err)
			}()
			<-begun
			if c.changed {
				b.write(t, 1)
			}
			for range requests - 1 {
				go func() {
					value, err := get(func() (string, error) { return "own", nil })
					answers <- fmt.Sprint(value, err)
				}()
			}
			for missed(t, reader) < requests && works.Load() == 1 { // each misses it, then waits
				runtime.Gosched()
			}
			close(goOn)
			got := map[string]int{}
			for range requests {
				got[<-answers]++
			}
			n, own := works.Load(), c.changed || c.first != nil
			want := map[string]int{"first<nil>": requests}
			if own {
				want = map[string]int{fmt.Sprint("first", c.first): 1, "own<nil>": requests - 1}
			}
			if !maps.Equal(got, want) || own != (n > 1) {
				t.Errorf("%v after %d times of work, want %v", got, n, want)
			}
			valuetest.Same(t, missed(t, reader), requests,
				"lookups that found nothing are counted of %d requests", requests)
		})
	}
}

// missed returns how many lookups there were that found nothing.
func missed(t *testing.T, reader metric.Reader) (n int64) {
	t.Helper()
	for _, m := range metrictest.Collect(t, reader) {
		n += metrictest.Sum(m, "miss")
	}
	return n
}

// TestTable_ReadsAgainOnlyTheRowsThatHaveChanged: rows are of the form "name of id", and of the id 4 there is none.
func TestTable_ReadsAgainOnlyTheRowsThatHaveChanged(t *testing.T) {
	type row struct {
		id   int64
		name string
	}
	client, prefix := storetest.Redis(t)
	a, b := newReplica(t, client, prefix, 1<<20), newReplica(t, client, prefix, 1<<20)
	stored := map[int64]string{1: "d", 2: "c", 3: "b", 5: "a", 6: "e"}
	var loaded []int64
	load := func(_ context.Context, ids []int64) (rows []row, err error) {
		loaded = ids
		for _, id := range ids {
			if name, has := stored[id]; has {
				rows = append(rows, row{id, name})
			}
		}
		return rows, nil
	}
	table := directory.NewTable(a.memory, "rows", directory.Element, func(r row) int64 { return r.id },
		func(a, b row) int { return strings.Compare(a.name, b.name) }, func(r row) int { return len(r.name) })
	check := func(when string, ctx context.Context, ids, wantLoaded []int64, want string) {
		t.Helper()
		loaded = nil
		rows, err := table.Get(ctx, 7, ids, load)
		var got strings.Builder
		for _, r := range rows {
			fmt.Fprintf(&got, "%s%d ", r.name, r.id)
		}
		if err != nil || got.String() != want || !slices.Equal(loaded, wantLoaded) {
			t.Errorf("%s: %q of %v read, want %q of %v; %v", when, &got, loaded, want, wantLoaded, err)
		}
	}
	write := func(id int64, name string) {
		t.Helper()
		stored[id] = name
		b.write(t, id)
	}
	begin := func() context.Context { return directory.Begin(t.Context()) }
	ids := []int64{1, 2, 3, 4, 5}
	check("first", begin(), ids, ids, "a5 b3 c2 d1 ")
	check("again", begin(), ids, nil, "a5 b3 c2 d1 ")
	before := begin()
	check("a request with a snapshot", before, ids, nil, "a5 b3 c2 d1 ")
	write(2, "z")
	check("one has changed", begin(), ids, []int64{2}, "a5 b3 d1 z2 ")
	check("one has changed, again", begin(), ids, nil, "a5 b3 d1 z2 ")
	write(4, "new")
	check("one has come", begin(), ids, []int64{4}, "a5 b3 d1 new4 z2 ")
	delete(stored, 3)
	write(9, "another") // of no row here
	check("another has changed", begin(), ids, nil, "a5 b3 d1 new4 z2 ")
	check("one left the list and one came", begin(), []int64{1, 2, 3, 4, 6}, []int64{6}, "b3 d1 e6 new4 z2 ")
	check("one left the list", begin(), []int64{1, 2, 4, 6}, nil, "d1 e6 new4 z2 ")
	check("it is back", begin(), []int64{1, 2, 3, 4, 6}, []int64{3}, "d1 e6 new4 z2 ")
	check("no request", t.Context(), []int64{1, 2}, []int64{1, 2}, "d1 z2 ")
	check("nothing is asked for", begin(), nil, nil, "")

	fault := errors.New("away")
	fails := func(context.Context, []int64) ([]row, error) { return nil, fault }
	write(1, "y")
	errortest.Is(t, errortest.Of(table.Get(begin(), 8, []int64{1}, fails)), fault)
	check("after a fault", begin(), []int64{1, 2}, []int64{1, 2}, "y1 z2 ")
}

func TestShelf_UsesNothingWithoutRequestOrAfterTheRequestBeganToWrite(t *testing.T) {
	client, prefix := storetest.Redis(t)
	a := newReplica(t, client, prefix, 1<<20)
	a.get(t, 1, "old")
	load := func(context.Context, []int64) (map[int64]string, error) { return map[int64]string{1: "stored"}, nil }
	found, err := a.shelf.Find(t.Context(), []int64{1}, load)
	errortest.None(t, err)
	valuetest.Same(t, found[1], "stored", "without a request")
	ctx := directory.Begin(t.Context())
	errortest.None(t, errortest.Of(a.shelf.Find(ctx, []int64{1}, load)))
	_, err = a.versions.Open(ctx, element(7))
	errortest.None(t, err)
	if found, err = a.shelf.Find(ctx, []int64{1}, load); err != nil || found[1] != "stored" {
		t.Errorf("%q, %v after the request began to write", found[1], err)
	}
}

func TestResolve_InvalidatesOnceForADocumentWhoseIntentIsOpen(t *testing.T) {
	client, prefix := storetest.Redis(t)
	a, b := newReplica(t, client, prefix, 1<<20), newReplica(t, client, prefix, 1<<20)
	writer := newReplica(t, client, prefix, 1<<20)
	a.get(t, 1, "old")
	intent, err := writer.versions.Open(t.Context(), element(1))
	errortest.None(t, err)
	document := []directory.Document{{Name: "texts:1:2", Intent: &intent, Keys: element(1)}}
	valuetest.Holds(t, !b.versions.Closed(&intent), "an open intent is taken for closed")
	for range 2 {
		errortest.None(t, b.versions.Resolve(t.Context(), slices.Clone(document)))
	}
	valuetest.Same(t, a.get(t, 1, "new"), "new", "after another replica has shown the new one")
	a.get(t, 1, "unread")
	valuetest.Same(t, a.loads, 2, "loads: a document is resolved twice")
	errortest.None(t, writer.versions.Resolve(t.Context(), document))
	a.get(t, 1, "unread")
	valuetest.Same(t, a.loads, 2, "loads: another replica resolves a document again")
	errortest.None(t, writer.versions.Close(t.Context(), intent, element(1)))
	if b.get(t, 9, ""); !b.versions.Closed(&intent) {
		t.Error("a closed intent is not known to be closed after a snapshot")
	}
}

// TestIntent_ThatExpiresInvalidatesAndIsNeverTakenForClosed is about a writer that died or is suspended.
func TestIntent_ThatExpiresInvalidatesAndIsNeverTakenForClosed(t *testing.T) {
	client, prefix := storetest.Redis(t)
	a, writer := newReplica(t, client, prefix, 1<<20), newReplica(t, client, prefix, 1<<20)
	intent, err := writer.versions.Open(t.Context(), element(1))
	errortest.None(t, err)
	for deadline := time.Now().Add(time.Minute); a.get(t, 1, "old") == "old" && a.loads < 2; {
		valuetest.MustHold(t, !time.Now().After(deadline), "the intent does not expire")
	}
	if a.versions.Closed(&intent) {
		t.Error("an expired intent is taken for closed: its writer may only be slow")
	}
}

func TestMemory_StaysWithinItsBound(t *testing.T) {
	const bytes, text = 64 << 10, 1000
	client, prefix := storetest.Redis(t)
	a := newReplica(t, client, prefix, bytes)
	value := string(make([]byte, text))
	ever := false // something was kept: the cache itself chooses what
	for id := range int64(1000) {
		a.get(t, id, value)
		before := a.loads
		a.get(t, id, value)
		ever = ever || a.loads == before
	}
	kept := 0
	for id := int64(999); id >= 0; id-- {
		before := a.loads
		if a.get(t, id, value); a.loads == before {
			kept++
		}
	}
	if !ever || kept > 2*bytes/text {
		t.Errorf("%d of 1000 texts of %d bytes in %d bytes, something at any time: %v", kept, text, bytes, ever)
	}
}

func TestMemory_OfNoBytesKeepsNothing(t *testing.T) {
	client, prefix := storetest.Redis(t)
	a := newReplica(t, client, prefix, 0)
	a.get(t, 1, "a")
	valuetest.Same(t, a.get(t, 1, "b"), "b", "something is kept")
}

// TestRedis_ThatLostItsMemoryStartsAnEpoch: a replica that saw nothing of a change, or of what happened to Redis, uses
// nothing from before.
func TestRedis_ThatLostItsMemoryStartsAnEpoch(t *testing.T) {
	change := func(t *testing.T, s *storetest.RedisServer) {
		t.Helper()
		newReplica(t, s.Client(), "x:", 1<<20).write(t, 1)
	}
	for name, lose := range map[string]func(*testing.T, *storetest.RedisServer){
		"flushed": func(t *testing.T, s *storetest.RedisServer) {
			change(t, s)
			errortest.None(t, s.Client().FlushAll(t.Context()).Err())
			for range 5 { // the new epoch is soon as long as the old one was
				change(t, s)
			}
		},
		"set back": func(t *testing.T, s *storetest.RedisServer) {
			s.Save(t)
			change(t, s)
			s.SetBack(t)
		},
		"promoted from a replica that missed the last writes": func(t *testing.T, s *storetest.RedisServer) {
			r := s.Replica(t)
			r.CutOff(t)
			change(t, s)
			r.Promote(t, s)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := storetest.StartRedis(t)
			client := redis.NewClient(s.Client().Options())
			t.Cleanup(func() { _ = client.Close() })
			a := newReplica(t, client, "x:", 1<<20)
			change(t, s)
			a.get(t, 1, "old")
			lose(t, s)
			got := ""
			for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
				if got = a.get(t, 1, "new"); got == "new" {
					return
				}
				if a.versions.Snapshot(t.Context()) != nil {
					break // Redis answers
				}
			}
			t.Errorf("%q after Redis was %s", got, name)
		})
	}
}

func TestWithoutRedis_NothingIsUsedFromMemory(t *testing.T) {
	s := storetest.StartRedis(t)
	client := redis.NewClient(s.Client().Options())
	t.Cleanup(func() { _ = client.Close() })
	a := newReplica(t, client, "x:", 1<<20)
	a.get(t, 1, "old")
	s.Stop(t)
	valuetest.Same(t, a.get(t, 1, "stored"), "stored", "from memory")
	errortest.Some(t, errortest.Of(a.versions.Open(t.Context(), element(1))), "an intent is open without Redis")
}

// count counts the commands of a client.
type count struct{ commands atomic.Int64 }

func (c *count) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *count) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		c.commands.Add(1)
		return next(ctx, command)
	}
}

func (c *count) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// TestBeginPart_TakesASnapshotOnlyWhenItsOwnIsOlder is about a question of one service to another.
func TestBeginPart_TakesASnapshotOnlyWhenItsOwnIsOlder(t *testing.T) {
	client, prefix := storetest.Redis(t)
	asks, writer := newReplica(t, client, prefix, 1<<20), newReplica(t, client, prefix, 1<<20)
	answers := newReplica(t, client, prefix, 1<<20)
	answers.get(t, 1, "old")
	var snapshots count
	client.AddHook(&snapshots)
	// part asks, for a request with a snapshot, for a text whose stored value is source.
	part := func(header, source string) (text string, taken int64) {
		t.Helper()
		before := snapshots.commands.Load()
		found, err := answers.shelf.Find(directory.BeginPart(t.Context(), header), []int64{1},
			func(context.Context, []int64) (map[int64]string, error) { return map[int64]string{1: source}, nil })
		errortest.None(t, err)
		return found[1], snapshots.commands.Load() - before
	}
	seen := func() string {
		t.Helper()
		ctx := directory.Begin(t.Context())
		_, err := asks.shelf.Find(ctx, []int64{2}, func(context.Context, []int64) (map[int64]string, error) {
			return map[int64]string{}, nil
		})
		errortest.None(t, err)
		return directory.Seen(ctx)
	}

	before := seen()
	if text, taken := part(before, "stored"); text != "old" || taken != 0 {
		t.Errorf("%q and %d snapshots where the neighbour has a current one", text, taken)
	}
	valuetest.Same(t, directory.Seen(directory.BeginPart(t.Context(), before)), before,
		"what was told is not passed on")
	writer.write(t, 1)
	if text, taken := part(seen(), "new"); text != "new" || taken != 1 {
		t.Errorf("%q and %d snapshots after a change that the asking service has seen", text, taken)
	}
	if text, taken := part(before, "unread"); text != "new" || taken != 0 {
		t.Errorf("%q and %d snapshots for a question that is older than the own snapshot", text, taken)
	}
	for _, header := range []string{"", "x", " ", "another 1", strings.Replace(before, " ", " -1", 1), before + "0 0"} {
		if text, taken := part(header, "unread"); text != "new" || taken != 1 {
			t.Errorf("%q and %d snapshots for the header %q", text, taken, header)
		}
	}
}

func TestSeen_IsEmptyBeforeASnapshotAndAfterAWrite(t *testing.T) {
	client, prefix := storetest.Redis(t)
	a := newReplica(t, client, prefix, 1<<20)
	begin := func() context.Context {
		t.Helper()
		ctx := directory.Begin(t.Context())
		valuetest.Same(t, directory.Seen(ctx), "", "before a snapshot")
		valuetest.MustHold(t, a.shelf.Uses(ctx) && directory.Seen(ctx) != "", "a snapshot sees nothing")
		return ctx
	}
	ctx := begin()
	directory.Wrote(ctx)
	valuetest.Same(t, directory.Seen(ctx), "", "after a neighbour wrote")
	ctx = begin()
	errortest.None(t, errortest.Of(a.versions.Open(ctx, element(7))))
	valuetest.Same(t, directory.Seen(ctx), "", "after the request began to write")
	valuetest.Same(t, directory.Seen(t.Context()), "", "without a request")
}
