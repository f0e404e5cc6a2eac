// Package sight tests who sees whom (decisions, part 9): each route that shows elements or events, against a running
// Belfry, with each setting.
package sight

import (
	_ "embed"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/apidoctest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

//go:embed table.txt
var text string

// proves declares the rules that a test proves, with their texts; the coverage page of the contract reads it.
func proves(t *testing.T, rules ...string) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("rules: %s", strings.Join(rules, "; "))
		}
	})
}

// section returns the rows of the table below a heading.
func section(t *testing.T, heading string) [][]string {
	t.Helper()
	var rows [][]string
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			inside = strings.HasPrefix(line, "# "+heading+" |")
		case inside && line != "":
			rows = append(rows, strings.Split(line, " | "))
		}
	}
	valuetest.MustHold(t, len(rows) != 0, "the table has no section %q", heading)
	return rows
}

const (
	elementRoutes = "routes that show elements"
	eventRoutes   = "routes that show events"
	otherRoutes   = "routes that show neither"
)

// asked asks about an element or an event and says whether the answer shows it. It fails on any answer that neither
// shows it nor hides it as the table says.
type asked func(t *testing.T, c *servicetest.Client, id int64, name string) servicetest.Answer

func get(format string) asked {
	return func(t *testing.T, c *servicetest.Client, id int64, _ string) servicetest.Answer {
		t.Helper()
		return c.Get(t, fmt.Sprintf(format, id))
	}
}

const whole = "start_date=2026-09-07&end_date=2026-09-08"

// routes are the requests of each route, one or several.
var routes = map[string][]asked{
	"GET /api/elements": {
		func(t *testing.T, c *servicetest.Client, _ int64, name string) servicetest.Answer {
			return c.Get(t, "/api/elements?name="+strings.ReplaceAll(name, " ", "%20"))
		},
		func(t *testing.T, c *servicetest.Client, _ int64, name string) servicetest.Answer {
			return c.Get(t, "/api/elements?namelike="+strings.ReplaceAll(name[1:], " ", "%20"))
		},
	},
	"GET /api/elements/{id}":              {get("/api/elements/%d")},
	"GET /api/elements/{id}/commitments":  {get("/api/elements/%d/commitments?" + whole + "&include=staff,locations")},
	"GET /api/elements/{id}/requests":     {get("/api/elements/%d/requests?" + whole)},
	"GET /api/elements/{id}/freebusy":     {get("/api/elements/%d/freebusy?" + whole)},
	"GET /api/elements/{id}/calendar.ics": {get("/api/elements/%d/calendar.ics")},
	"GET /api/elements/{id}/feeds":        {get("/api/elements/%d/feeds")},
	"GET /api/freebusy":                   {get("/api/freebusy?elements=%d&" + whole)},
	"GET /api/timetables":                 {get("/api/timetables?elements=%d&" + whole)},
	"GET /api/free?slots={id}":            {get("/api/free?slots=%d&" + whole)},
	"GET /api/free": {
		func(t *testing.T, c *servicetest.Client, _ int64, name string) servicetest.Answer {
			kind := strings.Replace(strings.Fields(name)[0], "TT", "Staff", 1) // names begin with the type
			if kind != "Staff" && kind != "Location" && kind != "Property" {
				return c.Get(t, "/api/elements?name="+strings.ReplaceAll(name, " ", "%20")) // what is not looked for
			}
			return c.Get(t, "/api/free?type="+kind+"&starts_at=2026-09-20&ends_at=2026-09-21")
		},
	},
	"GET /api/events": {
		func(t *testing.T, c *servicetest.Client, _ int64, name string) servicetest.Answer {
			return c.Get(t, "/api/events?text="+strings.ReplaceAll(name, " ", "%20"))
		},
		func(t *testing.T, c *servicetest.Client, _ int64, _ string) servicetest.Answer {
			return c.Get(t, "/api/events?limit=200&"+whole)
		},
	},
	"GET /api/events/{id}": {get("/api/events/%d")},
}

// shown says whether an answer shows something, and fails unless it either does or hides it in the way of the table.
func shown(t *testing.T, what string, a servicetest.Answer, id int64, name, hides string) bool {
	t.Helper()
	has := strings.Contains(a.Body, fmt.Sprintf(`"id":%d,`, id)) && strings.Contains(a.Body, name)
	switch {
	case a.Code == http.StatusForbidden && hides == "403":
		valuetest.Same(t, a.Body, `{"status":"Forbidden"}`, "%s: the refusal says", what)
		return false
	case hides == "left out":
		if a.Code != http.StatusOK && a.Code != http.StatusNotFound {
			t.Errorf("%s: %d %s", what, a.Code, a.Body)
		}
		return has
	case a.Code == http.StatusMethodNotAllowed: // requests of an element that is not a resource group
		return true
	case a.Code != http.StatusOK:
		t.Errorf("%s: %d %s", what, a.Code, a.Body)
	}
	return true
}

