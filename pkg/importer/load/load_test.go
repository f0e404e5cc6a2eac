package load_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/clienttest"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/load"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func open(t *testing.T, files map[string]string) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Open(clienttest.Folder(t, files), bundle.Options{})
	errortest.None(t, err)
	return b
}

// loads is a load that must come to its end.
func loads(t *testing.T, c *client.Client, source load.Source, options load.Options) load.Report {
	t.Helper()
	report, err := load.Run(t.Context(), c, source, options)
	errortest.None(t, err)
	return report
}

// subjects is a file of n subjects.
func subjects(n int) map[string]string {
	var text strings.Builder
	text.WriteString("key,name\n")
	for i := range n {
		fmt.Fprintf(&text, "%d,Subject %d\n", i, i)
	}
	return map[string]string{"subjects.csv": text.String()}
}

func TestLoadSendsBatchesInOrderOfKinds(t *testing.T) {
	school := clienttest.NewSchool(t)
	files := subjects(2500)
	files["eventcategories.csv"] = "key,name\nlesson,Lesson\n"
	files["events.csv"] = "key,body,category,starts_at,ends_at,elements\n" +
		"e,Maths,lesson,2026-09-07,2026-09-07,Subject:7\n"
	report := loads(t, school.SignedIn(t), open(t, files), load.Options{Parallel: 1})
	got := sequence.Map(school.Batches(), func(b clienttest.Batch) string { return fmt.Sprint(b.Kind, " ", b.Records) })
	want := []string{"subjects 1000", "subjects 1000", "subjects 500", "eventcategories 1", "events 1"}
	valuetest.Equal(t, want, got)
	tallies := []load.Tally{{Kind: "subjects", Created: 2500}, {Kind: "eventcategories", Created: 1},
		{Kind: "events", Created: 1}}
	valuetest.Equal(t, load.Report{Kinds: tallies}, report)
}

func TestBatchesStayBelowTheByteLimit(t *testing.T) {
	school := clienttest.NewSchool(t)
	var notes strings.Builder
	notes.WriteString("key,event,contents\n")
	for i := range 30 {
		fmt.Fprintf(&notes, "%d,e,%s\n", i, strings.Repeat("<", 65536)) // each < takes six bytes on the wire
	}
	loads(t, school.SignedIn(t), open(t, map[string]string{
		"eventcategories.csv": "key,name\nlesson,Lesson\n",
		"events.csv":          "key,body,category,starts_at,ends_at\ne,Maths,lesson,2026-09-07,2026-09-07\n",
		"notes.csv":           notes.String(),
	}), load.Options{})
	valuetest.Same(t, school.Count("notes"), 30, "notes stored")
	for _, b := range school.Batches() {
		valuetest.Holds(t, b.Bytes < 4<<20, "a batch of %d bytes", b.Bytes)
	}
}

// firstTimes returns a Before that handles the first n import calls.
func firstTimes(n int32, treat func(http.ResponseWriter)) func(http.ResponseWriter, *http.Request) bool {
	var seen atomic.Int32
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, "/api/admin/import/") || seen.Add(1) > n {
			return false
		}
		treat(w)
		return true
	}
}

func unavailable(w http.ResponseWriter) {
	clienttest.Answer(w, http.StatusServiceUnavailable, map[string]any{"status": "Service unavailable"})
}

func TestLoadOutlastsAServiceThatIsAway(t *testing.T) {
	for name, treat := range map[string]func(http.ResponseWriter){
		"503":              unavailable,
		"connection reset": clienttest.Reset,
		"429": func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "1")
			clienttest.Answer(w, http.StatusTooManyRequests, map[string]any{"status": "Too many requests"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			school := clienttest.NewSchool(t)
			c := school.SignedIn(t)
			times := int32(6)
			if name == "429" {
				times = 1
			}
			school.Before = firstTimes(times, treat)
			began := time.Now()
			report := loads(t, c, open(t, subjects(3000)), load.Options{})
			if report.Kinds[0].Created != 3000 || school.Count("subjects") != 3000 {
				t.Errorf("report %+v, stored %d", report.Kinds, school.Count("subjects"))
			}
			if waited := time.Since(began); name == "429" && waited < time.Second {
				t.Errorf("tried again after %s, was told a second", waited)
			}
		})
	}
}

