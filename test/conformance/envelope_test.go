package conformance_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// TestPart1_EveryAnswerIsJSONWithAStatus asks for other media types, in requests that succeed and that fail, to
// each service and to none.
func TestPart1_EveryAnswerIsJSONWithAStatus(t *testing.T) {
	proves(t, "1 json: every answer has a JSON body with Content-Type application/json, whatever Accept says",
		"1 status: every answer carries a status string", "decisions 1 envelope",
		"decisions 1 accept: JSON whatever Accept says")
	c := school.Booker(t)
	event := school.Event(t, c, nil).Int(t, "event.id")
	for _, call := range []struct {
		method, path string
		body         any
	}{
		{"GET", "/api/elements", nil}, {"GET", "/api/elements?name=" + school.Prefix, nil},
		{"GET", fmt.Sprintf("/api/elements/%d", noSuchID), nil},
		{"GET", eventPath(event), nil}, {"GET", "/api/eventcategories", nil},
		{"POST", "/api/events", "{"}, {"POST", "/api/events", object{"event": object{}}},
		{"DELETE", "/api/commitments/1x", nil}, {"GET", "/notes/0", nil}, {"GET", "/sessions/1/whoami", nil},
		{"GET", "/api/users", nil},
		{"GET", "/api", nil}, {"GET", "/api/admin/users", nil},
		{"PUT", "/api/login", nil},
	} {
		for _, accept := range []string{"application/json", "text/html", "application/xml;q=1, */*;q=0", ""} {
			a := c.Do(t, call.method, call.path, call.body, "Accept", accept)
			equal(t, a.Request+" with Accept "+accept+": Content-Type", strings.ToLower(
				strings.ReplaceAll(a.Header.Get("Content-Type"), " ", "")), "application/json;charset=utf-8")
			if keys := a.Keys(t, ""); keys != "status" && !strings.HasPrefix(keys, "status,") {
				t.Errorf("%s\n  expected: status as the first key\n  got:      %s", a.Request, a.Body)
			}
			equal(t, a.Request+": status is not empty", a.Text(t, "status") != "", true)
		}
	}
}

func TestPart7_2_TheExceptionBody(t *testing.T) {
	proves(t, "7.2 body: status, exception, message: the class of the fault, the record's type and id",
		"7.2 note: deleting a missing note: Not found", "7.2 commitment: deleting a missing commitment: Bad request",
		"7.1 Bad request", "7.1 Not found", "decisions 1 exception",
		"decisions 1 exception types: missing element, category or user by id: the same body with its own type name",
		"decisions 1 404 records", "decisions 1 400 commitment", "decisions 7 unknown: unknown: 404",
		"administration unknown: unknown ids: 404 with the exception body")
	c := school.As(t, "admin")
	for _, call := range []struct {
		method, path, record string
		body                 any
	}{
		{"GET", "/api/events/%d", "Event", nil}, {"DELETE", "/api/events/%d", "Event", nil},
		{"PATCH", "/api/events/%d", "Event", wrapped("event")}, {"PUT", "/api/events/%d", "Event", wrapped("event")},
		{"POST", "/api/events/%d/add", "Event", object{"elements": []string{}}},
		{"POST", "/api/events/%d/replace", "Event", object{"replace": []object{}}},
		{"DELETE", "/api/events/%d/elements/1", "Event", nil},
		{"GET", "/api/events/%d/notes", "Event", nil}, {"POST", "/api/events/%d/notes", "Event", wrapped("note")},
		{"PATCH", "/api/commitments/%d", "Commitment", wrapped("commitment", "status", "confirmed")},
		{"DELETE", "/api/requests/%d", "Request", nil},
		{"PATCH", "/api/requests/%d", "Request", wrapped("request", "quantity", 1)},
		{"GET", "/notes/%d", "Note", nil}, {"GET", "/api/notes/%d", "Note", nil},
		{"PUT", "/api/notes/%d", "Note", wrapped("note")}, {"DELETE", "/notes/%d", "Note", nil},
		{"GET", "/api/elements/%d", "Element", nil}, {"GET", "/api/elements/%d/commitments", "Element", nil},
		{"GET", "/api/elements/%d/requests", "Element", nil}, {"GET", "/api/eventcategories/%d", "EventCategory", nil},
		{"GET", "/api/admin/users/%d", "User", nil}, {"PATCH", "/api/admin/users/%d", "User", wrapped("user")},
		{"DELETE", "/api/admin/users/%d", "User", nil}, {"POST", "/api/admin/users/%d/uuid", "User", nil},
		{"DELETE", "/api/admin/users/%d/sessions", "User", nil}, {"GET", "/api/admin/elements/%d", "Element", nil},
		{"PATCH", "/api/admin/elements/%d", "Element", wrapped("element")},
		{"DELETE", "/api/admin/elements/%d", "Element", nil},
	} {
		c.Do(t, call.method, fmt.Sprintf(call.path, noSuchID), call.body).Want(t, http.StatusNotFound,
			missing("Not found", call.record, noSuchID))
	}
	c.Delete(t, commitmentPath(noSuchID)).Want(t, http.StatusBadRequest, missing("Bad request", "Commitment", noSuchID))
}

