package suite

import (
	"fmt"
	"net/http"
	"strconv"
)

// repeatChecks are those of repeated requests, of versions, and of the audit.
func repeatChecks() []Check {
	return []Check{
		prove("TestDecisionsPart1_AnIdempotencyKeyReusedWithAnotherBody", reusedKey, "decisions 1 409 key"),
		prove("TestDecisionsPart1_IfMatchThatDoesNotMatch", staleVersion, "decisions 1 412"),
		prove("TestAdministration_AuditTellsWhoDidWhatToWhichRecord", auditOfARecord, "administration audit"),
	}
}

func reusedKey(t *T) {
	owner := t.User("can_add_events", "can_add_notes")
	c, room := t.Login(owner), t.Location()
	event := func(title string) map[string]any {
		return map[string]any{
			"event":    map[string]any{"body": title, "event_category_id": strconv.FormatInt(t.School.Category.ID, 10), "starts_at_text": "2019-04-10 09:00"},
			"elements": []string{room.Sent()},
		}
	}
	key := t.School.Prefix + "-key"
	first := c.Do(http.MethodPost, "/api/events", event("Assembly"), "Idempotency-Key", key).Must(http.StatusOK)
	t.Equal("the first answer is marked as a repeated one", first.Header.Get("Idempotency-Replayed"), "")
	again := c.Do(http.MethodPost, "/api/events", event("Assembly"), "Idempotency-Key", key)
	again.Want(http.StatusOK, first.Body)
	t.Equal("the second answer is marked as a repeated one", again.Header.Get("Idempotency-Replayed"), "true")
	other := c.Do(http.MethodPost, "/api/events", event("Concert"), "Idempotency-Key", key)
	t.Equal("the key with another body", fmt.Sprint(other.Code, other.At("status")), `409"Conflict"`)
	list := c.Get(fmt.Sprintf("/api/elements/%d/commitments?start_date=2019-04-10", room.ID))
	t.Equal("events made of three requests", list.Len("commitments"), 1)
	c.Do(http.MethodPost, "/api/events", event("Assembly")).WantCode(http.StatusOK)
	t.Equal("events after one without the key", c.Get(fmt.Sprintf("/api/elements/%d/commitments?start_date=2019-04-10", room.ID)).Len("commitments"), 2)
	note := eventPath(first.Int("event.id")) + "/notes"
	c.Do(http.MethodPost, note, wrapped("note"), "Idempotency-Key", key).WantCode(http.StatusOK) // of another path
	c.Do(http.MethodPost, note, wrapped("note", "contents", "x"), "Idempotency-Key", key).WantCode(http.StatusConflict)
}

func staleVersion(t *T) {
	c := t.Booker()
	path := eventPath(t.Event(c, nil).Int("event.id"))
	first := c.Get(path).Header.Get("ETag")
	t.Equal("an event has an ETag", first != "", true)
	changed := c.Do(http.MethodPatch, path, wrapped("event", "body", "Second"), "If-Match", first)
	changed.WantCode(http.StatusOK)
	second := changed.Header.Get("ETag")
	t.Equal("a change makes another ETag", second != first, true)
	for _, call := range []struct {
		method, path string
		body         any
	}{{"PATCH", path, wrapped("event", "body", "Third")}, {"PUT", path, wrapped("event", "body", "Third")}, {"DELETE", path, nil}, {"POST", path + "/add", map[string]any{"elements": []string{t.Location().Sent()}}}} {
		a := c.Do(call.method, call.path, call.body, "If-Match", first)
		t.Equal(a.request+" with the first ETag", fmt.Sprint(a.Code, a.At("status")), `412"Precondition failed"`)
	}
	got := c.Get(path)
	got.Equal("event.body", `"Second"`)
	got.Equal("event.commitments", "[]")
	note := fmt.Sprintf("/api/notes/%d", c.Post(path+"/notes", wrapped("note")).Int("note.id"))
	version := c.Get(note).Header.Get("ETag")
	c.Put(note, wrapped("note", "contents", "x")).WantCode(http.StatusOK)
	c.Do(http.MethodDelete, note, nil, "If-Match", version).WantCode(http.StatusPreconditionFailed)
	c.Do(http.MethodDelete, note, nil, "If-Match", "*").Want(http.StatusOK, okBody)
	c.Do(http.MethodDelete, path, nil, "If-Match", got.Header.Get("ETag")).Want(http.StatusOK, okBody)
}

// auditOfARecord makes, changes and deletes one record of each service and reads what each tells of it.
func auditOfARecord(t *T) {
	owner := t.User("can_add_events", "can_add_notes")
	c, room := t.Login(owner), t.Location()
	event := t.Event(c, nil).Int("event.id")
	note := c.Post(eventPath(event)+"/notes", wrapped("note", "contents", "x")).Int("note.id")
	c.Delete(fmt.Sprintf("/notes/%d", note)).WantCode(http.StatusOK)
	c.Patch(eventPath(event), wrapped("event", "body", "Changed")).WantCode(http.StatusOK)
	t.change(owner, map[string]any{"name": owner.Name + " II"})
	t.Admin().Delete(elementAdmin(room)).WantCode(http.StatusOK)
	admin := t.whoAmI(t.Admin())
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
		a := t.Admin().Get("/api/admin/audit/" + r.service + "?record=" + r.record)
		t.Equal("keys of the audit", a.Keys(""), "status,entries,next")
		t.Equal("entries of "+r.record, a.Len("entries"), len(r.actions))
		for i, action := range r.actions {
			entry := fmt.Sprintf("entries.%d.", i)
			t.Equal("action, record of entry "+strconv.Itoa(i), a.String(entry+"action")+" "+a.String(entry+"record"), action+" "+r.record)
			if action != "login" {
				t.Equal("who did it", a.Int(entry+"user_id"), r.by)
			}
		}
		c.Get("/api/admin/audit/"+r.service).Want(http.StatusForbidden, forbidden)
		t.Admin().Delete("/api/admin/audit/" + r.service).WantCode(http.StatusMethodNotAllowed) // it is only added to
	}
}

// whoAmI is the id of the client's user.
func (t *T) whoAmI(c *Client) int64 { return c.Get("/sessions/1/whoami").Int("user_id") }
