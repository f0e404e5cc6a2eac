package endtoend_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/cmd/belfryctl/bundle"
	"github.com/belfry-schools/belfry/cmd/belfryctl/demo"
	"github.com/belfry-schools/belfry/cmd/belfryctl/load"
	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
)

// killPause lets the system recover before the next process is killed: this tests recovery, not a permanent outage.
const killPause = 4 * time.Second

// victims are parts of command lines that identify the processes of a run: the four services and the three stores.
var victims = []string{"bin/events", "postgres", "bin/elements", "redis-server", "bin/identity", "engine", "bin/notes"}

func TestKillNineLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	// a batch takes long while its stores recover on a busy machine
	run := startLocal(t, "DEMO=0", "BELFRY_REQUEST_TIMEOUT=25s")
	zone := timetest.London(t)
	dir := filepath.Join(t.TempDir(), "school")
	o := demo.Options{Pupils: 400, Years: 1, Seed: 7, LastYear: demo.DefaultLastYear}
	if _, err := demo.Generate(dir, o); err != nil {
		t.Fatal(err)
	}
	school, err := bundle.Open(dir, zone)
	if err != nil {
		t.Fatal(err)
	}

	admin := servicetest.NewClient(t, run.URL)
	admin.Get(t, "/api/login?uuid="+run.adminUUID).Want(t, 200, `{"status":"OK"}`)
	room := admin.Import(t, "locations", map[string]any{"key": "ledger", "name": "Ledger room"})["ledger"]
	category := admin.Import(t, "eventcategories", map[string]any{"key": "ledger", "name": "Ledger"})["ledger"]

	// Three things at the same time: an import, creations of events, and kills with SIGKILL.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	creating, stopCreating := context.WithCancel(ctx)
	ledger := &ledger{client: newBooker(run), room: room, category: category}
	var work sync.WaitGroup
	work.Go(func() { ledger.book(creating) })
	imported := make(chan error, 1)
	work.Go(func() { imported <- loadOnce(ctx, run, school, false) })
	for _, victim := range victims {
		time.Sleep(killPause)
		killOne(t, run.PID(), victim)
	}
	err = <-imported
	stopCreating()
	work.Wait()
	if err != nil {
		t.Fatalf("the import gave up: %v\n%s", err, run.Output)
	}
	if err := loadOnce(ctx, run, school, true); err != nil {
		t.Error(err)
	}

	got := listed(t, admin, room)
	acknowledged := 0
	for title, outcome := range ledger.outcomes {
		switch {
		case outcome == booked && got[title] != 1:
			t.Errorf("%s was acknowledged and is there %d times", title, got[title])
		case outcome == unknown && got[title] > 1:
			t.Errorf("%s was sent once and is there %d times", title, got[title])
		}
		if outcome == booked {
			acknowledged++
		}
	}
	t.Logf("%d of %d creations were acknowledged while %d processes were killed; %d are there", acknowledged,
		len(ledger.outcomes), len(victims), len(got))
	if acknowledged < 20 {
		t.Errorf("only %d creations were acknowledged: this proves little", acknowledged)
	}
}

// loadOnce imports the school. The second time it expects no change.
func loadOnce(ctx context.Context, run *localRun, school *bundle.Bundle, again bool) error {
	c, err := client.New(run.URL, client.Options{})
	if err != nil {
		return err
	}
	if err := c.Login(ctx, run.adminUUID); err != nil {
		return err
	}
	report, err := load.Run(ctx, c, school, load.Options{})
	if err != nil {
		return err
	}
	if report.Refused > 0 {
		return fmt.Errorf("%d records were refused, the first: %s", report.Refused, report.First[0])
	}
	for _, kind := range report.Kinds {
		if again && kind.Created+kind.Updated > 0 {
			return fmt.Errorf("the second load changed %s: %+v", kind.Kind, kind)
		}
	}
	return nil
}

type outcome int

const (
	unknown outcome = iota // no answer, or an answer that the service was unavailable
	booked
)

// ledger has the outcome of each event that a client created.
type ledger struct {
	client         *booker
	room, category int64
	outcomes       map[string]outcome
}

// book creates events, each once and with a unique title, until ctx ends.
func (l *ledger) book(ctx context.Context) {
	l.outcomes = map[string]outcome{}
	day := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
	for i := 0; ctx.Err() == nil; i++ {
		title := "booking " + strconv.Itoa(i)
		l.outcomes[title] = l.client.create(ctx, title, l.category, l.room, day.Add(time.Duration(i)*time.Second))
		time.Sleep(20 * time.Millisecond)
	}
}

// booker is a client that returns errors instead of failing the test.
type booker struct {
	client *servicetest.Client
	uuid   string
}

func newBooker(run *localRun) *booker {
	return &booker{servicetest.Connect(servicetest.ClientOptions{URL: run.URL, Undocumented: true}), run.adminUUID}
}

func (b *booker) create(ctx context.Context, title string, category, room int64, starts time.Time) outcome {
	body := map[string]any{
		"event": map[string]any{
			"body": title, "event_category_id": category, "starts_at_text": starts.Format("2006-01-02 15:04:05"),
		},
		"elements": []string{strconv.FormatInt(room, 10)},
	}
	a := b.send(ctx, http.MethodPost, "/api/events", body)
	if a.Code == http.StatusUnauthorized { // not signed in yet
		b.send(ctx, http.MethodGet, "/api/login?uuid="+url.QueryEscape(b.uuid), nil)
		a = b.send(ctx, http.MethodPost, "/api/events", body)
	}
	if a.Code == http.StatusOK && strings.HasPrefix(a.Body, `{"status":"Created"`) {
		return booked
	}
	return unknown
}

// send returns no answer when there was none.
func (b *booker) send(ctx context.Context, method, path string, body any) servicetest.Answer {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer cancel()
	a, err := b.client.Send(ctx, method, path, body)
	if err != nil {
		return servicetest.Answer{}
	}
	return a
}

// listed returns the number of the room's events by title.
func listed(t *testing.T, admin *servicetest.Client, room int64) map[string]int {
	t.Helper()
	var reply struct {
		Commitments []struct{ Event struct{ Body string } }
	}
	path := fmt.Sprintf("/api/elements/%d/commitments?start_date=2026-11-25&end_date=2026-11-26", room)
	admin.Get(t, path).Decode(t, &reply)
	counts := map[string]int{}
	for _, c := range reply.Commitments {
		counts[c.Event.Body]++
	}
	return counts
}

// killOne sends SIGKILL to the oldest process below root whose command line holds name.
func killOne(t *testing.T, root int, name string) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		below, err := process.Below(root)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range below {
			line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
			if err != nil || !strings.Contains(strings.ReplaceAll(string(line), "\x00", " "), name) {
				continue
			}
			if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil {
				t.Errorf("kill %s: %v", name, err)
			}
			t.Logf("killed %s (%d)", name, p.PID)
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Fatalf("no process %q to kill", name)
}