// wrapped returns a body with a wrapper object and one field.
func wrapped(name string, field ...any) object {
	fields := object{}
	if len(field) == 2 {
		fields[fmt.Sprint(field[0])] = field[1]
	}
	return object{name: fields}
}

func TestDecisionsPart1_UnknownPaths(t *testing.T) {
	proves(t, "decisions 1 404 paths: unknown path: 404",
		"decisions 1 path letters: trailing slashes and other letter case in paths: 404")
	c := school.As(t, "admin")
	e := school.Location(t)
	element := elementPath(e)
	c.Get(t, element).WantCode(t, http.StatusOK)
	for _, path := range []string{
		"/api", "/api/", "/nothing", "/api/nothing", "/elements", element + "/", "/api/elements/",
		"/API/elements", "/api/Elements", strings.Replace(element, "elements", "Elements", 1), element +
			"/members", "/api/login/", "/api/Login", "/whoami", "/sessions", "/sessions/1", "/api/sessions", "/notes",
		"/api/notes/1/x", "/api/events/1/commitments", "/api/commitments/1/x", "/api/eventcategories/",
		"/api/admin", "/api/admin/", "/api/admin/nothing", "/api/elementsx", "/internal/facts", "/metrics", "/readyz",
	} {
		c.Get(t, path).Want(t, http.StatusNotFound, notFound)
	}
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"} {
		for _, path := range []string{"/nothing", "/x/y/z", "/api/nothing", "/api/commitments/1/x"} {
			c.Do(t, method, path, nil).Want(t, http.StatusNotFound, notFound)
		}
	}
}

// TestDecisionsPart1_IDsInPaths leaves %31 to the services' own tests: a proxy may normalize it to 1 (RFC 3986,
// 6.2.2.2).
func TestDecisionsPart1_IDsInPaths(t *testing.T) {
	proves(t, "decisions 1 ids in paths: digits that fit 63 bits; leading zeros, signs, spaces: 404",
		"4.1 GET element: one element: status OK and its detail", "4.2 GET event: one event with all its fields")
	c, e := school.As(t, "admin"), school.Location(t)
	for _, id := range []string{"x", "00", "-1", "0x1", "1x", "01", fmt.Sprint("0", e.ID), fmt.Sprint("+", e.ID),
		fmt.Sprint("-", e.ID), fmt.Sprint("%20", e.ID), fmt.Sprint(e.ID,
			"%20"), "1.0", "1e3", "١", "9223372036854775808", "99999999999999999999"} {
		for _, path := range []string{"/api/elements/%s", "/api/elements/%s/commitments", "/api/elements/%s/requests",
			"/api/events/%s", "/api/eventcategories/%s", "/api/notes/%s", "/notes/%s", "/api/admin/users/%s",
			"/api/admin/elements/%s"} {
			c.Get(t, fmt.Sprintf(path, id)).Want(t, http.StatusNotFound, notFound)
		}
		for _, path := range []string{"/api/commitments/", "/notes/", "/api/notes/", "/api/admin/users/",
			"/api/admin/elements/"} {
			c.Delete(t, path+id).Want(t, http.StatusNotFound, notFound)
		}
	}
	c.Get(t, elementPath(e)).WantCode(t, http.StatusOK)
}

