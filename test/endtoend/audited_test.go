package endtoend_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/testing/apidoctest"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// untold are the writes that leave no entry in the audit, and why.
var untold = map[string]string{
	"GET /api/logout":                    "it ends one's own session; it must work without MongoDB",
	"POST /api/admin/webhooks/{id}/test": "it sends a notice that nothing has caused, and changes no record",
}

// writer calls each writing route once, and remembers by which request.
type writer struct {
	t        *testing.T
	requests map[string]string // by method and template of the path, the id of the request
}

// call sends a request to a template of the document, its variables filled in, and ends the test unless it succeeds.
func (w *writer) call(c *servicetest.Client, operation string, body any, ids ...any) servicetest.Answer {
	w.t.Helper()
	method, path := filled(operation, ids...)
	var headers []string
	if strings.Contains(path, "/import/") {
		text, err := json.Marshal(body)
		errortest.None(w.t, err)
		body, headers = string(text), []string{"Content-Type", "application/x-ndjson"}
	}
	return w.sent(operation, c.Do(w.t, method, path, body, headers...))
}

// filled returns the method and path of an operation, its variables filled in.
func filled(operation string, ids ...any) (method, path string) {
	method, path, _ = strings.Cut(operation, " ")
	for _, id := range ids {
		before, rest, _ := strings.Cut(path, "{")
		_, after, _ := strings.Cut(rest, "}")
		path = before + fmt.Sprint(id) + after
	}
	return method, path
}

// sent remembers the request of an operation's answer, which must be a success.
func (w *writer) sent(operation string, a servicetest.Answer) servicetest.Answer {
	w.t.Helper()
	if a.Code != http.StatusOK && a.Code != http.StatusCreated || strings.Contains(a.Body, `"result":"failed"`) {
		w.t.Fatalf("%s: %d %s", operation, a.Code, a.Body)
	}
	w.requests[operation] = a.Header.Get("X-Request-Id")
	return a
}

// writing lists the operations of the document that write: those with a method that does, login and logout.
func writing(t *testing.T) []string {
	t.Helper()
	operations := []string{"GET /api/login", "GET /api/logout"}
	for operation := range apidoctest.Operations(t) {
		// test/openid sends the calls that go through a provider.
		if !strings.HasPrefix(operation, "GET ") && !strings.Contains(operation, "/oidc/") {
			operations = append(operations, operation)
		}
	}
	if len(operations) < 50 {
		t.Fatalf("the document has only %q", operations)
	}
	return operations
}

// TestHardToBreak_Row16_EveryWriteTells goes through every writing route of the document, which has exactly those that
// the services serve (apidoctest.SameOperations).
func TestHardToBreak_Row16_EveryWriteTells(t *testing.T) {
	s := servicetest.Start(t, servicetest.Options{})
	admin := s.Admin(t)
	w := &writer{t: t, requests: map[string]string{}}
	w.imports(admin)
	w.elements(admin)
	w.events(s, admin)
	w.webhooks(admin)
	w.users(s, admin)

	told := map[string]bool{}
	for _, service := range names.WithData() {
		for _, line := range admin.Audit(t, service, "limit=1000") {
			told[line.Request] = true
		}
	}
	for _, operation := range writing(t) {
		request, called := w.requests[operation]
		switch {
		case !called:
			t.Errorf("%s has no row in this test", operation)
		case told[request] && untold[operation] != "":
			t.Errorf("%s leaves an entry, and is among those that don't", operation)
		case !told[request] && untold[operation] == "":
			t.Errorf("%s leaves no entry in the audit", operation)
		}
		delete(w.requests, operation)
	}
	for operation := range w.requests {
		t.Errorf("%s is not in the document", operation)
	}
}

func (w *writer) imports(admin *servicetest.Client) {
	for _, row := range []struct {
		kind   string
		record record
	}{
		{"staff", record{"key": "1", "initials": "AB", "forename": "Ann", "surname": "Bell"}},
		{"pupils", record{"key": "1", "forename": "Kip", "surname": "Cole"}},
		{"locations", record{"key": "1", "name": "Hall"}},
		{"groups", record{"key": "1", "name": "Choir"}},
		{"properties", record{"key": "1", "name": "Term"}},
		{"services", record{"key": "1", "name": "Catering"}},
		{"subjects", record{"key": "1", "name": "Music"}},
		{"users", record{"key": "1", "name": "Una", "email": "una@school.example", "can_api": true}},
		{"memberships", record{"key": "Group:1/Pupil:1", "group": "1", "member": "Pupil:1",
			"spans": []any{record{"first_day": nil, "last_day": nil}}}},
		{"administrators", record{"key": "Property:1/1", "element": "Property:1", "user": "1"}},
		{"eventcategories", record{"key": "1", "name": "Lesson", "busy": true, "clash_check": true}},
		{"events", record{"key": "1", "body": "Choir", "category": "1", "starts_at": "2026-11-25 09:00",
			"ends_at": "2026-11-25 10:00", "elements": []any{"Group:1"}}},
		{"notes", record{"key": "1", "event": "1", "contents": "Bring music"}},
	} {
		w.call(admin, "POST /api/admin/import/"+row.kind, row.record)
	}
}

