package sight

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// onlooker is a viewer of the table who views a confidential event.
type onlooker struct {
	client *servicetest.Client
	event  thing
}

func (w *world) onlookers() map[string]onlooker {
	own, group := w.events["confidential"], w.events["confidential, with its group"]
	return map[string]onlooker{
		"an admin":                             {w.admin, own},
		"its owner":                            {w.clients["maker"], own},
		"its organiser":                        {w.clients["staff"], own},
		"a pupil that it commits":              {w.clients["pupil"], own},
		"a pupil of a group that it commits":   {w.clients["pupil"], group},
		"a parent of a pupil that it commits":  {w.clients["parent"], own},
		"a parent of a pupil of such a group":  {w.clients["parent"], group},
		"a colleague":                          {w.clients["colleague"], own},
		"a user who may edit all events":       {w.clients["editor"], own},
		"a user who decides on an entry of it": {w.clients["keeper"], own},
		"a guest at a public property of it":   {w.clients["guest"], own},
	}
}

// compareConfidential asks each route that shows events or bookings about confidential events.
func (w *world) compareConfidential(t *testing.T) {
	rows := section(t, "viewers of a confidential event")
	for _, row := range rows {
		who, ok := w.onlookers()[row[0]]
		if !ok {
			t.Fatalf("no user is %q of the table", row[0])
		}
		told := row[1] == "details"
		before := w.admin.Get(t, "/api/changes").Must(t, http.StatusOK).Text(t, "next")
		note := w.clients["maker"].Post(t, fmt.Sprintf("/api/events/%d/notes", who.event.id), fields{"note": fields{
			"contents": "Why of " + who.event.name, "visible_guest": true, "visible_pupil": true,
		}}).Must(t, http.StatusOK).Int(t, "note.id")
		w.compareTold(t, row[0], who, told)
		event := who.client.Get(t, fmt.Sprintf("/api/events/%d", who.event.id)).Must(t, http.StatusOK)
		if want := map[bool]string{true: who.event.name, false: "Busy"}[told]; event.Text(t, "event.body") != want {
			t.Errorf("to %s the body is %s, want %s", row[0], event.Body, want)
		}
		event = who.client.Get(t, fmt.Sprintf("/api/events/%d?include=category,decisions", who.event.id)).
			Must(t, http.StatusOK)
		if got := event.Has("event.category"); got != told {
			t.Errorf("to %s the category is shown: %v, want %v", row[0], got, told)
		}
		w.compareDecisions(t, row[0], who, told, event)
		notes := who.client.Get(t, fmt.Sprintf("/api/events/%d/notes", who.event.id)).Must(t, http.StatusOK)
		if got := notes.Len(t, "notes") > 0; got != told {
			t.Errorf("%s sees the notes: %v, want %v", row[0], got, told)
		}
		want := map[bool]int{true: http.StatusOK, false: http.StatusNotFound}[told]
		noted := who.client.Get(t, fmt.Sprintf("/api/notes?events=%d", who.event.id)).Must(t, http.StatusOK)
		if got := noted.Len(t, "events") > 0; got != told {
			t.Errorf("%s is told that there are notes: %v, want %v", row[0], got, told)
		}
		for _, path := range []string{"/api/notes/%d", "/notes/%d"} {
			who.client.Get(t, fmt.Sprintf(path, note)).WantCode(t, want)
		}
		// refused unless the viewer sees everything
		changes := who.client.Get(t, "/api/changes?after="+before)
		if listed := strings.Contains(changes.Body, `"Note"`); listed != told && changes.Code == http.StatusOK {
			t.Errorf("%s follows the changes of the note: %v, want %v", row[0], listed, told)
		}
		if changes.Code == http.StatusOK {
			w.compareStreamed(t, row[0], who.client, before, told)
			w.compareDeleted(t, row[0], who, told)
		}
	}
	w.compareUntold(t)
}