// TestDecisionsPart1_ZeroIsAnIDThatNoRecordHas: 0 got the 404 of an invalid id, also for the deletion of a commitment.
func TestDecisionsPart1_ZeroIsAnIDThatNoRecordHas(t *testing.T) {
	proves(t, "decisions 1 ids in paths", "decisions 1 exception")
	const missing = "9007199254740991"
	body := object{"event": object{}, "element": object{}, "user": object{}, "eventcategory": object{},
		"note": object{"contents": "a"}, "webhook": object{}, "commitment": object{"status": "confirmed"},
		"request": object{"quantity": 1}, "feed": object{}, "token": object{}, "members": []object{},
		"elements": []string{}, "replace": []object{}}
	pupil := school.UserWith(t, object{"kind": "pupil"}, "can_api", "edit_all_events")
	clients := map[string]*servicetest.Client{"an admin": school.Admin(), "a user": school.As(t),
		"a pupil": school.Login(t, pupil)}
	for _, call := range school.callsByID(t) {
		for who, c := range clients {
			asked := func(id string) string {
				sent := any(body)
				if call.method == http.MethodGet || call.method == http.MethodDelete {
					sent = nil
				}
				a := c.Do(t, call.method, strings.ReplaceAll(call.path, "ID", id), sent)
				return fmt.Sprint(a.Code, " ", strings.ReplaceAll(a.Body, id, "ID"))
			}
			equal(t, fmt.Sprintf("%s %s of 0 by %s", call.method, call.path, who), asked("0"), asked(missing))
		}
	}
	c := school.Admin()
	c.Delete(t, "/api/commitments/0").Want(t, http.StatusBadRequest,
		`{"status":"Bad request","exception":"RecordNotFound","message":"Couldn't find Commitment with 'id'=0"}`)
	c.Get(t, "/api/elements/0").Want(t, http.StatusNotFound,
		`{"status":"Not found","exception":"RecordNotFound","message":"Couldn't find Element with 'id'=0"}`)
}

// callByID is a call whose path has ID for each id, or for the second one alone.
type callByID struct{ method, path string }

// callsByID returns the calls of the document that name a record by its id.
func (s *School) callsByID(t *testing.T) (calls []callByID) {
	t.Helper()
	owners := map[string]int64{"/api/elements": s.Location(t).ID, "/api/admin/elements": s.Group(t).ID,
		"/api/events": s.Event(t, s.Booker(t), nil).Int(t, "event.id"), "/api/admin/users": s.User(t).ID}
	var document struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	s.Client().Get(t, "/api/openapi.json").Decode(t, &document)
	parameter, others := regexp.MustCompile(`\{[^}]*\}`), regexp.MustCompile("/sessions/|/oidc/|^/ical/")
	for path, methods := range document.Paths {
		if !parameter.MatchString(path) || others.MatchString(path) {
			continue
		}
		paths := []string{parameter.ReplaceAllString(path, "ID")}
		for prefix, id := range owners {
			rest, below := strings.CutPrefix(paths[0], prefix+"/ID/")
			if below && strings.Contains(rest, "ID") {
				paths = append(paths, fmt.Sprintf("%s/%d/%s", prefix, id, rest))
			}
		}
		delete(methods, "parameters")
		for method := range methods {
			for _, at := range paths {
				calls = append(calls, callByID{strings.ToUpper(method), at})
			}
		}
	}
	return calls
}