func (w *writer) elements(admin *servicetest.Client) {
	element := func(entityType string, more record) int64 {
		more["entity_type"], more["name"] = entityType, entityType+" of the test"
		return w.call(admin, "POST /api/admin/elements", record{"element": more}).Int(w.t, "element.id")
	}
	group, room := element("Group", record{}), element("Location", record{})
	w.call(admin, "PATCH /api/admin/elements/{id}", record{"element": record{"short_name": "R"}}, room)
	w.call(admin, "POST /api/admin/elements/{id}/members", record{"members": []record{{"element_id": room}}}, group)
	w.call(admin, "DELETE /api/admin/elements/{id}/members/{member}", nil, group, room)
	me := admin.Get(w.t, "/sessions/1/whoami").Int(w.t, "user_id")
	w.call(admin, "PUT /api/admin/elements/{id}/administrators/{user}", nil, room, me)
	w.call(admin, "DELETE /api/admin/elements/{id}/administrators/{user}", nil, room, me)
	feed := w.call(admin, "POST /api/elements/{id}/feeds", nil, room).Int(w.t, "feed.id")
	w.call(admin, "POST /api/elements/{id}/feeds/{feed}/address", nil, room, feed)
	w.call(admin, "DELETE /api/elements/{id}/feeds/{feed}", nil, room, feed)
	w.call(admin, "DELETE /api/admin/elements/{id}", nil, room)
	leaver := element("Pupil", record{"forename": "Lee", "surname": "Ver"})
	w.call(admin, "POST /api/admin/erasures", record{"erasure": record{"element_id": leaver}})
	awaitErasure(w.t, admin, leaver)
}

// events has a controlled hall and a minibus of a pool, both decided on by the administrator, and a booker who asks.
func (w *writer) events(s *servicetest.System, admin *servicetest.Client) {
	t := w.t
	t.Helper()
	const uuid = "a-booker-of-the-test"
	admin.Import(t, "users", record{"key": "b", "name": "Bea", "email": "b@school.example", "uuid": uuid,
		"can_api": true, "can_add_events": true, "can_add_notes": true})
	hall := admin.Import(t, "locations", record{"key": "2", "name": "Great hall"})["2"]
	pool := admin.Import(t, "groups", record{"key": "2", "name": "Minibuses", "resource": true})["2"]
	bus := admin.Import(t, "services", record{"key": "2", "name": "Minibus"})["2"]
	admin.Import(t, "memberships", record{"key": "Group:2/Service:2", "group": "2", "member": "Service:2",
		"spans": []any{record{"first_day": nil, "last_day": nil}}})
	me := admin.Get(t, "/sessions/1/whoami").Int(t, "user_id")
	for _, element := range []int64{hall, pool} {
		admin.Put(t, fmt.Sprintf("/api/admin/elements/%d/administrators/%d", element, me), nil).Must(t, http.StatusOK)
	}
	category := w.call(admin, "POST /api/admin/eventcategories", record{"eventcategory": record{"name": "Trip"}}).
		Int(t, "eventcategory.id")
	w.call(admin, "PATCH /api/admin/eventcategories/{id}", record{"eventcategory": record{"busy": true}}, category)

	booker := s.Login(t, uuid)
	event := w.call(booker, "POST /api/events", record{"event": record{"body": "Trip", "event_category_id": category,
		"starts_at": "2026-11-25 09:30", "ends_at": "2026-11-25 11:00"}, "elements": []string{fmt.Sprint(hall)}}).
		Int(t, "event.id")
	w.call(booker, "PATCH /api/events/{id}", record{"event": record{"body": "A trip"}}, event)
	w.call(booker, "PUT /api/events/{id}", record{"event": record{"body": "The trip"}}, event)
	pupil := admin.Get(t, "/api/admin/elements?key=Pupil:1").Int(t, "elements.0.id")
	w.call(booker, "POST /api/events/{id}/add", record{"elements": []string{fmt.Sprint(pool), fmt.Sprint(pupil)}},
		event)
	w.call(admin, "POST /api/admin/clashes", record{"start_date": "2026-11-25", "end_date": "2026-11-25"})
	gym := admin.Import(t, "locations", record{"key": "3", "name": "Gym"})["3"]
	w.call(booker, "POST /api/events/{id}/replace", record{"replace": []record{{"element": pupil, "with": gym}}}, event)
	w.call(booker, "DELETE /api/events/{id}/elements/{element}", nil, event, gym)

	whole := admin.Get(t, fmt.Sprintf("/api/events/%d", event))
	commitment, request := whole.Int(t, "event.commitments.0.id"), whole.Int(t, "event.requests.0.id")
	w.call(admin, "PATCH /api/commitments/{id}", record{"commitment": record{"status": "confirmed"}}, commitment)
	w.call(admin, "DELETE /api/commitments/{id}", nil, commitment)
	w.call(admin, "POST /api/requests/{id}/allocations", record{"elements": []int64{bus}}, request)
	w.call(admin, "PATCH /api/requests/{id}", record{"request": record{"quantity": 2}}, request)
	w.call(admin, "DELETE /api/requests/{id}", nil, request)

	note := func() int64 {
		return w.call(booker, "POST /api/events/{id}/notes", record{"note": record{"contents": "x"}}, event).
			Int(t, "note.id")
	}
	for _, prefix := range []string{"/api/notes", "/notes"} {
		id := note()
		w.call(booker, "PUT "+prefix+"/{id}", record{"note": record{"contents": "y"}}, id)
		w.call(booker, "PATCH "+prefix+"/{id}", record{"note": record{"contents": "z"}}, id)
		w.call(booker, "DELETE "+prefix+"/{id}", nil, id)
	}
	w.call(booker, "DELETE /api/events/{id}", nil, event)
}