// The answer to a batch may be lost after the batch was stored. Sent again, it is unchanged, and nothing is stored
// twice.
func TestBatchWhoseAnswerIsLostIsSentAgain(t *testing.T) {
	school := clienttest.NewSchool(t)
	c := school.SignedIn(t)
	var lost atomic.Bool
	school.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost || !lost.CompareAndSwap(false, true) {
			return false
		}
		again, err := http.NewRequest(r.Method, school.URL+r.URL.Path, r.Body)
		if err != nil {
			t.Error(err)
			return false
		}
		again.Header = r.Header
		if res, err := http.DefaultClient.Do(again); err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("forwarding: %v %v", res, err)
		}
		clienttest.Reset(w)
		return true
	}
	report := loads(t, c, open(t, subjects(10)), load.Options{})
	valuetest.Equal(t, []load.Tally{{Kind: "subjects", Unchanged: 10}}, report.Kinds)
	valuetest.Same(t, school.Count("subjects"), 10, "stored")
}

func TestServiceThatStaysAwayIsGivenUp(t *testing.T) {
	school := clienttest.NewSchool(t)
	c := school.SignedIn(t)
	school.Before = firstTimes(1<<30, unavailable)
	_, err := load.Run(t.Context(), c, open(t, subjects(1)), load.Options{})
	if err == nil || err.Error() != "POST /api/admin/import/subjects: 503 Service unavailable" {
		t.Errorf("got %v", err)
	}
}

func TestNothingIsTriedAgainThatCannotSucceed(t *testing.T) {
	const call = "POST /api/admin/import/subjects: "
	for want, answer := range map[string]func(http.ResponseWriter){
		call + "403 Forbidden": func(w http.ResponseWriter) {
			clienttest.Answer(w, 403, map[string]any{"status": "Forbidden"})
		},
		call + "500 Internal server error": func(w http.ResponseWriter) {
			clienttest.Answer(w, 500, map[string]any{"status": "Internal server error"})
		},
		call + "404 Not found": func(w http.ResponseWriter) {
			clienttest.Answer(w, 404, map[string]any{"status": "Not found"})
		},
		call + "403 Forbidden: the answer is not Belfry's":                clienttest.Foreign(403, "who are you?"),
		call + "413 Request Entity Too Large: the answer is not Belfry's": clienttest.Foreign(413, "<h1>413</h1>"),
	} {
		school := clienttest.NewSchool(t)
		c := school.SignedIn(t)
		calls := 0
		school.Before = func(w http.ResponseWriter, _ *http.Request) bool {
			calls++
			answer(w)
			return true
		}
		_, err := load.Run(t.Context(), c, open(t, subjects(1)), load.Options{})
		valuetest.Holds(t, err != nil && err.Error() == want && calls == 1, "after %d calls: %v", calls, err)
	}
}

// TestHardToBreak_Row14_AProxysAnswerIsNotBelfrys has the answers that proxies give while no service is ready.
func TestHardToBreak_Row14_AProxysAnswerIsNotBelfrys(t *testing.T) {
	for name, treat := range map[string]func(http.ResponseWriter){
		"Traefik":          clienttest.Foreign(404, "404 page not found\n"),
		"Google's":         clienttest.Foreign(404, "default backend - 404"),
		"nginx":            clienttest.Foreign(503, "<html><h1>503 Service Temporarily Unavailable</h1></html>"),
		"a fault":          clienttest.Foreign(500, ""),
		"a page":           clienttest.Foreign(200, "<html>We are back soon</html>"),
		"another's status": clienttest.Foreign(404, `{"timestamp":"2026-11-22T02:50:00Z","status":404,"error":"Not Found"}`),
	} {
		t.Run(name, func(t *testing.T) {
			school := clienttest.NewSchool(t)
			c := school.SignedIn(t)
			school.Before = firstTimes(6, treat)
			loads(t, c, open(t, subjects(10)), load.Options{})
			valuetest.Same(t, school.Count("subjects"), 10, "loaded")

			// Only Belfry knows that an element is no more.
			var calls atomic.Int32
			school.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodDelete || calls.Add(1) > 3 {
					return false
				}
				treat(w)
				return true
			}
			_, err := load.Run(t.Context(), c, open(t, subjects(9)), load.Options{Prune: true})
			if n := school.Count("subjects"); err != nil || n != 9 {
				t.Errorf("%d subjects are current after one was retired: %v", n, err)
			}
			errortest.Report(t, c.Retire(t.Context(), 99999), "an element that is no more")
		})
	}
}