func TestDecisionsPart1_WrongMethods(t *testing.T) {
	proves(t, "decisions 1 405: wrong method on a known path: 405 with Allow")
	c := school.As(t)
	a := c.Do(t, "PROPFIND", "/api/elements/1", nil)
	a.Want(t, http.StatusMethodNotAllowed, `{"status":"Method not allowed"}`)
	equal(t, a.Request+": Allow", sortedList(a.Header.Get("Allow")), "GET, HEAD")
	for path, call := range map[string][2]string{
		"/api/elements": {"POST", "GET, HEAD"}, "/api/elements/1": {"DELETE", "GET, HEAD"},
		"/api/elements/1/commitments": {"PUT", "GET, HEAD"}, "/api/events": {"PUT", "GET, HEAD, POST"},
		"/api/events/1": {"POST", "DELETE, GET, HEAD, PATCH, PUT"}, "/api/events/1/add": {"GET", "POST"},
		"/api/events/1/notes": {"DELETE", "GET, HEAD, POST"}, "/api/notes/1": {"POST", "DELETE, GET, HEAD, PATCH, PUT"},
		"/notes/1": {"POST", "DELETE, GET, HEAD, PATCH, PUT"}, "/api/eventcategories": {"DELETE", "GET, HEAD"},
		"/api/login": {"PUT", "GET, HEAD, POST"}, "/api/logout": {"DELETE", "GET, HEAD"},
		"/api/users": {"POST", "GET, HEAD"}, "/api/sessions/1": {"GET", "PATCH, PUT"},
		"/sessions/1/whoami": {"PUT", "GET, HEAD"}, "/api/sessions/1/revert": {"POST", "PUT"},
	} {
		a := c.Do(t, call[0], path, nil)
		a.Want(t, http.StatusMethodNotAllowed, `{"status":"Method not allowed"}`)
		equal(t, a.Request+": Allow", sortedList(a.Header.Get("Allow")), call[1])
	}
}

func TestDecisionsPart1_UnknownPathsAreAnsweredWithTheHeadersOfAllOthers(t *testing.T) {
	proves(t, "decisions 1 404 paths",
		"decisions 1 envelope: every answer, whatever the path or fault, is JSON with a status")
	c := school.As(t)
	headers := []string{"X-Content-Type-Options", "Content-Security-Policy", "Referrer-Policy", "Cache-Control",
		"Strict-Transport-Security", "X-Request-Id"}
	id := "of-a-client-" + school.Prefix
	known := c.Do(t, "GET", "/api/elements/0", nil, "X-Request-Id", id)
	known.WantCode(t, http.StatusNotFound)
	equal(t, "X-Request-Id", known.Header.Get("X-Request-Id"), id)
	for _, path := range []string{"/api", "/api/elementsx", "/api/internal/users"} {
		a := c.Do(t, "GET", path, nil, "X-Request-Id", id)
		a.Want(t, http.StatusNotFound, `{"status":"Not found"}`)
		for _, header := range headers {
			equal(t, path+": "+header, a.Header.Get(header), known.Header.Get(header))
		}
	}
}

func TestDecisionsPart1_BodiesThatCannotBeRead(t *testing.T) {
	proves(t, "decisions 1 400 JSON: malformed JSON: 400",
		"decisions 1 400 wrapper: a missing wrapper object (event, note, session): 400",
		"decisions 1 trailing garbage: trailing garbage after the JSON value: 400")
	u := school.User(t, "can_su", "can_add_events", "can_add_notes")
	c := school.Login(t, u)
	event := school.Event(t, c, nil).Int(t, "event.id")
	note := c.Post(t, notesPath(event), wrapped("note")).Int(t, "note.id")
	for _, call := range [][3]string{
		{"POST", "/api/events", "event"}, {"PATCH", eventPath(event), "event"},
		{"POST", notesPath(event), "note"}, {"PUT", notePath(note), "note"}, {"PATCH", notePaths(note)[1], "note"},
		{"PUT", "/api/sessions/1", "session"},
	} {
		for _, body := range []string{"", "{", `{"` + call[2] + `":`, `{"` + call[2] + `":{}} x`,
			`{"` + call[2] + `":{}}{}`, "null", "[]", `"` + call[2] + `"`, "{}", `{"` + call[2] + `":null}`, `{"` +
				call[2] + `":5}`, `{"` + strings.ToUpper(call[2]) + `":{}}`, "{\"" + call[2] + "\":{\"a\":\"\xff\"}}"} {
			a := c.Do(t, call[0], call[1], body)
			equal(t, a.Request+" with "+body, statusOf(t, a), `400"Bad request"`)
		}
	}
	isUser(t, c, &u, "after unreadable bodies")
}

