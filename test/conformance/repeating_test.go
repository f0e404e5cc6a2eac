package conformance_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

func TestDecisionsPart1_AnIdempotencyKeyReusedWithAnotherBody(t *testing.T) {
	proves(t, "decisions 1 409 key: an Idempotency-Key reused with another body: 409")
	owner := school.User(t, "can_add_events", "can_add_notes")
	c, room := school.Login(t, owner), school.Location(t)
	assembly, concert := school.booking(sent(room)), school.booking(sent(room))
	key := school.Prefix + "-key"
	first := c.Do(t, http.MethodPost, "/api/events", assembly, "Idempotency-Key", key).Must(t, http.StatusOK)
	equal(t, "the first answer is marked as a repeated one", first.Header.Get("Idempotency-Replayed"), "")
	again := c.Do(t, http.MethodPost, "/api/events", assembly, "Idempotency-Key", key)
	again.Want(t, http.StatusOK, first.Body)
	equal(t, "the second answer is marked as a repeated one", again.Header.Get("Idempotency-Replayed"), "true")
	other := c.Do(t, http.MethodPost, "/api/events", concert, "Idempotency-Key", key)
	equal(t, "the key with another body", statusOf(t, other), `409"Conflict"`)
	list := c.Get(t, elementPath(room)+"/commitments?start_date=2019-04-10")
	equal(t, "events made of three requests", list.Len(t, "commitments"), 1)
	c.Do(t, http.MethodPost, "/api/events", assembly).WantCode(t, http.StatusOK)
	equal(t, "events after one without the key",
		c.Get(t, elementPath(room)+"/commitments?start_date=2019-04-10").Len(t, "commitments"), 2)
	note := pathIn(t, first) + "/notes"
	// of another path
	c.Do(t, http.MethodPost, note, wrapped("note"), "Idempotency-Key", key).WantCode(t, http.StatusOK)
	c.Do(t, http.MethodPost, note, wrapped("note", "contents", "x"), "Idempotency-Key", key).WantCode(t,
		http.StatusConflict)
}

func TestDecisionsPart1_IfMatchThatDoesNotMatch(t *testing.T) {
	proves(t, "decisions 1 412: If-Match that did not match: 412")
	c := school.Booker(t)
	path := pathIn(t, school.Event(t, c, nil))
	first := c.Get(t, path).Header.Get("ETag")
	equal(t, "an event has an ETag", first != "", true)
	changed := c.Do(t, http.MethodPatch, path, wrapped("event", "body", "Second"), "If-Match", first)
	changed.WantCode(t, http.StatusOK)
	second := changed.Header.Get("ETag")
	equal(t, "a change makes another ETag", second != first, true)
	for _, call := range []struct {
		method, path string
		body         any
	}{{"PATCH", path, wrapped("event", "body", "Third")}, {"PUT", path, wrapped("event", "body", "Third")},
		{"DELETE", path, nil}, {"POST", path + "/add", object{"elements": []string{school.Location(t).Sent()}}}} {
		a := c.Do(t, call.method, call.path, call.body, "If-Match", first)
		equal(t, a.Request+" with the first ETag", statusOf(t, a), `412"Precondition failed"`)
	}
	got := c.Get(t, path)
	got.Equal(t, "event.body", `"Second"`)
	got.Equal(t, "event.commitments", "[]")
	note := notePath(c.Post(t, path+"/notes", wrapped("note")).Int(t, "note.id"))
	version := c.Get(t, note).Header.Get("ETag")
	c.Put(t, note, wrapped("note", "contents", "x")).WantCode(t, http.StatusOK)
	c.Do(t, http.MethodDelete, note, nil, "If-Match", version).WantCode(t, http.StatusPreconditionFailed)
	c.Do(t, http.MethodDelete, note, nil, "If-Match", "*").Want(t, http.StatusOK, okBody)
	c.Do(t, http.MethodDelete, path, nil, "If-Match", got.Header.Get("ETag")).Want(t, http.StatusOK, okBody)
}

// TestAdministration_AuditTellsWhoDidWhatToWhichRecord creates, changes and deletes one record of each service and
// reads its audit.
func TestAdministration_AuditTellsWhoDidWhatToWhichRecord(t *testing.T) {
	proves(t, "administration audit: GET /api/admin/audit: who did what to which record")
	owner := school.User(t, "can_add_events", "can_add_notes")
	c, room := school.Login(t, owner), school.Location(t)
	event := school.Event(t, c, nil).Int(t, "event.id")
	note := c.Post(t, eventPath(event)+"/notes", wrapped("note", "contents", "x")).Int(t, "note.id")
	c.Delete(t, fmt.Sprintf("/notes/%d", note)).WantCode(t, http.StatusOK)
	c.Patch(t, eventPath(event), wrapped("event", "body", "Changed")).WantCode(t, http.StatusOK)
	school.change(t, owner, object{"name": owner.Name + " II"})
	school.Admin().Delete(t, elementAdmin(room)).WantCode(t, http.StatusOK)
	admin := whoAmI(t, school.Admin())
	for _, r := range []struct {
		service, record string
		by              int64
		actions         []string // newest first
	}{
		{"events", fmt.Sprintf("Event:%d", event), owner.ID, []string{"update", "create"}},
		{"notes", fmt.Sprintf("Note:%d", note), owner.ID, []string{"delete", "create"}},
		{"identity", fmt.Sprintf("User:%d", owner.ID), admin, []string{"update", "login", "create"}},
		{"elements", fmt.Sprintf("Element:%d", room.ID), admin, []string{"retire", "create"}},
	} {
		a := school.Admin().Get(t, "/api/admin/audit/"+r.service+"?record="+r.record)
		equal(t, "keys of the audit", a.Keys(t, ""), "status,entries,next")
		equal(t, "entries of "+r.record, a.Len(t, "entries"), len(r.actions))
		for i, action := range r.actions {
			entry := fmt.Sprintf("entries.%d.", i)
			equal(t, "action, record of entry "+strconv.Itoa(i),
				a.Text(t, entry+"action")+" "+a.Text(t, entry+"record"), action+" "+r.record)
			if action != "login" {
				equal(t, "who did it", a.Int(t, entry+"user_id"), r.by)
			}
		}
		c.Get(t, "/api/admin/audit/"+r.service).Must(t, http.StatusForbidden).Equal(t, "status", `"Forbidden"`)
		// it is only added to
		school.Admin().Delete(t, "/api/admin/audit/"+r.service).WantCode(t, http.StatusMethodNotAllowed)
	}
}

// whoAmI returns the id of the client's user.
func whoAmI(t *testing.T, c *servicetest.Client) int64 {
	t.Helper()
	return c.Get(t, "/sessions/1/whoami").Int(t, "user_id")
}