// decidedAs are the viewers of the table to whom a list shows decisions about a confidential event.
var decidedAs = map[string]bool{"an admin": true, "its owner": true, "its organiser": true}

// compareDecisions checks that the lists of commitments show the decisions about an event, and its category, as the
// event itself does.
func (w *world) compareDecisions(t *testing.T, name string, who onlooker, told bool, event servicetest.Answer) {
	t.Helper()
	shown := map[int64]bool{} // whether the event has the decision, by commitment
	for i := range event.Len(t, "event.commitments") {
		at := fmt.Sprintf("event.commitments.%d.", i)
		shown[event.Int(t, at+"id")] = event.Has(at + "decision")
	}
	listed, decisions := 0, 0
	look := func(path string, a servicetest.Answer, at string) {
		for i := range a.Len(t, at) {
			entry := fmt.Sprintf("%s.%d.", at, i)
			if a.Int(t, entry+"event.id") != who.event.id {
				continue
			}
			listed++
			has := a.Has(entry + "decision")
			if has {
				decisions++
			}
			if has != shown[a.Int(t, entry+"id")] || a.Has(entry+"event.category") != told {
				t.Errorf("%s: %s is told %s", path, name, a.Body)
			}
		}
	}
	for _, element := range []string{"a location", "itself", "its group", "a public property", "another property"} {
		id := w.elements[element].id
		path := fmt.Sprintf("/api/elements/%d/commitments?%s&include=category,decisions", id, whole)
		if a := who.client.Get(t, path); a.Code == http.StatusOK {
			look(path, a, "commitments")
		}
		path = fmt.Sprintf("/api/timetables?elements=%d&%s&include=category,decisions", id, whole)
		if a := who.client.Get(t, path); a.Code == http.StatusOK {
			look(path, a, "timetables.0.commitments")
		}
	}
	if listed == 0 || (decisions > 0) != decidedAs[name] {
		t.Errorf("%s is told of %d decisions in %d entries", name, decisions, listed)
	}
}

// compareStreamed checks whether the stream has a note that was made after a token. A later event ends it.
func (w *world) compareStreamed(t *testing.T, name string, client *servicetest.Client, token string, told bool) {
	t.Helper()
	s := client.Stream(t, "/api/changes/stream?after="+token)
	defer s.Close()
	w.admin.Import(t, "locations", fields{"key": "after " + name, "name": "After " + name})
	listed := false
	for {
		e, open := s.Next()
		valuetest.MustHold(t, open, "the stream of %s has ended", name)
		listed = listed || strings.Contains(e.Data, `"Note"`)
		if strings.Contains(e.Data, `"Element"`) {
			break
		}
	}
	valuetest.Same(t, listed, told, "the stream tells %s of the note", name)
}

// compareDeleted checks that the notes of an event stay hidden in the changes once it is deleted.
func (w *world) compareDeleted(t *testing.T, name string, who onlooker, told bool) {
	t.Helper()
	maker := w.clients["maker"]
	was := w.admin.Get(t, fmt.Sprintf("/api/events/%d", who.event.id)).Must(t, http.StatusOK)
	elements := was.Ints(t, "event.commitments.#.element.id")
	copied := fields{"body": "As " + who.event.name, "event_category_id": w.care,
		"starts_at": was.Text(t, "event.starts_at"), "ends_at": was.Text(t, "event.ends_at")}
	if was.Has("event.organiser") {
		copied["organiser_id"] = was.Int(t, "event.organiser.id")
	}
	id := maker.Post(t, "/api/events", fields{"event": copied, "elements": elements}).Must(t, http.StatusOK).
		Int(t, "event.id")
	before := w.admin.Get(t, "/api/changes").Must(t, http.StatusOK).Text(t, "next")
	maker.Post(t, fmt.Sprintf("/api/events/%d/notes", id), fields{"note": fields{"contents": "Why"}}).
		Must(t, http.StatusOK)
	maker.Delete(t, fmt.Sprintf("/api/events/%d", id)).Must(t, http.StatusOK)
	changes := who.client.Get(t, "/api/changes?after="+before).Must(t, http.StatusOK)
	if listed := strings.Contains(changes.Body, `"Note"`); listed != told || !strings.Contains(changes.Body, `"deleted"`) {
		t.Errorf("%s follows the note of a deleted event: %v, want %v: %s", name, listed, told, changes.Body)
	}
	w.compareStreamed(t, name+", of a deleted event,", who.client, before, told)
}

