package load_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"runtime"
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
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
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

// TestHardToBreak_Row20_WhatClashesAmongTheRowsOfABundle has the rules of the service: what books an element, and when.
func TestHardToBreak_Row20_WhatClashesAmongTheRowsOfABundle(t *testing.T) {
	t.Parallel()
	const day = "2026-09-07 "
	for name, c := range map[string]struct {
		events string // category, starts, ends, elements
		more   map[string]string
		want   string // line, element, other line
	}{
		"one room at once":     {"l,09:00,10:00,R\nl,09:30,09:40,R", nil, "3 Location:R 2"},
		"one after another":    {"l,09:00,10:00,R\nl,10:00,11:00,R", nil, ""},
		"another room":         {"l,09:00,10:00,R\nl,09:30,10:00,S", nil, ""},
		"one that is not busy": {"l,09:00,10:00,R\nfree,09:00,10:00,R", nil, ""},
		"a long one over three": {"l,08:00,12:00,R\nl,09:00,09:30,R\nl,10:00,10:30,R\nl,11:00,11:30,R", nil,
			"3 Location:R 2; 4 Location:R 2; 5 Location:R 2"},
		"a moment inside":          {"l,09:00,10:00,R\nl,09:30,09:30,R", nil, "3 Location:R 2"},
		"a moment at its start":    {"l,09:00,10:00,R\nl,09:00,09:00,R", nil, "3 Location:R 2"},
		"a moment at its end":      {"l,09:00,10:00,R\nl,10:00,10:00,R", nil, ""},
		"two moments":              {"l,09:00,09:00,R\nl,09:00,09:00,R", nil, ""},
		"marks":                    {"l,09:00,10:00,Property:C;Subject:M\nl,09:00,10:00,Property:C;Subject:M", nil, ""},
		"a resource group":         {"l,09:00,10:00,Group:buses\nl,09:00,10:00,Group:buses", nil, ""},
		"a class and its pupil":    {"l,09:00,10:00,Group:9A\nl,09:30,10:00,Pupil:1", nil, "3 Pupil:1 2"},
		"a pupil and its class":    {"l,09:00,10:00,Pupil:1\nl,09:30,10:00,Group:9A", nil, "3 Pupil:1 2"},
		"a group of groups":        {"l,09:00,10:00,Pupil:1\nl,09:30,10:00,Group:school", nil, "3 Pupil:1 2"},
		"a class of the school":    {"l,09:00,10:00,Group:9A\nl,09:30,10:00,Group:school", nil, "3 Group:9A 2"},
		"not in the class then":    {"l,09:00,10:00,Group:9A\nl,09:30,10:00,Pupil:2", nil, ""},
		"both in one event":        {"l,09:00,10:00,Group:9A;Pupil:1", nil, ""},
		"twice in one event's day": {"l,09:00,10:00,R;S\nl,09:30,10:00,R;S", nil, "3 Location:R 2; 3 Location:S 2"},
		"rejected": {"l,09:00,10:00,R\nl,09:30,10:00,R", map[string]string{
			"commitments.csv": "event,element,status\n1,Location:R,rejected\n"}, ""},
		"requested": {"l,09:00,10:00,R\nl,09:30,10:00,R", map[string]string{
			"commitments.csv": "event,element,status\n1,Location:R,requested\n"}, "3 Location:R 2"},
		"allocated, whatever its type": {"l,09:00,10:00,Group:buses\nl,09:00,10:00,Group:buses;Property:C",
			map[string]string{"commitments.csv": "event,element,status,request\n" +
				"1,Property:C,uncontrolled,Group:buses\n"}, ""},
		"allocated twice": {"l,09:00,10:00,Group:buses\nl,09:00,10:00,Group:buses",
			map[string]string{"commitments.csv": "event,element,status,request\n" +
				"1,Property:C,uncontrolled,Group:buses\n2,Property:C,uncontrolled,Group:buses\n"}, "3 Property:C 2"},
	} {
		files := map[string]string{
			"locations.csv": "key,name\nR,R\nS,S\n", "properties.csv": "key,name\nC,C\n",
			"subjects.csv": "key,name\nM,M\n", "pupils.csv": "key,forename,surname\n1,A,B\n2,C,D\n",
			"groups.csv": "key,name,resource\n9A,9A,\nschool,School,\nbuses,Buses,true\n",
			"memberships.csv": "group,member,first_day,last_day\n9A,Pupil:1,,\n9A,Pupil:2,2026-09-08,\n" +
				"school,Group:9A,,\nbuses,Property:C,,\n",
			"eventcategories.csv": "key,name,busy\nl,Lesson,true\nfree,Free,false\n",
		}
		var rows strings.Builder
		rows.WriteString("key,body,category,starts_at,ends_at,elements\n")
		for i, event := range strings.Split(c.events, "\n") {
			cells := strings.Split(event, ",")
			elements := cells[3]
			for _, room := range []string{"R", "S"} {
				elements = strings.ReplaceAll(";"+elements+";", ";"+room+";", ";Location:"+room+";")
				elements = strings.Trim(elements, ";")
			}
			rows.WriteString(strings.Join([]string{string(rune('1' + i)), "E", cells[0], day + cells[1], day + cells[2],
				elements}, ",") + "\n")
		}
		files["events.csv"] = rows.String()
		for file, text := range c.more {
			files[file] = text
		}
		b, err := bundle.Open(clienttest.Folder(t, files), bundle.Options{Zone: timetest.London(t)})
		errortest.None(t, err, name)
		found, err := load.Clashes(t.Context(), nil, b, nil, timetest.London(t), nil)
		errortest.None(t, err, name)
		var got []string
		for _, w := range found.First {
			line, rest, _ := strings.Cut(strings.TrimPrefix(w.Text, "events.csv:"), ": ")
			element, rest, _ := strings.Cut(rest, " is booked twice at ")
			_, other, _ := strings.Cut(rest, ": line ")
			got = append(got, line+" "+element+" "+strings.TrimSuffix(other, " has it too"))
		}
		if diff := cmp.Diff(c.want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// measured is a source that measures the heap after its last event.
type measured struct {
	load.Source
	heap *uint64
}

func (m measured) Rows(kind bundle.Kind) iter.Seq2[bundle.Row, error] {
	return func(yield func(bundle.Row, error) bool) {
		for row, err := range m.Source.Rows(kind) {
			if !yield(row, err) {
				return
			}
		}
		if kind == bundle.Events {
			*m.heap = heapInUse()
		}
	}
}

func heapInUse() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// Each way up through groups was walked: two to the power of the layers, where each group is in both groups of the
// layer above.
func TestClashes_EachGroupIsReachedOnce(t *testing.T) {
	const layers = 60
	groups, members := "key,name\n", "group,member,first_day,last_day\nG0a,Location:R,,\nG0b,Location:R,2026-09-08,\n"
	for i := range layers {
		groups += fmt.Sprintf("G%da,A\nG%db,B\n", i, i)
		for _, member := range []string{"a", "b"} {
			if i > 0 {
				members += fmt.Sprintf("G%da,Group:G%d%s,,\nG%db,Group:G%d%s,,\n", i, i-1, member, i, i-1, member)
			}
		}
	}
	members += fmt.Sprintf("G0a,Group:G%da,,\n", layers-1) // round in a circle
	events := "key,body,category,starts_at,ends_at,elements\n"
	for i, day := range []string{"2026-09-07", "2026-09-08"} {
		events += fmt.Sprintf("%d,E,l,%s 09:00,%s 10:00,Group:G%db\n", 2*i, day, day, layers-1)
		events += fmt.Sprintf("%d,E,l,%s 09:30,%s 10:00,Location:R\n", 2*i+1, day, day)
	}
	b, err := bundle.Open(clienttest.Folder(t, map[string]string{
		"locations.csv": "key,name\nR,R\n", "groups.csv": groups, "memberships.csv": members,
		"eventcategories.csv": "key,name,busy\nl,Lesson,true\n", "events.csv": events,
	}), bundle.Options{Zone: timetest.London(t)})
	errortest.None(t, err)
	found, err := load.Clashes(t.Context(), nil, b, nil, timetest.London(t), nil)
	errortest.None(t, err)
	rooms := 0
	for _, w := range found.First {
		if strings.Contains(w.Text, "Location:R is booked twice") {
			rooms++
		}
	}
	valuetest.Same(t, rooms, 2, "the room clashes %d times: %v", rooms, found.First)
}

// TestClashes_TakeLittleMemory, since belfryctl holds the bookings of a school of five years, a million.
func TestClashes_TakeLittleMemory(t *testing.T) {
	const events, perEvent = 20_000, 100 // bytes, with four elements each
	var rows strings.Builder
	rows.WriteString("key,body,category,starts_at,ends_at,elements\n")
	for i := range events {
		fmt.Fprintf(&rows, "%060d,Lesson,l,2026-09-07 09:00,2026-09-07 09:00,"+
			"Location:1;Location:2;Location:3;Location:4\n", i)
	}
	zone := timetest.London(t)
	b, err := bundle.Open(clienttest.Folder(t, map[string]string{
		"locations.csv": "key,name\n1,A\n2,B\n3,C\n4,D\n", "eventcategories.csv": "key,name,busy\nl,Lesson,true\n",
		"events.csv": rows.String(),
	}), bundle.Options{Zone: zone})
	errortest.None(t, err)
	before, held := heapInUse(), uint64(0)
	errortest.None(t, errortest.Of(load.Clashes(t.Context(), nil, measured{b, &held}, nil, zone, nil)))
	if got := (held - before) / events; got > perEvent {
		t.Errorf("%d bytes are held of an event, at most %d are expected", got, perEvent)
	}
}
