package store

import (
	"bufio"
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
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/mongo"
	metricnoop "go.opentelemetry.io/otel/metric/noop"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/needle"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// patience is the time after which an intent of these tests expires.
const patience = 500 * time.Millisecond

// The steps of a write at which a writer stops.
const (
	beforeIntent = "before its intent"
	beforeWrite  = "after its intent, before its write"
	beforeClose  = "after its write, before the version moves"
	beforeReply  = "after the version has moved, before its answer"
)

func TestMain(m *testing.M) {
	if steps := os.Getenv("WRITER_STEPS"); steps != "" {
		if err := rename(context.Background(), strings.Split(steps, "|")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// rename is the writer, a process of its own: it gives an element another name, and at each of the steps says that it
// is there and waits for a line.
func rename(ctx context.Context, steps []string) error {
	mongoURI, redisURL, err := storetest.URIs()
	if err != nil {
		return err
	}
	client, err := mongostore.Connect(ctx, mongoURI, mongostore.Options{})
	if err != nil {
		return err
	}
	settings, err := redis.ParseURL(redisURL)
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(os.Getenv("WRITER_ELEMENT"), 10, 64)
	if err != nil {
		return err
	}
	in := bufio.NewReader(os.Stdin)
	stop := func(at string) {
		for _, step := range steps {
			if step == at {
				fmt.Println(at)
				_, _ = in.ReadString('\n')
			}
		}
	}
	versions := directory.New(directory.Options{
		Redis: redis.NewClient(settings), Prefix: os.Getenv("WRITER_PREFIX"), Patience: patience,
	})
	s := New(Options{DB: client.Database(os.Getenv("WRITER_DATABASE")), Directory: stopping{versions, stop}})
	_, err = s.Elements.Change(ctx, id, func(e *element.Element) error {
		e.Name = "new"
		return nil
	})
	return err
}

// stopping is a directory that calls stop at each step.
type stopping struct {
	*directory.Versions
	stop func(at string)
}

func (m stopping) Open(ctx context.Context, keys []directory.Key) (directory.Intent, error) {
	m.stop(beforeIntent)
	s, err := m.Versions.Open(ctx, keys)
	m.stop(beforeWrite)
	return s, err
}

func (m stopping) Close(ctx context.Context, s directory.Intent, keys []directory.Key) error {
	m.stop(beforeClose)
	err := m.Versions.Close(ctx, s, keys)
	m.stop(beforeReply)
	return err
}

// writer is the other process.
type writer struct {
	command *exec.Cmd
	in      io.Writer
	out     *bufio.Reader
}

func startWriter(t *testing.T, db *mongo.Database, prefix string, id int64, steps ...string) *writer {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "WRITER_STEPS="+strings.Join(steps, "|"), "WRITER_DATABASE="+db.Name(),
		"WRITER_PREFIX="+prefix, "WRITER_ELEMENT="+strconv.FormatInt(id, 10))
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	out, err2 := command.StdoutPipe()
	errortest.None(t, errors.Join(err, err2))
	errortest.None(t, command.Start())
	t.Cleanup(func() { _ = command.Process.Kill() }) // most have ended by then
	return &writer{command, in, bufio.NewReader(out)}
}

// await returns when the writer is at the step.
func (w *writer) await(t *testing.T, step string) {
	t.Helper()
	line, err := w.out.ReadString('\n')
	if err != nil || strings.TrimSpace(line) != step {
		t.Fatalf("the writer says %q, %v, not %q", line, err, step)
	}
}

func (w *writer) goOn(t *testing.T) {
	t.Helper()
	errortest.None(t, errortest.Of(fmt.Fprintln(w.in)))
}

func (w *writer) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	errortest.None(t, w.command.Process.Signal(s))
}

// stop returns when the writer sleeps: a process of several threads may run on for a while after the signal.
func (w *writer) stop(t *testing.T) {
	t.Helper()
	w.signal(t, syscall.SIGSTOP)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", w.command.Process.Pid))
		errortest.None(t, err)
		asleep := len(tasks) > 0
		for _, task := range tasks {
			stat, err := os.ReadFile(task)
			asleep = asleep && err == nil && strings.Contains(string(stat), ") T ")
		}
		if asleep {
			return
		}
		valuetest.MustHold(t, !time.Now().After(deadline), "the writer does not stop")
	}
}

// end returns when the write is acknowledged.
func (w *writer) end(t *testing.T) {
	t.Helper()
	errortest.None(t, w.command.Wait(), "the writer")
}

// near is an element, and two replicas with it in memory.
type near struct {
	db       *mongo.Database
	client   *redis.Client
	prefix   string
	id       int64
	replicas []*Store
	seen     string // what was read last
}

func newNear(t *testing.T) *near {
	t.Helper()
	db := storetest.Mongo(t)
	errortest.None(t, Prepare(t.Context(), db))
	n := &near{db: db}
	n.client, n.prefix = storetest.Redis(t)
	n.replicas = []*Store{n.replica(t), n.replica(t)}
	n.id = add(t, n.replicas[0], elementNamed(form.Location, "old"))[0].ID
	n.read(t, "old")
	return n
}

// replica is another replica, with nothing in memory yet.
func (n *near) replica(t *testing.T) *Store {
	t.Helper()
	versions := directory.New(directory.Options{Redis: n.client, Prefix: n.prefix, Patience: patience})
	memory, err := directory.NewMemory(directory.MemoryOptions{
		Versions: versions, Bytes: 1 << 20, Meter: metricnoop.NewMeterProvider(),
	})
	errortest.None(t, err)
	return New(Options{DB: n.db, IDs: mongostore.NewIDs(n.db), Directory: versions, Memory: memory})
}

// name is what a request to a replica answers.
func (n *near) name(t *testing.T, s *Store) string {
	t.Helper()
	e, err := s.Elements.Get(directory.Begin(t.Context()), n.id)
	errortest.None(t, err)
	if n.seen == "new" && e.Name == "old" {
		t.Fatal("an answer is from before another one")
	}
	n.seen = e.Name
	return e.Name
}

// read reads twice from each replica, so that it is in memory, and wants that name from all.
func (n *near) read(t *testing.T, want string) {
	t.Helper()
	for range 2 {
		for i, s := range n.replicas {
			valuetest.MustSame(t, n.name(t, s), want, "replica %d", i)
		}
	}
}

// awaitEnd reads until the intent of a writer has expired, and returns what the replicas have then.
func (n *near) awaitEnd(t *testing.T) string {
	t.Helper()
	for deadline := time.Now().Add(patience + time.Minute); ; time.Sleep(10 * time.Millisecond) {
		for _, s := range n.replicas {
			n.name(t, s)
		}
		ends, err := n.client.ZRangeWithScores(t.Context(), n.prefix+"directory:intents", 0, -1).Result()
		errortest.None(t, err)
		if len(ends) == 0 || ends[0].Score == 0 {
			name := n.name(t, n.replicas[0])
			n.read(t, name)
			return name
		}
		valuetest.MustHold(t, !time.Now().After(deadline), "the intent does not expire")
	}
}

func TestDirectory_AWriterKilledAtAnyStepLeavesNoReplicaBehind(t *testing.T) {
	for step, want := range map[string]string{
		beforeIntent: "old", beforeWrite: "old", beforeClose: "new", beforeReply: "new",
	} {
		t.Run(step, func(t *testing.T) {
			n := newNear(t)
			w := startWriter(t, n.db, n.prefix, n.id, step)
			w.await(t, step)
			w.signal(t, syscall.SIGKILL)
			_ = w.command.Wait() // it was killed
			valuetest.Same(t, n.awaitEnd(t), want, "at the end")
		})
	}
}

// afterASleep returns a writer that continues, before its write, after it has slept past the end of its intent. It
// stops again before the later steps.
func afterASleep(t *testing.T, later ...string) (*near, *writer) {
	t.Helper()
	n := newNear(t)
	w := startWriter(t, n.db, n.prefix, n.id, append([]string{beforeWrite}, later...)...)
	w.await(t, beforeWrite)
	w.stop(t)
	w.goOn(t)
	valuetest.MustSame(t, n.awaitEnd(t), "old", "while the writer sleeps")
	w.signal(t, syscall.SIGCONT)
	return n, w
}

// TestDirectory_AWriterAsleepPastTheEndOfItsIntentThenWrites: its write is stored when others have taken it for dead
// and have read the old name again. After one replica has read the new name, no other answers with the old one.
func TestDirectory_AWriterAsleepPastTheEndOfItsIntentThenWrites(t *testing.T) {
	n, w := afterASleep(t, beforeClose)
	w.await(t, beforeClose)
	if got := n.name(t, n.replica(t)); got != "new" { // it has nothing in memory
		t.Fatalf("%q from the store", got)
	}
	n.read(t, "new")
	w.goOn(t)
	w.end(t)
	n.read(t, "new")
}

func TestDirectory_AWriterAsleepPastTheEndOfItsIntentIsHeardOnceItAnswers(t *testing.T) {
	n, w := afterASleep(t)
	w.end(t)
	n.read(t, "new")
}

// TestDirectory_NoReplicaAnswersFromBeforeAChangeThatWasSeen: whichever way it was seen first.
func TestDirectory_NoReplicaAnswersFromBeforeAChangeThatWasSeen(t *testing.T) {
	for way, see := range map[string]func(context.Context, *Store, int64) error{
		"by name": func(ctx context.Context, s *Store, _ int64) error {
			found, err := s.Elements.ListByName(ctx, "new", element.Among{}, 0)
			return want(err, len(found))
		},
		"by a part of the name": func(ctx context.Context, s *Store, _ int64) error {
			found, err := s.Elements.ListByNeedle(ctx, needle.New("new"), element.Among{}, 10)
			return want(err, len(found))
		},
		"by a part of the name, in a school": func(ctx context.Context, s *Store, id int64) error {
			among := element.Among{School: 7, Filter: element.Filter{IDs: []int64{id}}}
			found, err := s.Elements.ListByNeedle(directory.Begin(ctx), needle.New("new"), among, 10)
			return want(err, len(found))
		},
		"in a list": func(ctx context.Context, s *Store, _ int64) error {
			found, err := s.Elements.List(ctx, element.Filter{}, 0, 10)
			return want(err, len(found))
		},
		"by a change that changes nothing": func(ctx context.Context, s *Store, id int64) error {
			_, err := s.Elements.Change(ctx, id, func(*element.Element) error { return errors.New("refused") })
			if err == nil || err.Error() != "refused" {
				return fmt.Errorf("the change was not refused: %w", err)
			}
			return nil
		},
	} {
		t.Run(way, func(t *testing.T) {
			n := newNear(t)
			w := startWriter(t, n.db, n.prefix, n.id, beforeClose)
			w.await(t, beforeClose)
			errortest.None(t, see(t.Context(), n.replica(t), n.id))
			n.read(t, "new")
		})
	}
}

func want(err error, found int) error {
	if err == nil && found != 1 {
		err = fmt.Errorf("found %d", found)
	}
	return err
}

// TestDirectory_MembershipsAreAboutBothGroupAndMember: a new one is seen by all who had the member's groups in memory,
// or the group's members.
func TestDirectory_MembershipsAreAboutBothGroupAndMember(t *testing.T) {
	const group = 77
	on := wiretime.Days{First: 100, Last: 200}
	for end, find := range map[string]func(context.Context, *memberships, int64) ([]element.Membership, error){
		"groups of the member": func(ctx context.Context, s *memberships, member int64) ([]element.Membership, error) {
			return s.FindByMembers(ctx, []int64{member}, on)
		},
		"members of the group": func(ctx context.Context, s *memberships, _ int64) ([]element.Membership, error) {
			return s.FindByGroups(ctx, []int64{group}, on)
		},
	} {
		t.Run(end, func(t *testing.T) {
			n := newNear(t)
			expect := func(want int, when string) {
				t.Helper()
				n.count(t, want, when, func(ctx context.Context, s *Store) (int, error) {
					found, err := find(ctx, s.Memberships, n.id)
					return len(found), err
				})
			}
			expect(0, "at first")
			added := insert(t, n.replicas[1].Memberships,
				element.Membership{Group: group, Member: n.id, Days: days(150, 300)})
			expect(1, "after it was acknowledged")
			added[0].Version, added[0].Days = 1, nil
			if all, err := n.replicas[0].Memberships.Replace(t.Context(), added); err != nil || !all {
				t.Fatal(all, err)
			}
			expect(0, "after it was taken back")
		})
	}
}

// count wants that each replica finds so many, from the store and then from memory.
func (n *near) count(t *testing.T, want int, when string, find func(context.Context, *Store) (int, error)) {
	t.Helper()
	for range 2 {
		for i, s := range n.replicas {
			if found, err := find(directory.Begin(t.Context()), s); err != nil || found != want {
				t.Fatalf("replica %d, %s: %d, %v, not %d", i, when, found, err, want)
			}
		}
	}
}

// TestDirectory_ASchoolThatAnImportEndsIsNoneForAnyReplica: the record before was about which schools there are, the
// one after is not.
func TestDirectory_ASchoolThatAnImportEndsIsNoneForAnyReplica(t *testing.T) {
	n := newNear(t)
	school := elementNamed(form.Group, "School")
	school.School = true
	groups := add(t, n.replicas[1], school)
	schools := func(ctx context.Context, s *Store) (int, error) {
		found, err := s.Elements.ListSchools(ctx)
		return len(found), err
	}
	n.count(t, 1, "at first", schools)
	groups[0].Version, groups[0].School = 1, false
	if all, err := n.replicas[1].Elements.Replace(t.Context(), groups); err != nil || !all {
		t.Fatal(all, err)
	}
	n.count(t, 0, "after the import", schools)
}

// TestReaches_AreReadAgainWhenAMembershipAboveHasChanged: of the element, or of a group that it is in.
func TestReaches_AreReadAgainWhenAMembershipAboveHasChanged(t *testing.T) {
	const outer, inner = 77, 78
	n := newNear(t)
	above := map[int64][]int64{n.id: {n.id}, inner: {n.id, inner}, outer: {n.id, inner, outer}}
	expect := func(last int64, when string) {
		t.Helper()
		for i, s := range n.replicas {
			works := 0
			for range 2 {
				reaches, err := s.Memberships.Reaches(directory.Begin(t.Context()), n.id,
					func(context.Context) (found []fact.Reach, err error) {
						for works++; len(found) < len(above[last]); {
							found = append(found, fact.Reach{ElementID: above[last][len(found)]})
						}
						return found, nil
					})
				if err != nil || reaches[len(reaches)-1].ElementID != last || works != 1 {
					t.Fatalf("replica %d, %s: %v, %v, worked out %d times", i, when, reaches, err, works)
				}
			}
		}
	}
	join := func(group, member int64) {
		t.Helper()
		insert(t, n.replicas[1].Memberships, element.Membership{Group: group, Member: member, Days: days(1, 2)})
	}
	expect(n.id, "at first")
	join(inner, n.id)
	expect(inner, "when it is in a group")
	join(outer, inner)
	expect(outer, "when the group is in another")
}

// TestMemberships_AreInMemoryWhatTheyAreInTheStore, however many runs of days each has.
func TestMemberships_AreInMemoryWhatTheyAreInTheStore(t *testing.T) {
	n := newNear(t)
	s := n.replicas[0].Memberships
	memberships := []element.Membership{
		{Group: 1, Member: 11, Days: days(100, 200)},
		{Group: 1, Member: 12, Nested: true, Days: days(wiretime.FirstDay, 10, 20, 30, 150, wiretime.LastDay)},
		{Group: 1, Member: 13, Days: days(1, 2)},
		{Group: 1, Member: 14}, // was taken back
		{Group: 2, Member: 11, Days: days(25, 25)},
		{Group: 2, Member: 12, Nested: true, Days: days(1, 2, 40, 50)},
	}
	insert(t, s, memberships...)
	ids := []int64{1, 2, 3, 11, 12, 13, 14}
	for _, on := range days(1, 1, 5, 15, 25, 25, 31, 39, 100, 100, 1000, 1000, wiretime.FirstDay, wiretime.LastDay) {
		for end, find := range map[string]func(
			context.Context, []int64, wiretime.Days,
		) ([]element.Membership, error){"groups": s.FindByMembers, "members": s.FindByGroups} {
			want := []string{}
			for _, m := range memberships {
				if slices.ContainsFunc(m.Days, on.Overlaps) {
					want = append(want, fmt.Sprint(m.Group, m.Member, m.Nested, m.Days))
				}
			}
			for range 2 {
				found, err := find(directory.Begin(t.Context()), ids, on)
				got := []string{}
				for _, m := range found {
					got = append(got, fmt.Sprint(m.Group, m.Member, m.Nested, m.Days))
				}
				slices.Sort(got)
				slices.Sort(want)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s on %v: %q, not %q (%v)", end, on, got, want, err)
				}
			}
		}
	}
}
