package endtoend_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/testing/apidoctest"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// taking returns what each operation of the document takes of a request, by method and path: the names of its
// parameters, and those of the fields beside the record in a JSON body.
func taking(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for operation, described := range apidoctest.Operations(t) {
		names := []string{}
		for _, p := range described.Parameters {
			names = append(names, p.Value.Name)
		}
		if described.RequestBody != nil {
			if body := described.RequestBody.Value.Content.Get("application/json"); body != nil {
				names = slices.AppendSeq(names, maps.Keys(body.Schema.Value.Properties))
			}
		}
		all[operation] = names
	}
	return all
}

// refuseSafetyWords holds that every operation of the document refuses the words that keep people safe where it does
// not take them, and a value that is none.
func (c *budgeted) refuseSafetyWords(t *testing.T, operations map[string][]string) {
	t.Helper()
	variable := regexp.MustCompile(`\{[a-z_]+\}`)
	refused := 0
	for operation, takes := range operations {
		if strings.Contains(operation, "/oidc/") {
			continue // what a provider sends, it decides
		}
		method, path, _ := strings.Cut(operation, " ")
		path = variable.ReplaceAllString(path, "1")
		check := func(word string, a servicetest.Answer) {
			t.Helper()
			if refused++; a.Code != http.StatusBadRequest || !strings.Contains(a.Body, word) {
				t.Errorf("%s with %s: %d %s", operation, word, a.Code, a.Body)
			}
		}
		headers := []string{}
		if strings.Contains(path, "/import/") {
			headers = []string{"Content-Type", "application/x-ndjson"}
		}
		for _, word := range []string{"dry_run", "clashes", "scope", "overwrite"} {
			check(word, c.admin.Do(t, method, path+"?"+word+"=nonsense", nil, headers...))
			if method != http.MethodGet {
				check(word, c.admin.Do(t, method, path, `{"key":"1","`+word+`":"nonsense"}`, headers...))
			}
		}
		if method != http.MethodGet && !slices.Contains(takes, "If-Match") {
			check("If-Match", c.admin.Do(t, method, path, nil, "If-Match", `"x"`))
		}
	}
	if refused < 300 {
		t.Errorf("only %d requests", refused)
	}
}

// stored returns all documents that a system has, by collection, but for leases and accesses: a dry run shows what the
// call would, and that is recorded.
func stored(t *testing.T, s *servicetest.System) map[string][]string {
	t.Helper()
	names, err := s.DB.ListCollectionNames(t.Context(), bson.D{})
	errortest.None(t, err)
	all := map[string][]string{}
	for _, name := range names {
		if strings.Contains(name, "access") || strings.HasSuffix(name, "_leases") ||
			strings.HasSuffix(name, "_settings") {
			continue
		}
		cursor, err := s.DB.Collection(name).Find(t.Context(), bson.D{})
		errortest.None(t, err)
		for cursor.Next(t.Context()) {
			all[name] = append(all[name], cursor.Current.String())
		}
		slices.Sort(all[name])
	}
	return all
}

// changed names the collections in which two states differ.
func changed(before, after map[string][]string) (names []string) {
	for name := range after {
		if !slices.Equal(before[name], after[name]) {
			names = append(names, name)
		}
	}
	return names
}

// settled waits until nothing has been written in the background for some seconds, and returns what is stored then.
func settled(t *testing.T, s *servicetest.System) map[string][]string {
	t.Helper()
	before, same := stored(t, s), 0
	for range 300 {
		time.Sleep(500 * time.Millisecond)
		now := stored(t, s)
		if same++; len(changed(before, now)) > 0 {
			before, same = now, 0
		}
		if same == 12 {
			return now
		}
	}
	t.Fatal("something is written without end")
	return nil
}

// noDryRun are the writing operations without a dry run, and why.
var noDryRun = map[string]string{
	"GET /api/login":                               "it writes a session alone",
	"POST /api/login":                              "it writes a session alone",
	"GET /api/logout":                              "it ends a session alone",
	"POST /api/login/oidc/{provider}/logout":       "it ends sessions alone",
	"PUT /api/sessions/{session}":                  "it writes a session alone",
	"PATCH /api/sessions/{session}":                "it writes a session alone",
	"PUT /api/sessions/{session}/revert":           "it writes a session alone",
	"DELETE /api/admin/users/{id}/sessions":        "it ends sessions alone",
	"POST /api/admin/users/{id}/uuid":              "its answer is a secret",
	"POST /api/elements/{id}/feeds/{feed}/address": "its answer is a secret",
	"POST /api/admin/webhooks/{id}/secret":         "its answer is a secret",
	"POST /api/admin/webhooks/{id}/test":           "it is a trial itself",
}