func (w *writer) webhooks(admin *servicetest.Client) {
	id := w.call(admin, "POST /api/admin/webhooks",
		record{"webhook": record{"url": "https://receiver.invalid/belfry"}}).Int(w.t, "webhook.id")
	w.call(admin, "PATCH /api/admin/webhooks/{id}", record{"webhook": record{"active": false}}, id)
	w.call(admin, "POST /api/admin/webhooks/{id}/secret", nil, id)
	w.call(admin, "POST /api/admin/webhooks/{id}/test", nil, id)
	w.call(admin, "DELETE /api/admin/webhooks/{id}", nil, id)
}

func (w *writer) users(s *servicetest.System, admin *servicetest.Client) {
	t := w.t
	t.Helper()
	const uuid = "a-user-of-the-test"
	made := w.call(admin, "POST /api/admin/users", record{"user": record{"name": "Vic", "email": "v@school.example",
		"uuid": uuid, "permissions": record{"can_api": true}}}).Int(t, "user.id")
	w.call(admin, "PATCH /api/admin/users/{id}", record{"user": record{"permissions": record{"can_su": true}}}, made)
	vic := s.Client(t)
	w.sent("GET /api/login", vic.Get(t, "/api/login?uuid="+url.QueryEscape(uuid)))
	una := admin.Get(t, "/api/users?email=una@school.example").Int(t, "users.0.id")
	w.call(vic, "PUT /api/sessions/{session}", record{"session": record{"user_id": una}}, 1)
	w.call(vic, "PUT /api/sessions/{session}/revert", nil, 1)
	w.call(vic, "PATCH /api/sessions/{session}", record{"session": record{"user_id": una}}, 1)
	w.call(vic, "PUT /api/sessions/{session}/revert", nil, 1)
	w.call(vic, "GET /api/logout", nil)
	w.call(vic, "POST /api/login", record{"uuid": uuid})
	token := record{"token": record{"name": "Sign", "scope": "read"}}
	w.call(vic, "DELETE /api/me/tokens/{token}", nil, w.call(vic, "POST /api/me/tokens", token).Int(t, "token.id"))
	given := w.call(admin, "POST /api/admin/users/{id}/tokens", token, made).Int(t, "token.id")
	w.call(admin, "DELETE /api/admin/users/{id}/tokens/{token}", nil, made, given)
	w.call(admin, "DELETE /api/admin/users/{id}/sessions", nil, made)
	w.call(admin, "POST /api/admin/users/{id}/uuid", nil, made)
	w.call(admin, "DELETE /api/admin/users/{id}", nil, made)
}

// awaitErasure waits until the erasure of an element is done.
func awaitErasure(t *testing.T, admin *servicetest.Client, element int64) {
	t.Helper()
	path := fmt.Sprintf("/api/admin/erasures/%d", element)
	for admin.Get(t, path).Must(t, http.StatusOK).Text(t, "erasure.state") != "done" {
		time.Sleep(100 * time.Millisecond)
	}
}
