package sight

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/apidoctest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

const (
	schoolPersons = "persons with BELFRY_STAFF_SEE=school, pupils and guests with all"
	schoolRoutes  = "routes that show more of a person than its list form"
)

// district is two schools with persons of each sort of the table, and a user for each column of it.
func district(t *testing.T, system *servicetest.System) *world {
	t.Helper()
	w := &world{
		admin: system.Admin(t), clients: map[string]*servicetest.Client{}, elements: map[string]thing{},
		events: map[string]thing{},
	}
	for _, school := range []string{"north", "south"} {
		w.add(t, school, "groups", fields{"name": "School " + school, "school": true})
		w.add(t, "a class of "+school, "groups", fields{"name": "Class " + school})
		w.join(t, school, "a class of "+school, "")
	}
	w.add(t, "a room of south", "locations", fields{"name": "Location South"})
	w.join(t, "south", "a room of south", "")
	for n, what := range []string{"itself", "a teacher of both", "a teacher of south", "a teacher of none"} {
		w.add(t, what, "staff", fields{"initials": fmt.Sprintf("T%d", n), "forename": "Tess", "surname": what})
	}
	for _, what := range []string{"a pupil of north", "a pupil of south", "a pupil of both", "a pupil of none"} {
		w.add(t, what, "pupils", fields{"forename": "Paul", "surname": what})
	}
	for what, groups := range map[string][]string{
		"itself": {"north"}, "a teacher of both": {"north", "a class of south"}, "a teacher of south": {"south"},
		"a pupil of north": {"a class of north"}, "a pupil of south": {"a class of south"},
		"a pupil of both": {"a class of north", "south"},
	} {
		for _, group := range groups {
			w.join(t, group, what, "")
		}
	}
	w.enter(t, system, map[string]fields{
		"of north": {"element": "Staff:itself", "can_add_events": true},
		"of both":  {"element": "Staff:a teacher of both", "can_add_events": true},
		"of none":  {"element": "Staff:a teacher of none"}, "script": {},
		"guest":        {"kind": "guest", "can_add_events": true},
		"pupil":        {"kind": "pupil", "element": "Pupil:a pupil of north", "can_add_events": true},
		"parent":       {"kind": "pupil", "stands_for": []string{"a pupil of north"}},
		"head":         {"element": "Staff:a teacher of none", "admin_of": []string{"north"}},
		"with a child": {"element": "Staff:itself", "stands_for": []string{"a pupil of south"}},
	})
	w.clients["admin"] = w.admin
	return w
}

func TestDecisionsPart9_StaffOfOneSchoolSeePersonsOfAnotherByListFormAlone(t *testing.T) {
	proves(t,
		"decisions 9 school: with the setting school, staff of one school see persons of another by list form alone")
	w := district(t, servicetest.Start(t, servicetest.Options{Env: map[string]string{
		"BELFRY_STAFF_SEE": "school", "BELFRY_PUPILS_SEE": "all", "BELFRY_GUESTS_SEE": "all",
	}}))
	w.comparePersons(t, 1, "of north", "of both", "of none", "script", "admin", "pupil", "guest")
	t.Run("AParentSeesThePersonsThatThePupilSeesAndStaffTheirChild", func(t *testing.T) {
		w.comparePersons(t, 8, "parent", "with a child")
	})
	// A head saw everyone after it had ended its own membership.
	w.comparePersons(t, 10, "head")
	w.compareMany(t)
	w.compareClashes(t)
	w.compareMove(t)
}

// comparePersons compares what viewers see with the columns of the table from the first on.
func (w *world) comparePersons(t *testing.T, first int, viewers ...string) {
	t.Helper()
	for _, row := range section(t, schoolPersons) {
		x, ok := w.elements[row[0]]
		if !ok {
			t.Fatalf("the table has %q, which is not there", row[0])
		}
		for i, viewer := range viewers {
			w.compareSchool(t, viewer, x, row[first+i])
		}
	}
}

// compareSchool asks every route about an element: it is seen, or only in lists.
func (w *world) compareSchool(t *testing.T, viewer string, x thing, want string) {
	t.Helper()
	c := w.clients[viewer]
	for n, ask := range routes["GET /api/elements"] {
		if a := ask(t, c, x.id, x.name); !strings.Contains(a.Body, fmt.Sprintf(`"id":%d,`, x.id)) {
			t.Errorf("%s searches for %s (%d): %d %s", viewer, x.name, n, a.Code, a.Body)
		}
	}
	for _, row := range section(t, schoolRoutes) {
		path := strings.ReplaceAll(strings.TrimPrefix(row[0], "GET "), "{id}", fmt.Sprint(x.id))
		if !strings.HasSuffix(path, "/feeds") && !strings.HasSuffix(path, ".ics") {
			path += map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + whole
		}
		a := c.Get(t, path)
		switch {
		case want == "listed" && row[1] == "403":
			if a.Code != http.StatusForbidden || a.Body != `{"status":"Forbidden"}` {
				t.Errorf("%s asks for %s of %s: %d %s", viewer, row[0], x.name, a.Code, a.Body)
			}
		case a.Code == http.StatusMethodNotAllowed && strings.HasSuffix(row[0], "/requests"): // no resource group
		case a.Code != http.StatusOK:
			t.Errorf("%s asks for %s of %s: %d %s", viewer, row[0], x.name, a.Code, a.Body)
		}
	}
}