// compareTold checks that answers show an event's title to the viewers of the table, and to no others.
func (w *world) compareTold(t *testing.T, name string, who onlooker, told bool) {
	shows := func(route string, a servicetest.Answer) bool {
		got := strings.Contains(a.Body, who.event.name)
		if got && !told {
			t.Errorf("%s tells %s what the event is: %s", route, name, a.Body)
		}
		return got
	}
	var telling []string
	things := []thing{w.elements["a location"], w.elements["itself"], w.elements["its group"], who.event}
	for _, row := range slices.Concat(section(t, elementRoutes), section(t, eventRoutes)) {
		for _, ask := range routes[row[0]] {
			for _, x := range things {
				if shows(row[0], ask(t, who.client, x.id, x.name)) {
					telling = append(telling, row[0])
				}
			}
		}
	}
	shows("GET /api/commitments", who.client.Get(t, "/api/commitments?status=requested"))
	must := []string{"GET /api/events", "GET /api/events/{id}"}
	if name != "a user who decides on an entry of it" && name != "a guest at a public property of it" {
		must = append(must, "GET /api/elements/{id}/commitments", "GET /api/timetables",
			"GET /api/elements/{id}/calendar.ics")
	}
	for _, route := range must {
		if told && !slices.Contains(telling, route) {
			t.Errorf("%s does not tell %s what the event is", route, name)
		}
	}
}

// compareUntold checks other ways to learn, or to change, the details of an event.
func (w *world) compareUntold(t *testing.T) {
	e, hall := w.events["confidential"], w.elements["a location"]
	colleague, editor := w.clients["colleague"], w.clients["editor"]
	path := fmt.Sprintf("/api/events/%d", e.id)
	valuetest.Lacks(t, colleague.Get(t, fmt.Sprintf("/api/eventcategories/%d", w.care)).Must(t, http.StatusOK).Body,
		"confidential", "the category is")
	listed := w.admin.Get(t, "/api/admin/eventcategories").Must(t, http.StatusOK)
	valuetest.Same(t, strings.Count(listed.Body, `"confidential":true`), 1, "the categories are %s", listed.Body)
	day := "start_date=2026-09-07&end_date=2026-09-07"
	valuetest.Has(t, colleague.Get(t, "/api/events?limit=200&"+day).Must(t, http.StatusOK).Body, "Busy",
		"a day without the event")
	for _, text := range []string{"Busy", "confid"} {
		a := colleague.Get(t, "/api/events?text="+text+"&"+day).Must(t, http.StatusOK)
		valuetest.Same(t, a.Len(t, "events"), 0, "a search by %s finds %s", text, a.Body)
	}
	booked := colleague.Post(t, "/api/events", fields{
		"event": fields{
			"body": "Beside", "event_category_id": w.lesson, "starts_at": e.hour, "ends_at": e.hour[:14] + "30",
		},
		"elements": []string{fmt.Sprint(hall.id)}, "clashes": "report",
	}).Must(t, http.StatusOK)
	if !strings.Contains(booked.Body, `"Busy"`) || strings.Contains(booked.Body, e.name) {
		t.Errorf("a clash: %s", booked.Body)
	}
	feed := colleague.Post(t, fmt.Sprintf("/api/elements/%d/feeds", hall.id), nil).Must(t, http.StatusCreated).
		Text(t, "feed.path")
	if a := colleague.Get(t, feed).Must(t, http.StatusOK); strings.Contains(a.Body, e.name) ||
		!strings.Contains(a.Body, "SUMMARY:Busy") {
		t.Errorf("a feed: %s", a.Body)
	}
	for _, a := range []servicetest.Answer{
		editor.Patch(t, path, fields{"event": fields{"event_category_id": w.lesson}}),
		editor.Patch(t, path, fields{"event": fields{"body": ""}}), editor.Delete(t, path),
		editor.Post(t, path+"/add", fields{"elements": []string{fmt.Sprint(hall.id)}}),
		editor.Post(t, path+"/replace", fields{"replace": []any{}}),
		editor.Delete(t, fmt.Sprintf("%s/elements/%d", path, hall.id)),
	} {
		a.WantCode(t, http.StatusForbidden)
	}
	keeper := w.clients["keeper"]
	found := keeper.Get(t, "/api/commitments").Must(t, http.StatusOK)
	for i := range found.Len(t, "commitments") {
		at := fmt.Sprintf("commitments.%d.", i)
		if found.Int(t, at+"event.id") != e.id {
			continue
		}
		entry := fmt.Sprintf("/api/commitments/%d", found.Int(t, at+"id"))
		for status, code := range map[string]int{"confirmed": http.StatusOK, "": http.StatusUnprocessableEntity} {
			a := keeper.Patch(t, entry, fields{"commitment": fields{"status": status}})
			if a.Code != code || strings.Contains(a.Body, e.name) || !strings.Contains(a.Body, `"Busy"`) {
				t.Errorf("a decision: %d %s", a.Code, a.Body)
			}
		}
		return
	}
	t.Errorf("nothing to decide: %s", found.Body)
}