func TestDecisionsPart9_EveryRouteShowsWhatTheTableSays(t *testing.T) {
	proves(t,
		"decisions 9 staff: staff and admins see everything",
		"decisions 9 pupil elements: a pupil sees itself, its groups on the days on which it is in them, "+
			"public properties, locations, services and subjects",
		"decisions 9 pupil events: a pupil sees events that commit it or such a group, or firmly a public "+
			"property, those of schoolwide categories, and its own",
		"decisions 9 guest: a guest sees public properties, the events that commit one firmly or are "+
			"schoolwide, and of those firm commitments to staff, groups and locations",
		"decisions 9 all: with the setting all, pupils or guests see what staff see",
		"decisions 9 hidden element: an element that is hidden is not found, and its detail, commitments, "+
			"requests, free/busy, calendar and feeds are 403",
		"decisions 9 hidden event: an event that is hidden is left out of listings, and 403 by its id",
		"decisions 9 contents: commitments to persons and groups that are hidden are left out of an event, and "+
			"of staff",
		"decisions 9 staff of an event: pupils are shown the staff committed to an event that they see, its "+
			"organiser and its owner, unless a setting says no",
		"decisions 9 confidential: to all but admins, owner, organiser and the persons directly committed, an "+
			"event of a confidential category is Busy, without notes",
		"decisions 9 switched: a switched user sees what the user switched to sees")
	for _, setting := range []string{"default", "all"} {
		t.Run(setting, func(t *testing.T) {
			var o servicetest.Options
			if setting == "all" {
				o.Env = map[string]string{"BELFRY_PUPILS_SEE": "all", "BELFRY_GUESTS_SEE": "all"}
			}
			w := load(t, servicetest.Start(t, o))
			w.compare(t, section(t, "elements"), section(t, elementRoutes), w.elements, setting)
			w.compare(t, section(t, "events"), section(t, eventRoutes), w.events, setting)
			if setting == "default" {
				w.compareListings(t)
				w.compareContents(t, 1, "pupil")
				w.compareContents(t, 3, "guest")
				w.compareWrites(t)
				w.compareConfidential(t)
				w.compareEntries(t)
				w.compareChanges(t)
			}
		})
	}
}

func TestDecisionsPart9_WithoutStaffPupilsAreShownNeitherTheseNorOrganiserAndOwner(t *testing.T) {
	w := load(t, servicetest.Start(t, servicetest.Options{Env: map[string]string{"BELFRY_PUPILS_SEE_STAFF": "false"}}))
	w.compareContents(t, 2, "pupil")
	w.compareContents(t, 3, "guest")
}

// compare asks every route about every element and event as every kind of user.
func (w *world) compare(t *testing.T, things, rows [][]string, all map[string]thing, setting string) {
	for _, row := range things {
		x, ok := all[row[0]]
		if !ok {
			t.Errorf("the table has %q, which is not there", row[0])
			continue
		}
		for i, kind := range []string{"pupil", "guest", "staff"} {
			want := kind == "staff" || setting == "all" || row[1+i] == "seen"
			id, name := x.id, x.name
			if row[0] == "its own" {
				id, name = w.own[kind].id, w.own[kind].name
			}
			for _, route := range rows {
				for n, ask := range routes[route[0]] {
					what := fmt.Sprintf("%s (%d) of %s, as a %s, %s", route[0], n, row[0], kind, setting)
					valuetest.Same(t, shown(t, what, ask(t, w.clients[kind], id, name), id, name, route[1]), want,
						"%s: shown", what)
				}
			}
		}
	}
}

func TestDecisionsPart9_EveryRouteIsInTheTable(t *testing.T) {
	listed := map[string]bool{}
	for _, heading := range []string{elementRoutes, eventRoutes, otherRoutes} {
		for _, row := range section(t, heading) {
			listed[row[0]] = true
			if heading != otherRoutes && routes[row[0]] == nil && row[0] != "GET /api/series/{id}" {
				t.Errorf("no test asks %s", row[0])
			}
		}
	}
	for operation := range apidoctest.Operations(t) {
		path, reads := strings.CutPrefix(operation, "GET ")
		if reads && !strings.HasPrefix(path, "/api/admin/") && !listed[operation] {
			t.Errorf("%s has no row: say what it shows, and to whom", operation)
		}
	}
	for route := range routes {
		valuetest.Holds(t, listed[route], "%s has no row", route)
	}
}