// compareMany checks answers about many: they leave out persons of other schools, and refuse a list that names one.
func (w *world) compareMany(t *testing.T) {
	south, class := w.elements["south"].id, w.elements["a class of south"].id
	compared := map[string]map[string]bool{
		fmt.Sprintf("/api/elements?school=%d", south): {
			"a room of south": true, "a teacher of both": true, "a pupil of both": true, "a teacher of south": false,
			"a pupil of south": false,
		},
		fmt.Sprintf("/api/elements?namelike=paul&school=%d", south): {
			"a pupil of both": true, "a pupil of south": false,
		},
		fmt.Sprintf("/api/elements?type=Pupil&entity_type=Pupil&school=%d", south): {
			"a pupil of both": true, "a pupil of south": false,
		},
		"/api/timetables?type=Pupil&" + whole: {
			"a pupil of north": true, "a pupil of both": true, "a pupil of none": true, "a pupil of south": false,
		},
		fmt.Sprintf("/api/timetables?group=%d&%s", class, whole): {
			"a teacher of both": true, "a pupil of south": false,
		},
		"/api/free?type=Staff&starts_at=2026-09-20&ends_at=2026-09-21": {
			"itself": true, "a teacher of both": true, "a teacher of none": true, "a teacher of south": false,
		},
		fmt.Sprintf("/api/free?type=Staff&group=%d&starts_at=2099-09-20&ends_at=2099-09-21", south): {
			"a teacher of both": true, "a teacher of south": false,
		},
	}
	comparesEachFilter(t, slices.Collect(maps.Keys(compared)))
	for path, names := range compared {
		for viewer, all := range map[string]bool{
			"of north": false, "of both": true, "of none": true, "admin": true, "pupil": false, "guest": true,
			"parent": false,
		} {
			a := w.clients[viewer].Get(t, path).Must(t, http.StatusOK)
			for what, near := range names {
				valuetest.Same(t, strings.Contains(a.Body, w.elements[what].name), near || all,
					"%s as %s: has %s\n%s", path, viewer, what, a.Body)
			}
		}
	}
	near, far := w.elements["a pupil of north"].id, w.elements["a pupil of south"].id
	for _, format := range []string{
		"/api/freebusy?elements=%d,%d&" + whole, "/api/timetables?elements=%d,%d&" + whole,
		"/api/free?slots=%d,%d&" + whole,
	} {
		w.clients["of north"].Get(t, fmt.Sprintf(format, near, far)).WantCode(t, http.StatusForbidden)
		w.clients["of both"].Get(t, fmt.Sprintf(format, near, far)).WantCode(t, http.StatusOK)
	}
	path := fmt.Sprintf("/api/free?type=Staff&near=%d&starts_at=2026-09-20&ends_at=2026-09-21", far)
	w.clients["of north"].Get(t, path).WantCode(t, http.StatusForbidden)
	w.clients["of north"].Post(t, fmt.Sprintf("/api/elements/%d/feeds", far), nil).WantCode(t, http.StatusForbidden)
}

// comparesEachFilter fails for a filter of GET /api/elements that no path has: one by a field that the list form lacks
// would tell this field of persons who are seen in list form only.
func comparesEachFilter(t *testing.T, paths []string) {
	t.Helper()
	asked := url.Values{"after": nil, "limit": nil, "name": nil} // pages; compareSchool searches by the whole name
	for _, path := range paths {
		if u, err := url.Parse(path); err == nil && u.Path == "/api/elements" {
			maps.Copy(asked, u.Query())
		}
	}
	for _, parameter := range apidoctest.Operations(t)["GET /api/elements"].Parameters {
		valuetest.Holds(t, parameter.Value.In != "query" || asked.Has(parameter.Value.Name),
			"no path of compareMany asks with %s", parameter.Value.Name)
	}
}

// compareMove moves a pupil to the other school: all answers, and feeds, follow at once.
func (w *world) compareMove(t *testing.T) {
	north, pupil := w.clients["of north"], w.elements["a pupil of north"].id
	path := fmt.Sprintf("/api/elements/%d", pupil)
	tag := north.Get(t, path).Must(t, http.StatusOK).Header.Get("ETag")
	feed := north.Post(t, path+"/feeds", nil).Must(t, http.StatusCreated).Text(t, "feed.path")
	north.Get(t, feed).WantCode(t, http.StatusOK)
	w.admin.Delete(t, fmt.Sprintf("/api/admin/elements/%d/members/%d?from=2020-01-01",
		w.elements["a class of north"].id, pupil)).Must(t, http.StatusOK)
	w.join(t, "south", "a pupil of north", "")
	north.Get(t, path).WantCode(t, http.StatusForbidden)
	north.Do(t, http.MethodHead, path, nil).WantCode(t, http.StatusForbidden)
	north.Do(t, http.MethodGet, path, nil, "If-None-Match", tag).WantCode(t, http.StatusForbidden)
	north.Get(t, feed).WantCode(t, http.StatusNotFound)
	w.clients["of both"].Get(t, path).WantCode(t, http.StatusOK)
	w.clients["pupil"].Get(t, path).WantCode(t, http.StatusOK)

	// A user who joins the school as well sees its persons.
	w.join(t, "a class of south", "itself", "")
	north.Get(t, path).WantCode(t, http.StatusOK)
	north.Get(t, feed).WantCode(t, http.StatusOK)
}