// compareEntries takes entries off events: a user who may edit all events has to see the event and its details.
// Its organiser, and a user who decides on the entry, need neither.
func (w *world) compareEntries(t *testing.T) {
	w.add(t, "minibuses", "groups", fields{"name": "Group Minibuses", "resource": true})
	w.keep(t, "minibuses", "keeper")
	for _, c := range []struct {
		who      string
		category int64
		code     int
	}{
		{"editor", w.care, http.StatusForbidden}, {"monitor", w.lesson, http.StatusForbidden},
		{"staff", w.care, http.StatusOK}, {"keeper", w.care, http.StatusOK}, {"keeper", w.lesson, http.StatusOK},
		{"editor", w.lesson, http.StatusOK}, {"monitor", w.wide, http.StatusOK}, {"maker", w.care, http.StatusOK},
	} {
		made := w.clients["maker"].Post(t, "/api/events", fields{
			"event": fields{
				"body": "Entries", "event_category_id": c.category, "organiser_id": w.elements["a teacher"].id,
				"starts_at": "2026-09-09T09:00", "ends_at": "2026-09-09T10:00",
			},
			"elements": []string{fmt.Sprint(w.elements["minibuses"].id), fmt.Sprint(w.elements["another property"].id)},
		}).Must(t, http.StatusOK)
		request := fmt.Sprintf("/api/requests/%d", made.Int(t, "event.requests.0.id"))
		change, remove, client := c.code, c.code, w.clients[c.who]
		switch c.who {
		case "staff": // an organiser changes no quantity
			change = http.StatusForbidden
		case "monitor": // a pupil, who is not shown the request
			if c.code == http.StatusOK {
				change, remove = http.StatusNotFound, http.StatusNotFound
			}
		}
		a := client.Patch(t, request, fields{"request": fields{"quantity": 3}})
		for what, got := range map[string][2]int{
			"PATCH " + request: {a.Code, change}, "DELETE " + request: {client.Delete(t, request).Code, remove},
			"DELETE of the commitment": {client.Delete(t,
				fmt.Sprintf("/api/commitments/%d", made.Int(t, "event.commitments.0.id"))).Code, c.code},
		} {
			valuetest.Same(t, got[0], got[1], "%s by the %s, of the category %d", what, c.who, c.category)
		}
	}
}
