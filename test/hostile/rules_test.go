package hostile_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// follow checks RESTler's rules after a request that succeeded. It returns what has to be checked while no other client
// does anything.
func (w *worker) follow(ctx context.Context, kind string, req request, a servicetest.Answer) (alone func()) {
	if a.Code >= 300 || req.method != req.operation.method || strings.Contains(a.Body, `"dry_run":true`) {
		return nil
	}
	id := req.ids["id"]
	switch req.operation.String() {
	case "DELETE /api/events/{id}":
		w.gone(ctx, kind, "/api/events/%d", id)
		w.gone(ctx, kind, "/api/events/%d/notes", id)
	case "DELETE /api/notes/{id}", "DELETE /notes/{id}":
		w.gone(ctx, kind, "/api/notes/%d", id)
		w.gone(ctx, kind, "/notes/%d", id)
	case "DELETE /api/admin/webhooks/{id}":
		w.gone(ctx, kind, "/api/admin/webhooks/%d", id)
		w.gone(ctx, kind, "/api/admin/webhooks/%d/deliveries", id)
	case "DELETE /api/commitments/{id}":
		w.answers(ctx, kind, "use after free", http.MethodDelete, fmt.Sprintf("/api/commitments/%d", id), nil,
			http.StatusBadRequest)
	case "DELETE /api/requests/{id}":
		w.answers(ctx, kind, "use after free", http.MethodPatch, fmt.Sprintf("/api/requests/%d", id),
			`{"request":{"quantity":2}}`, http.StatusNotFound)
	case "DELETE /api/elements/{id}/feeds/{feed}":
		w.answers(ctx, kind, "use after free", http.MethodDelete, req.path, nil, http.StatusNotFound)
	case "POST /api/elements/{id}/feeds":
		w.feedOfItsUser(ctx, kind, id, a)
	case "POST /api/events/{id}/notes":
		w.noteOfItsEvent(ctx, kind, id, a)
	case "POST /api/events":
		w.eventOfItsOwner(ctx, a)
	case "POST /api/admin/elements/{id}/members":
		return func() { w.memberOfItsGroup(ctx, id, a) }
	}
	return nil
}

// gone checks that a record that was deleted can't be used.
func (w *worker) gone(ctx context.Context, kind, path string, id int64) {
	w.answers(ctx, kind, "use after free", http.MethodGet, fmt.Sprintf(path, id), nil, http.StatusNotFound)
}

// answers checks the answer to a request that one of the rules makes.
func (w *worker) answers(ctx context.Context, kind, rule, method, path string, body any, codes ...int) {
	w.checked(rule)
	a, err := w.crowd.clients[kind].Send(ctx, method, path, body)
	if a.Code == http.StatusUnauthorized && kind != "none" {
		return // another request has ended the session
	}
	if err == nil && a.Fault() == nil {
		for _, code := range codes {
			if a.Code == code {
				return
			}
		}
	}
	w.fail(kind, request{method: method, path: path, body: fmt.Sprint(body)}, a,
		fmt.Sprintf("%s: expected %v, fault %v, error %v", rule, codes, a.Fault(), err))
}

// feedOfItsUser checks that another user can't end a feed, nor its user below another element, and that its address
// does not work after its user has ended it.
func (w *worker) feedOfItsUser(ctx context.Context, kind string, element int64, a servicetest.Answer) {
	var made struct {
		Feed struct {
			ID   int64
			Path string
		}
	}
	if decode(a, &made) != nil {
		return
	}
	path := fmt.Sprintf("/api/elements/%d/feeds/%d", element, made.Feed.ID)
	w.answers(ctx, w.other(kind), "user namespace", http.MethodDelete, path, nil, http.StatusNotFound)
	if other, ok := w.known.id(w.maker.rng, "elements"); ok && other != element {
		w.answers(ctx, kind, "resource hierarchy", http.MethodDelete,
			fmt.Sprintf("/api/elements/%d/feeds/%d", other, made.Feed.ID), nil, http.StatusNotFound)
	}
	if w.maker.rng.IntN(2) > 0 {
		return
	}
	ended, err := w.crowd.clients[kind].Send(ctx, http.MethodDelete, path, nil)
	if err == nil && ended.Code == http.StatusOK {
		w.answers(ctx, "none", "use after free", http.MethodGet, made.Feed.Path, nil, http.StatusNotFound)
	}
}