// compareListings checks that the timetables that a viewer sees have only events that it sees.
func (w *world) compareListings(t *testing.T) {
	rows := section(t, "events")
	for _, c := range []struct {
		kind, of string
		column   int
	}{{"pupil", "a location", 1}, {"pupil", "a public property", 1}, {"guest", "a public property", 2}} {
		x := w.elements[c.of]
		for _, format := range []string{
			"/api/elements/%d/commitments?" + whole, "/api/timetables?" + whole + "&elements=%d",
			"/api/elements/%d/calendar.ics",
		} {
			path := fmt.Sprintf(format, x.id)
			mine := w.clients[c.kind].Get(t, path).Must(t, http.StatusOK).Body
			all := w.clients["staff"].Get(t, path).Must(t, http.StatusOK).Body
			for _, row := range rows {
				name := w.events[row[0]].name
				want := row[c.column] == "seen" && strings.Contains(all, name)
				if got := name != "" && strings.Contains(mine, name); got != want {
					t.Errorf("%s as a %s: shows the event %s: %v, want %v\n%s", path, c.kind, row[0], got, want, mine)
				}
			}
		}
		busy := w.clients[c.kind].Get(t, fmt.Sprintf("/api/elements/%d/freebusy?%s", x.id, whole))
		valuetest.Lacks(t, busy.Body, w.events["of the hall alone"].hour,
			"as a %s, %s is busy by an event that is hidden", c.kind, c.of)
	}
	for kind, path := range map[string]string{
		"pupil": fmt.Sprintf("/api/free?type=Location&event=%d", w.events["with another pupil"].id),
		"guest": fmt.Sprintf("/api/free?type=Location&event=%d", w.events["with the pupil"].id),
	} {
		w.clients[kind].Get(t, path).WantCode(t, http.StatusForbidden)
	}
	a := w.clients["pupil"].Get(t, "/api/timetables?type=Pupil&"+whole)
	valuetest.Same(t, a.Len(t, "timetables"), 1, "a pupil sees the timetables %s", a.Body)
}

// compareContents checks what a viewer is shown of an event that it sees: in the event, and of its staff in lists.
func (w *world) compareContents(t *testing.T, column int, kind string) {
	c := w.clients[kind]
	a := c.Get(t, fmt.Sprintf("/api/events/%d?include=staff", w.events["school-wide"].id)).Must(t, http.StatusOK)
	list := c.Get(t, fmt.Sprintf("/api/elements/%d/commitments?%s&include=staff,locations",
		w.elements["a public property"].id, whole)).Must(t, http.StatusOK)
	committed := a.Texts(t, "event.commitments.#.element.name")
	initials := map[string]string{"a teacher": "TT", "a teacher who is asked": "AA"}
	for _, row := range section(t, "what is shown of an event that is seen") {
		var got bool
		switch row[0] {
		case "the organiser":
			got = a.Has("event.organiser")
		case "the owner, of staff":
			if got = a.Has("event.owner"); got && a.Text(t, "event.owner.email") != "hidden@belfry.invalid" {
				t.Errorf("a %s is shown the address of the owner: %s", kind, a.Body)
			}
		case "the owner, a pupil":
			of := c.Get(t, fmt.Sprintf("/api/events/%d", w.events["school-wide, of another pupil"].id))
			got = of.Must(t, http.StatusOK).Has("event.owner")
		default:
			got = slices.Contains(committed, w.elements[row[0]].name)
		}
		if want := row[column] == "shown"; got != want {
			t.Errorf("a %s is shown %s: %v, want %v\n%s", kind, row[0], got, want, a.Body)
		}
		if text, ok := initials[row[0]]; ok && strings.Contains(list.Body, text) != got {
			t.Errorf("a %s is shown %s in staff: %v, in the event %v\n%s", kind, row[0], !got, got, list.Body)
		}
		if text, ok := initials[row[0]]; ok && strings.Contains(a.Text(t, "event.staff"), text) != got {
			t.Errorf("a %s is shown %s in the event's staff: %v, want %v\n%s", kind, row[0], !got, got, a.Body)
		}
	}
}