// trial is a call that writes.
type trial struct {
	operation string
	as        *servicetest.Client
	path      string
	body      any
}

// writes are calls of every writing operation.
func (c *budgeted) writes() []trial {
	four := []int64{c.set, c.teacher, c.room, c.minibuses}
	series := c.owner.Post(c.t, "/api/events", c.newSeries("", c.teacher)).Must(c.t, 200).Int(c.t, "series.events.0.id")
	retimed := record{"event": record{"starts_at_text": fmt.Sprintf("%d-01-02 07:00", 2040+c.years)}, "clashes": "skip"}
	c.owner.Post(c.t, "/api/events", record{"event": record{"body": "Trip", "event_category_id": c.trip,
		"starts_at_text": schoolDay + " 09:00", "ends_at_text": schoolDay + " 09:30"},
		"elements": []int64{c.pupil}}).Must(c.t, 200) // so that one is absent from a lesson
	taken := c.newEvent("refuse", c.room)
	c.owner.Post(c.t, "/api/events", taken).Must(c.t, 200)
	all := []trial{
		{"POST /api/events", c.owner, "/api/events", c.newEvent("refuse", four...)},
		{"POST /api/events", c.owner, "/api/events",
			record{"event": taken["event"], "elements": append(four, 999999), "clashes": "skip"}},
		{"POST /api/events", c.owner, "/api/events", c.newSeries("skip", four...)},
		{"POST /api/events/{id}/add", c.owner, at("/api/events/%d/add", c.book("")),
			record{"elements": four, "clashes": "report"}},
		{"POST /api/events/{id}/replace", c.owner, at("/api/events/%d/replace", c.book("", c.teacher)),
			record{"replace": []record{{"element": c.teacher, "with": c.room}}}},
		{"PATCH /api/events/{id}", c.owner, at("/api/events/%d", c.book("")), record{"event": record{"body": "Tried"}}},
		{"PATCH /api/events/{id}", c.owner, at("/api/events/%d?scope=all", series), retimed},
		{"PUT /api/events/{id}", c.owner, at("/api/events/%d", c.book("")), record{"event": record{"body": "Again"}}},
		{"DELETE /api/events/{id}", c.owner, at("/api/events/%d", c.book("", four...)), nil},
		{"DELETE /api/events/{id}", c.owner, at("/api/events/%d?scope=following", series), nil},
		{"POST /api/requests/{id}/allocations", c.driver, at("/api/requests/%d/allocations", c.ask()),
			record{"elements": []int64{c.buses[0], c.buses[1], c.room}}},
		{"POST /api/admin/clashes", c.admin, "/api/admin/clashes", record{"start_date": schoolDay}},
		{"POST /api/admin/erasures", c.admin, "/api/admin/erasures",
			record{"erasure": record{"element_id": c.colleague}}},
	}
	for kind, row := range map[string]record{
		"staff":     {"initials": "TRY", "forename": "Try", "surname": "Out"},
		"pupils":    {"forename": "Try", "surname": "Out"},
		"locations": {"name": "Tried"}, "groups": {"name": "Tried"}, "properties": {"name": "Tried"},
		"services": {"name": "Tried"}, "subjects": {"name": "Tried"}, "eventcategories": {"name": "Tried"},
		"memberships":    {"group": "year", "member": "Pupil:2", "spans": []record{{"first_day": "2030-01-01"}}},
		"administrators": {"element": "Location:1", "user": "keeper"},
		"users":          {"name": "Tried", "email": "tried@school.example"},
		"events": {"body": "Tried", "category": "trip", "starts_at": "2030-01-01 09:00", "ends_at": "2030-01-01 10:00",
			"elements": []string{"Staff:1"}},
		"notes": {"event": schoolDay + " 9", "contents": "Tried"},
	} {
		row["key"] = "tried"
		switch kind {
		case "memberships":
			row["key"] = "Group:year/Pupil:2"
		case "administrators":
			row["key"] = "Location:1/keeper"
		}
		path := "/api/admin/import/" + kind
		all = append(all, trial{"POST " + path, c.admin, path, ndjson(row)})
	}
	operations := writing(c.t)
	for n, of := range c.calls() {
		has := slices.ContainsFunc(all, func(tr trial) bool { return tr.operation == of.route })
		if !has && slices.Contains(operations, of.route) {
			r := of.request(2*n + 1) // odd: some differ from what is there
			path, _, _ := strings.Cut(r.path, "?dry_run")
			all = append(all, trial{of.route, r.as, path, r.body})
		}
	}
	return all
}