// noteOfItsEvent checks that a note is not below another event, and that only its owner sees a hidden one.
func (w *worker) noteOfItsEvent(ctx context.Context, kind string, event int64, a servicetest.Answer) {
	var made struct {
		Note struct {
			ID    int64
			Staff bool `json:"visible_staff"`
			Pupil bool `json:"visible_pupil"`
			Guest bool `json:"visible_guest"`
		}
	}
	if decode(a, &made) != nil {
		return
	}
	path := fmt.Sprintf("/api/notes/%d", made.Note.ID)
	for viewer, shown := range map[string]bool{
		"staff": made.Note.Staff, "pupil": made.Note.Pupil, "guest": made.Note.Guest,
	} {
		if viewer == kind || shown {
			continue
		}
		// its event may be deleted by now, or its owner may have shown it
		w.answers(ctx, viewer, "user namespace", http.MethodDelete, path, nil, http.StatusNotFound,
			http.StatusForbidden,
			http.StatusUnauthorized)
	}
	other, ok := w.known.id(w.maker.rng, "events")
	if !ok || other == event {
		return
	}
	w.checked("resource hierarchy")
	notes, err := w.crowd.clients[kind].Send(ctx, http.MethodGet, fmt.Sprintf("/api/events/%d/notes", other), nil)
	if err != nil || strings.Contains(notes.Body, fmt.Sprintf(`{"id":%d,"contents"`, made.Note.ID)) {
		w.fail(kind, request{method: "GET", path: "notes of another event"}, notes,
			"resource hierarchy: the note is listed")
	}
}

// eventOfItsOwner checks that a user without the right can't change an event.
func (w *worker) eventOfItsOwner(ctx context.Context, a servicetest.Answer) {
	var made struct{ Event struct{ ID int64 } }
	if decode(a, &made) != nil {
		return
	}
	for _, stranger := range []string{"none", "guest", "pupil", "staff"} {
		for _, method := range []string{http.MethodPatch, http.MethodDelete} {
			w.answers(ctx, stranger, "user namespace", method, fmt.Sprintf("/api/events/%d", made.Event.ID),
				`{"event":{"body":"x"}}`, http.StatusForbidden, http.StatusUnauthorized, http.StatusNotFound)
		}
	}
}

// memberOfItsGroup checks that a membership can't be ended below another group.
func (w *worker) memberOfItsGroup(ctx context.Context, group int64, a servicetest.Answer) {
	var made struct {
		Members []struct {
			ElementID int64 `json:"element_id"`
		}
	}
	other, ok := w.known.id(w.maker.rng, "elements")
	if decode(a, &made) != nil || len(made.Members) == 0 || !ok || other == group {
		return
	}
	member := made.Members[0].ElementID
	if w.isMember(ctx, other, member) {
		return
	}
	before := w.isMember(ctx, group, member)
	w.answers(ctx, "admin", "resource hierarchy", http.MethodDelete,
		fmt.Sprintf("/api/admin/elements/%d/members/%d", other, member), nil, http.StatusNotFound,
		http.StatusMethodNotAllowed)
	if after := w.isMember(ctx, group, member); after != before {
		w.fail("admin", request{method: http.MethodDelete, path: "a member of another group"}, a,
			"resource hierarchy: the membership is gone")
	}
}

// isMember says whether a group has a member, as administrators see it.
func (w *worker) isMember(ctx context.Context, group, member int64) bool {
	a, err := w.crowd.root.Send(ctx, http.MethodGet, fmt.Sprintf("/api/admin/elements/%d/members?limit=1000", group),
		nil)
	return err == nil && strings.Contains(a.Body, fmt.Sprintf(`"element_id":%d,`, member))
}

// other returns a kind of user that is not this one.
func (w *worker) other(kind string) string {
	if kind == "staff" {
		return "editor"
	}
	return "staff"
}

// collections hold the records that clients create. A refused creation must not change their number.
var collections = []string{"users", "elements", "memberships", "feeds", "events", "eventcategories", "notes",
	"webhooks"}

// leak makes a request while no other client does, and checks that a refusal leaves no record behind.
func (w *worker) leak(ctx context.Context, kind string, req request) {
	w.alone.Lock()
	defer w.alone.Unlock()
	before := w.records(ctx)
	a, ok := w.send(ctx, kind, req)
	if !ok {
		return
	}
	defer w.tend(ctx, kind, req, a)
	if a.Code < 400 {
		return
	}
	w.checked("resource leak")
	for name, n := range w.records(ctx) {
		if n > before[name] { // fewer may be left: deletions go on in the background
			w.fail(kind, req, a, fmt.Sprintf("resource leak: %d %s, then %d", before[name], name, n))
		}
	}
}

// records counts what the collections hold.
func (w *worker) records(ctx context.Context) map[string]int64 {
	all := map[string]int64{}
	for _, name := range collections {
		n, err := system.DB.Collection(name).CountDocuments(ctx, bson.D{})
		if err != nil {
			w.t.Errorf("count %s: %v", name, err)
		}
		if name == "event_categories" && n == 0 {
			w.t.Errorf("there is no collection %s: its name is another", name)
		}
		all[name] = n
	}
	return all
}