func TestDecisionsPart1_MediaTypes(t *testing.T) {
	proves(t, "decisions 1 415: another Content-Type than JSON: 415; an absent one is JSON")
	c := school.Booker(t)
	path := pathIn(t, school.Event(t, c, nil))
	for contentType, code := range map[string]int{"application/json": 200, "application/json; charset=utf-8": 200,
		"Application/JSON": 200, "": 200, "text/plain": 415, "application/x-www-form-urlencoded": 415,
		"application/xml": 415} {
		a := c.Do(t, http.MethodPatch, path, `{"event":{}}`, "Content-Type", contentType)
		equal(t, "code of a body declared as "+contentType, a.Code, code)
		if code != http.StatusOK {
			a.Equal(t, "status", `"Unsupported media type"`)
		}
	}
}

func TestDecisionsPart1_BodiesTooLarge(t *testing.T) {
	proves(t, "decisions 1 413: a body that is too large: 413; without a session 401, whatever its length")
	c := school.Booker(t)
	event := pathIn(t, school.Event(t, c, nil))
	large := `{"event":{"body":"` + strings.Repeat("x", 2<<20) + `"}}`
	a := c.Patch(t, event, large)
	equal(t, "code and status of two megabytes", statusOf(t, a), `413"Payload too large"`)
	c.Get(t, event).WantCode(t, http.StatusOK)
	for _, size := range []int{64 << 10, 256 << 10} {
		school.Client().Patch(t, event, `{"event":{"body":"`+strings.Repeat("x", size)+`"}}`).Want(t,
			http.StatusUnauthorized, accessDenied)
	}
}

func TestDecisionsPart1_NoOrADeadSessionIsAccessDenied(t *testing.T) {
	proves(t, "decisions 1 401: failed login, no or dead session, user without can_api: 401",
		"5 rule 1: login gives 200 and a session cookie, which every later request needs")
	u := school.User(t, "can_su", "can_add_events", "can_add_notes")
	dead := school.Login(t, u)
	held := dead.Copy()
	dead.Get(t, "/api/logout").Want(t, http.StatusOK, okBody)
	none, nonsense := school.Client(), school.Client()
	unknown := *held.SessionCookie()
	unknown.Value = strings.Repeat("A", len(unknown.Value))
	nonsense.SetSessionCookie(&unknown)
	for what, c := range map[string]*servicetest.Client{"none": none, "dead": held, "nonsense": nonsense} {
		for _, call := range [][2]string{ // of each service; of none the rights' table has every call
			{"GET", "/api/elements"}, {"POST", "/api/events"}, {"PUT", "/notes/1"}, {"PUT", "/api/sessions/1/revert"},
			{"GET", "/sessions/1/whoami"}, {"POST", "/api/admin/import/staff"}, {"GET", "/api/admin/eventcategories"},
		} {
			a := c.Do(t, call[0], call[1], nil)
			equal(t, "session "+what+": "+a.Request, fmt.Sprint(a.Code, " ", a.Body),
				fmt.Sprint(http.StatusUnauthorized, " ", accessDenied))
		}
	}
}

func TestDecisionsPart1_SpecialCharactersAreEscaped(t *testing.T) {
	proves(t, `decisions 1 escapes: <, >, &, U+2028 and U+2029 are written as \u escapes`)
	c := school.Booker(t)
	a := school.Event(t, c, object{"body": "<b>Rock & Roll</b> \u2028\u2029 é 日本 🎸 \"'/\\"})
	a.Equal(t, "event.body", `"\u003cb\u003eRock \u0026 Roll\u003c/b\u003e \u2028\u2029 é 日本 🎸 \"'/\\"`)
	e := school.Element(t, object{"entity_type": "Location", "name": school.Unique("<R&D>")})
	c.Get(t, elementPath(e)).Equal(t, "element.name", quoted(e.Name))
}