func TestEndedSessionIsRenewedOnceForAllBatches(t *testing.T) {
	school := clienttest.NewSchool(t)
	c := school.SignedIn(t)
	var once sync.Once
	school.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/events") {
			once.Do(school.EndSessions)
		}
		return false
	}
	files := map[string]string{"eventcategories.csv": "key,name\nlesson,Lesson\n"}
	var events strings.Builder
	events.WriteString("key,body,category,starts_at,ends_at\n")
	for i := range 8000 {
		fmt.Fprintf(&events, "%d,Maths,lesson,2026-09-07,2026-09-07\n", i)
	}
	files["events.csv"] = events.String()
	loads(t, c, open(t, files), load.Options{Parallel: 4})
	if school.Count("events") != 8000 || school.Logins() != 2 {
		t.Errorf("%d events, %d logins", school.Count("events"), school.Logins())
	}
}

func TestSessionThatCannotBeRenewedStopsTheLoad(t *testing.T) {
	school := clienttest.NewSchool(t)
	c := school.SignedIn(t)
	school.EndSessions()
	school.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/api/login" {
			return false
		}
		clienttest.Answer(w, http.StatusUnauthorized, map[string]any{"status": "Access denied"})
		return true
	}
	_, err := load.Run(t.Context(), c, open(t, subjects(1)), load.Options{})
	if err == nil || err.Error() != "the session has ended: POST /api/login: 401 Access denied" {
		t.Errorf("got %v", err)
	}
}

func TestRefusedRecordsAreReportedByFileAndLineAndStopPruning(t *testing.T) {
	school := clienttest.NewSchool(t)
	c := school.SignedIn(t)
	loads(t, c, open(t, subjects(1600)), load.Options{})
	school.Refuse = func(_, key string) map[string][]string {
		if key == "1200" || key == "7" {
			return map[string][]string{"name": {"is too dull", "is too short"}, "key": {"is odd"}}
		}
		return nil
	}
	report := loads(t, c, open(t, subjects(1500)), load.Options{Prune: true})
	want := []load.Tally{{Kind: "subjects", Unchanged: 1498, Failed: 2}}
	if diff := cmp.Diff(want, report.Kinds); diff != "" || report.Refused != 2 || school.Count("subjects") != 1600 {
		t.Errorf("%s, %d refused, %d stored", diff, report.Refused, school.Count("subjects"))
	}
	got := sequence.Map(report.First, func(r load.Refusal) string { return r.String() })
	lines := []string{"subjects.csv:9: key: is odd; name: is too dull, is too short",
		"subjects.csv:1202: key: is odd; name: is too dull, is too short"}
	valuetest.Equal(t, lines, got)
}

func TestPruneRetiresWhatHasGoneFromFilesThatAreThere(t *testing.T) {
	school := clienttest.NewSchool(t)
	c := school.SignedIn(t)
	files := subjects(2300) // more than two pages
	files["services.csv"] = "key,name\nbus,Bus\n"
	loads(t, c, open(t, files), load.Options{})
	fewer := open(t, subjects(100))
	report := loads(t, c, fewer, load.Options{Prune: true, DryRun: true})
	if report.Kinds[0].Retired != 2200 || school.Count("subjects") != 2300 {
		t.Errorf("dry run: %+v, %d left", report.Kinds, school.Count("subjects"))
	}
	report = loads(t, c, fewer, load.Options{Prune: true})
	want := []load.Tally{{Kind: "subjects", Unchanged: 100, Retired: 2200}}
	valuetest.Equal(t, want, report.Kinds)
	if school.Count("subjects") != 100 || school.Count("services") != 1 {
		t.Errorf("%d subjects, %d services left", school.Count("subjects"), school.Count("services"))
	}
}

func TestEmptyIsASchoolWithoutElements(t *testing.T) {
	school := clienttest.NewSchool(t)
	c := school.SignedIn(t)
	if empty, err := c.Empty(t.Context()); err != nil || !empty {
		t.Errorf("new: %v %v", empty, err)
	}
	loads(t, c, open(t, subjects(1)), load.Options{})
	if empty, err := c.Empty(t.Context()); err != nil || empty {
		t.Errorf("loaded: %v %v", empty, err)
	}
}

func TestInterruptedLoadIsAnError(t *testing.T) {
	school := clienttest.NewSchool(t)
	c := school.SignedIn(t)
	interrupted := errors.New("interrupted")
	ctx, interrupt := context.WithCancelCause(t.Context())
	options := load.Options{Parallel: 1, Progress: func(bundle.Kind, int) { interrupt(interrupted) }}
	b := open(t, subjects(5000))
	errortest.Is(t, errortest.Of(load.Run(ctx, c, b, options)), interrupted)
	report := loads(t, c, b, load.Options{})
	tally := report.Kinds[0]
	if tally.Created+tally.Unchanged != 5000 || tally.Unchanged == 0 || school.Count("subjects") != 5000 {
		t.Errorf("after the second load: %+v, %d stored", tally, school.Count("subjects"))
	}
}