// compareWrites checks what the answers to writes, series, and lists of pending entries show.
func (w *world) compareWrites(t *testing.T) {
	pupil, own := w.clients["pupil"], w.own["pupil"].id
	a := pupil.Post(t, fmt.Sprintf("/api/events/%d/add", own), fields{"elements": []string{
		fmt.Sprint(w.elements["another pupil"].id), fmt.Sprint(w.elements["a location"].id),
	}}).Must(t, http.StatusOK)
	if a.Len(t, "failures") != 1 || a.Text(t, "failures.0.item_type") != "Hash" ||
		strings.Contains(a.Body, w.elements["another pupil"].name) {
		t.Errorf("a hidden element that is added: %s", a.Body)
	}
	a = pupil.Patch(t, fmt.Sprintf("/api/events/%d", own), fields{"event": fields{
		"organiser_id": w.elements["a teacher"].id,
	}})
	if a.Code != http.StatusUnprocessableEntity || strings.Contains(a.Body, w.elements["a teacher"].name) {
		t.Errorf("a hidden organiser: %d %s", a.Code, a.Body)
	}
	for element, want := range map[string]int{"another pupil": http.StatusForbidden, "its group": http.StatusOK} {
		made := w.clients["staff"].Post(t, "/api/events", fields{
			"event": fields{
				"body": "Series " + element, "event_category_id": w.lesson, "starts_at": "2026-10-05T09:00",
				"ends_at": "2026-10-05T09:30",
			},
			"elements": []string{fmt.Sprint(w.elements[element].id)}, "repeat": fields{"rule": "FREQ=WEEKLY;COUNT=2"},
		}).Must(t, http.StatusOK)
		path := fmt.Sprintf("/api/series/%d", made.Int(t, "series.id"))
		pupil.Get(t, path).WantCode(t, want)
		w.clients["guest"].Get(t, path).WantCode(t, http.StatusForbidden)
		w.clients["staff"].Get(t, path).WantCode(t, http.StatusOK)
	}
	entry := w.clients["keeper"].Get(t, "/api/commitments").Must(t, http.StatusOK)
	asked := w.events["for the keeper to decide"]
	valuetest.Has(t, entry.Body, asked.name, "the entries to decide")
	shown := w.clients["keeper"].Get(t, fmt.Sprintf("/api/events/%d", asked.id)).Must(t, http.StatusOK)
	if !strings.Contains(shown.Body, w.elements["another property"].name) ||
		strings.Contains(shown.Body, w.elements["itself"].name) {
		t.Errorf("the event for the user who decides: %s", shown.Body)
	}
	w.clients["keeper"].Get(t, fmt.Sprintf("/api/events/%d", w.events["with another pupil"].id)).
		WantCode(t, http.StatusForbidden)
}

// compareChanges checks that an answer follows a change at once.
func (w *world) compareChanges(t *testing.T) {
	group, lesson := w.elements["its group"], w.events["with its group"]
	pupil, admin := w.clients["pupil"], w.admin
	for _, path := range []string{fmt.Sprintf("/api/elements/%d", group.id), fmt.Sprintf("/api/events/%d", lesson.id)} {
		pupil.Get(t, path).WantCode(t, http.StatusOK)
	}
	switched := w.clients["su"]
	switched.Put(t, "/api/sessions/1", map[string]any{"session": map[string]any{"user_id": w.users["pupil"]}}).
		Must(t, http.StatusOK)
	teacher := fmt.Sprintf("/api/elements/%d", w.elements["a teacher"].id)
	switched.Get(t, teacher).WantCode(t, http.StatusForbidden)
	switched.Get(t, fmt.Sprintf("/api/elements/%d", group.id)).WantCode(t, http.StatusOK)

	feed := pupil.Post(t, fmt.Sprintf("/api/elements/%d/feeds", group.id), nil).Must(t, http.StatusCreated).
		Text(t, "feed.path")
	pupil.Get(t, feed).WantCode(t, http.StatusOK)
	tag := pupil.Get(t, fmt.Sprintf("/api/events/%d", lesson.id)).Header.Get("ETag")
	member := fmt.Sprintf("/api/admin/elements/%d/members/%d", group.id, w.elements["itself"].id)
	admin.Delete(t, member+"?from=2020-01-01").Must(t, http.StatusOK)
	pupil.Get(t, fmt.Sprintf("/api/elements/%d", group.id)).WantCode(t, http.StatusForbidden)
	pupil.Do(t, http.MethodGet, fmt.Sprintf("/api/events/%d", lesson.id), nil, "If-None-Match", tag).
		WantCode(t, http.StatusForbidden)
	pupil.Do(t, http.MethodHead, fmt.Sprintf("/api/events/%d", lesson.id), nil).WantCode(t, http.StatusForbidden)
	pupil.Get(t, feed).WantCode(t, http.StatusNotFound)

	pupil.Get(t, teacher).WantCode(t, http.StatusForbidden)
	admin.Patch(t, fmt.Sprintf("/api/admin/users/%d", w.users["pupil"]),
		map[string]any{"user": map[string]any{"kind": "staff"}}).Must(t, http.StatusOK)
	pupil.Get(t, teacher).WantCode(t, http.StatusOK)
	admin.Patch(t, fmt.Sprintf("/api/admin/users/%d", w.users["pupil"]),
		map[string]any{"user": map[string]any{"kind": "guest"}}).Must(t, http.StatusOK)
	pupil.Get(t, teacher).WantCode(t, http.StatusForbidden)
}