func (tr trial) send(t *testing.T, dryRun bool, key string) servicetest.Answer {
	t.Helper()
	method, _, _ := strings.Cut(tr.operation, " ")
	path, headers := tr.path, []string{"Idempotency-Key", key}
	if strings.Contains(path, "/import/") {
		headers = append(headers, "Content-Type", "application/x-ndjson")
	}
	if dryRun {
		path += map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + "dry_run=true"
	}
	a := tr.as.Do(t, method, path, tr.body, headers...)
	if a.Code >= http.StatusMultipleChoices || strings.Contains(a.Body, `"result":"failed"`) {
		t.Errorf("%s: %d %s", a.Request, a.Code, a.Body)
	}
	return a
}

// TestHardToBreak_Row16_EveryWriteTellsAndItsDryRunWritesNothing sends every call of the document with words that it
// refuses, and every writing one, those with a dry run first as one. What only a stored record has is left out when
// answers are compared: its id, its times and its secrets.
func TestHardToBreak_Row16_EveryWriteTellsAndItsDryRunWritesNothing(t *testing.T) {
	c := startBudgeted(t)
	s := c.system
	var trials, others []trial
	for _, w := range c.writes() {
		if noDryRun[w.operation] == "" {
			trials = append(trials, w)
		} else {
			others = append(others, w)
		}
	}
	operations := taking(t)
	before := settled(t, s)
	c.refuseSafetyWords(t, operations)
	answers := make([]servicetest.Answer, len(trials))
	for i, tr := range trials {
		if !slices.Contains(operations[tr.operation], "dry_run") {
			t.Errorf("%s has no dry run", tr.operation)
		}
		answers[i] = tr.send(t, true, fmt.Sprint("trial-", i))
		if names := changed(before, stored(t, s)); len(names) > 0 {
			t.Fatalf("a dry run of %s %v writes to %v", tr.operation, tr.body, names)
		}
	}
	if names := changed(before, settled(t, s)); len(names) > 0 {
		t.Errorf("after the dry runs, %v are written to", names)
	}
	marked := regexp.MustCompile(`^(\{"status":"\w+"),"dry_run":true`)
	own := regexp.MustCompile(`,?"(id|entity_id|uuid|secret|token|path|created_at|asked_at|series_id)":(null|[0-9]+|"[^"]*")` +
		`|,"names":\[[^]]*\]`)
	requests := map[string][]string{} // by operation
	write := func(tr trial, i int) servicetest.Answer {
		a := tr.send(t, false, fmt.Sprint("trial-", i)) // with the key of its dry run
		requests[tr.operation] = append(requests[tr.operation], a.Header.Get("X-Request-Id"))
		return a
	}
	for i, tr := range trials {
		delete(operations, tr.operation)
		before := stored(t, s)
		made, dry := write(tr, i), answers[i]
		if len(changed(before, stored(t, s))) == 0 {
			t.Errorf("%s %v writes nothing", tr.operation, tr.body)
		}
		if !marked.MatchString(dry.Body) || made.Header.Get("Idempotency-Replayed") != "" {
			t.Errorf("%s answers %s\n after %s", tr.operation, made.Body, dry.Body)
		}
		got := own.ReplaceAllString(marked.ReplaceAllString(dry.Body, "$1"), "")
		if want := own.ReplaceAllString(made.Body, ""); made.Code != dry.Code || got != want {
			t.Errorf("%s: a dry run answers %d\n %s, the call %d\n %s", tr.operation, dry.Code, got, made.Code, want)
		}
	}
	for operation := range operations {
		if !strings.HasPrefix(operation, "GET ") && noDryRun[operation] == "" {
			t.Errorf("no dry run of %s is tried", operation)
		}
	}
	for i, tr := range others {
		write(tr, len(trials)+i)
	}
	c.compareTold(t, requests)
}
