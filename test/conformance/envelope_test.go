package conformance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// TestPart1_EveryAnswerIsJSONWithAStatus asks for other media types, in requests that succeed and that fail, to
// each service and to none.
func TestPart1_EveryAnswerIsJSONWithAStatus(t *testing.T) {
	proves(t, "1 json", "1 status", "decisions 1 envelope", "decisions 1 accept")
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
		{"GET", "/", nil}, {"GET", "/api", nil}, {"GET", "/index.html", nil}, {"GET", "/api/admin/users", nil},
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
	proves(t, "7.2 body", "7.2 note", "7.2 commitment", "7.1 Bad request", "7.1 Not found", "decisions 1 exception",
		"decisions 1 exception types", "decisions 1 404 records", "decisions 1 400 commitment")
	c, admin := school.Booker(t), school.Admin()
	for _, call := range []struct {
		client               *servicetest.Client
		method, path, record string
		body                 any
	}{
		{c, "GET", "/api/events/%d", "Event", nil}, {c, "DELETE", "/api/events/%d", "Event", nil},
		{c, "PATCH", "/api/events/%d", "Event", wrapped("event")},
		{c, "PUT", "/api/events/%d", "Event", wrapped("event")},
		{c, "POST", "/api/events/%d/add", "Event", object{"elements": []string{}}},
		{c, "GET", "/api/events/%d/notes", "Event", nil}, {c, "POST", "/api/events/%d/notes", "Event", wrapped("note")},
		{c, "PATCH", "/api/commitments/%d", "Commitment", wrapped("commitment", "status", "confirmed")},
		{c, "DELETE", "/api/requests/%d", "Request", nil},
		{c, "PATCH", "/api/requests/%d", "Request", wrapped("request", "quantity", 1)},
		{c, "GET", "/notes/%d", "Note", nil}, {c, "GET", "/api/notes/%d", "Note", nil},
		{c, "PUT", "/api/notes/%d", "Note", wrapped("note")}, {c, "DELETE", "/notes/%d", "Note", nil},
		{c, "GET", "/api/elements/%d", "Element", nil}, {c, "GET", "/api/elements/%d/commitments", "Element", nil},
		{c, "GET", "/api/elements/%d/requests", "Element", nil},
		{c, "GET", "/api/eventcategories/%d", "EventCategory", nil}, {admin, "GET", "/api/admin/users/%d", "User", nil},
		{admin, "GET", "/api/admin/elements/%d", "Element", nil},
	} {
		call.client.Do(t, call.method, fmt.Sprintf(call.path, noSuchID), call.body).Want(t, http.StatusNotFound,
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
	proves(t, "decisions 1 404 paths", "decisions 1 path letters")
	c := school.As(t, "admin")
	e := school.Location(t)
	element := elementPath(e)
	c.Get(t, element).WantCode(t, http.StatusOK)
	for _, path := range []string{
		"/", "/api", "/api/", "/nothing", "/api/nothing", "/elements", element + "/", "/api/elements/",
		"/API/elements", "/api/Elements", strings.Replace(element, "elements", "Elements", 1), element +
			"/members", "/api/login/", "/api/Login", "/whoami", "/sessions", "/sessions/1", "/api/sessions", "/notes",
		"/api/notes", "/events/1", "/api/events/1/commitments", "/api/commitments/1/x", "/api/eventcategories/",
		"/api/admin", "/api/admin/", "/api/admin/nothing", "/api/elementsx", "/internal/facts", "/metrics", "/readyz",
	} {
		c.Get(t, path).Want(t, http.StatusNotFound, notFound)
	}
}

// TestDecisionsPart1_IDsInPaths leaves %31 to the services' own tests: a proxy may normalize it to 1 (RFC 3986,
// 6.2.2.2).
func TestDecisionsPart1_IDsInPaths(t *testing.T) {
	proves(t, "decisions 1 ids in paths")
	c, e := school.Booker(t), school.Location(t)
	for _, id := range []string{"x", "0x1", "1x", "01", fmt.Sprint("0", e.ID), fmt.Sprint("+", e.ID),
		fmt.Sprint("-", e.ID), fmt.Sprint("%20", e.ID), fmt.Sprint(e.ID,
			"%20"), "1.0", "1e3", "١", "9223372036854775808", "99999999999999999999"} {
		for _, path := range []string{"/api/elements/%s", "/api/elements/%s/commitments", "/api/events/%s",
			"/api/eventcategories/%s", "/api/notes/%s", "/notes/%s"} {
			c.Get(t, fmt.Sprintf(path, id)).Want(t, http.StatusNotFound, notFound)
		}
		c.Delete(t, "/api/commitments/"+id).Want(t, http.StatusNotFound, notFound)
	}
	c.Get(t, elementPath(e)).WantCode(t, http.StatusOK)
}

func TestDecisionsPart1_IDsInBodies(t *testing.T) {
	proves(t, "decisions 1 ids in bodies")
	c, staff, room := school.Booker(t), school.Staff(t), school.Location(t)
	for _, form := range []func(int64) any{func(id int64) any { return id },
		func(id int64) any { return fmt.Sprint(id) }} {
		a := c.Post(t, "/api/events", object{"event": object{
			"body": "x", "event_category_id": form(school.Category.ID), "organiser_id": form(staff.ID),
			"starts_at_text": "2019-04-10 09:00",
		}, "elements": []any{form(room.ID)}}).Must(t, http.StatusOK)
		a.Equal(t, "failures", "[]")
		a.Equal(t, "event.commitments.0.element", room.List())
		c.Get(t, pathIn(t, a)).Equal(t, "event.organiser", staff.List())
	}
}

func TestDecisionsPart1_WrongMethods(t *testing.T) {
	proves(t, "decisions 1 405")
	c := school.As(t)
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

func TestDecisionsPart1_PathsOfNobodyAreAnsweredWithTheHeadersOfAllOthers(t *testing.T) {
	proves(t, "decisions 1 404 paths", "decisions 1 envelope")
	c := school.As(t)
	headers := []string{"X-Content-Type-Options", "Content-Security-Policy", "Referrer-Policy", "Cache-Control",
		"Strict-Transport-Security", "X-Request-Id"}
	id := "of-a-client-" + school.Prefix
	known := c.Do(t, "GET", "/api/elements/0", nil, "X-Request-Id", id)
	known.WantCode(t, http.StatusNotFound)
	equal(t, "X-Request-Id", known.Header.Get("X-Request-Id"), id)
	for _, path := range []string{"/", "/api", "/api/elementsx", "/favicon.ico", "/internal/users"} {
		a := c.Do(t, "GET", path, nil, "X-Request-Id", id)
		a.Want(t, http.StatusNotFound, `{"status":"Not found"}`)
		for _, header := range headers {
			equal(t, path+": "+header, a.Header.Get(header), known.Header.Get(header))
		}
	}
}

func TestDecisionsPart1_RequestsOfWhatIsNoResourceGroup(t *testing.T) {
	proves(t, "decisions 1 405 requests")
	c := school.As(t)
	for _, e := range []Element{school.Staff(t), school.Pupil(t), school.Location(t), school.Property(t),
		school.Group(t)} {
		a := c.Get(t, elementPath(e)+"/requests")
		equal(t, "code and status for a "+e.EntityType, statusOf(t, a), `405"Method not allowed"`)
		equal(t, "it has Allow, which names no method", fmt.Sprintf("%q", a.Header["Allow"]), `[""]`)
	}
	c.Get(t, elementPath(school.ResourceGroup(t))+"/requests").Want(t, http.StatusOK, `{"status":"OK","requests":[]}`)
}

func TestDecisionsPart1_BodiesThatCannotBeRead(t *testing.T) {
	proves(t, "decisions 1 400 JSON", "decisions 1 400 wrapper", "decisions 1 trailing garbage")
	u := school.User(t, "can_su", "can_add_events", "can_add_notes")
	c := school.Login(t, u)
	event := school.Event(t, c, nil).Int(t, "event.id")
	note := c.Post(t, notesPath(event), wrapped("note")).Int(t, "note.id")
	for _, call := range [][3]string{
		{"POST", "/api/events", "event"}, {"PATCH", eventPath(event), "event"},
		{"POST", notesPath(event), "note"}, {"PUT", notePath(note), "note"}, {"PUT", "/api/sessions/1", "session"},
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

func TestDecisionsPart1_AddWithoutElements(t *testing.T) {
	proves(t, "decisions 1 400 elements")
	c := school.Booker(t)
	path := pathIn(t, school.Event(t, c, nil)) + "/add"
	for _, body := range []string{`{}`, `{"elements":null}`, `{"element":["1"]}`, `{`} {
		a := c.Post(t, path, body)
		equal(t, a.Request+" with "+body, statusOf(t, a), `400"Bad request"`)
	}
}

func TestDecisionsPart1_BadDatesInAQuery(t *testing.T) {
	proves(t, "decisions 1 400 dates")
	c, e := school.As(t), school.ResourceGroup(t)
	for _, list := range []string{"commitments", "requests"} {
		for _, query := range []string{"start_date=2019-02-29", "start_date=10/04/2019", "start_date=2019-4-1",
			"end_date=tomorrow", "start_date=2019-04-10T00:00", "start_date=2019-04-11&end_date=2019-04-10",
			"start_date=0000-00-00"} {
			a := c.Get(t, fmt.Sprintf("/api/elements/%d/%s?%s", e.ID, list, query))
			equal(t, a.Request, statusOf(t, a), `400"Bad request"`)
		}
		c.Get(t, fmt.Sprintf("/api/elements/%d/%s?start_date=2020-02-29&end_date=2020-02-29", e.ID, list)).Want(t,
			http.StatusOK, `{"status":"OK","`+list+`":[]}`)
	}
}

func TestDecisionsPart1_UnknownFieldsAreIgnored(t *testing.T) {
	proves(t, "decisions 1 unknown fields")
	c := school.Booker(t)
	a := c.Post(t, "/api/events", object{"event": object{
		"body": "x", "event_category_id": school.Category.ID, "starts_at_text": "2019-04-10", "all_day_field": true,
		"colour": "red", "id": 5, "owner_id": 1, "valid": false,
	}, "elements": []any{}, "extra": object{"a": []int{1}}}).Must(t, http.StatusOK)
	equal(t, "the id is the service's", a.Int(t, "event.id") != 5 || a.Has("event.colour"), true)
	equal(t, "keys", a.Keys(t, "event"), "id,body,starts_at,ends_at,all_day,commitments,requests,valid")
	c.Patch(t, pathIn(t, a), object{"event": object{"colour": "blue"}, "more": 1}).WantCode(t, http.StatusOK)
}

func TestDecisionsPart1_MediaTypes(t *testing.T) {
	proves(t, "decisions 1 415")
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
	proves(t, "decisions 1 413")
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
	proves(t, "decisions 1 401", "5 rule 1")
	u := school.User(t, "can_su", "can_add_events", "can_add_notes")
	dead := school.Login(t, u)
	held := dead.Copy()
	dead.Get(t, "/api/logout").Want(t, http.StatusOK, okBody)
	none, nonsense := school.Client(), school.Client()
	unknown := *held.SessionCookie()
	unknown.Value = strings.Repeat("A", len(unknown.Value))
	nonsense.SetSessionCookie(&unknown)
	for what, c := range map[string]*servicetest.Client{"none": none, "dead": held, "nonsense": nonsense} {
		for _, call := range [][2]string{
			{"GET", "/api/elements"}, {"GET", "/api/elements/1"}, {"GET", "/api/elements/1/commitments"},
			{"GET", "/api/elements/1/requests"}, {"POST", "/api/events"}, {"GET", "/api/events/1"},
			{"POST", "/api/events/1/add"}, {"PATCH", "/api/events/1"}, {"DELETE", "/api/events/1"},
			{"DELETE", "/api/commitments/1"}, {"PATCH", "/api/commitments/1"}, {"DELETE", "/api/requests/1"},
			{"GET", "/api/events/1/notes"}, {"POST", "/api/events/1/notes"}, {"GET", "/api/notes/1"},
			{"GET", "/notes/1"}, {"PUT", "/api/notes/1"}, {"DELETE", "/notes/1"}, {"GET", "/api/eventcategories"},
			{"GET", "/api/eventcategories/1"}, {"GET", "/api/users"}, {"PUT", "/api/sessions/1"},
			{"PUT", "/api/sessions/1/revert"}, {"GET", "/sessions/1/whoami"}, {"GET", "/api/admin/users"},
			{"POST", "/api/admin/elements"}, {"POST", "/api/admin/import/staff"}, {"GET", "/api/admin/eventcategories"},
		} {
			a := c.Do(t, call[0], call[1], nil)
			equal(t, "session "+what+": "+a.Request, fmt.Sprint(a.Code, " ", a.Body),
				fmt.Sprint(http.StatusUnauthorized, " ", accessDenied))
		}
	}
}

// TestDecisionsPart1_OneTextForEveryForbidden collects answers 403 for different reasons from all services.
func TestDecisionsPart1_OneTextForEveryForbidden(t *testing.T) {
	proves(t, "decisions 1 403")
	owner, c := school.Booker(t), school.As(t)
	calendar := school.Controlled(t)
	a := school.Event(t, owner, nil, calendar, school.ResourceGroup(t))
	event, commitment := pathIn(t, a), commitmentIn(t, a, 0)
	note := owner.Post(t, event+"/notes", wrapped("note")).Int(t, "note.id")
	for _, call := range []struct {
		method, path string
		body         any
	}{
		{"POST", "/api/events", wrapped("event")}, {"PATCH", event, wrapped("event", "body", "")},
		{"DELETE", event, nil}, {"POST", event + "/add", object{"elements": []string{"1"}}},
		{"POST", event + "/notes", wrapped("note")}, {"DELETE", commitment, nil},
		{"PATCH", commitment, wrapped("commitment", "status", "confirmed")},
		{"DELETE", requestIn(t, a), nil},
		{"PUT", notePath(note), wrapped("note")}, {"DELETE", fmt.Sprintf("/notes/%d", note), nil},
		{"GET", categoryPath(school.Privileged.ID), nil},
		{"GET", "/api/users?email=a@b.example", nil}, {"PUT", "/api/sessions/1", wrapped("session")},
		{"GET", "/api/admin/users", nil}, {"POST", "/api/admin/elements", wrapped("element")},
		{"POST", "/api/admin/import/events", nil},
	} {
		c.Do(t, call.method, call.path, call.body).Want(t, http.StatusForbidden, forbidden)
	}
}

func TestDecisionsPart1_AnInvalidRecordComesBack(t *testing.T) {
	proves(t, "decisions 1 422")
	c := school.Booker(t)
	a := c.Post(t, "/api/events", wrapped("event"))
	a.Want(t, http.StatusUnprocessableEntity,
		`{"status":"Unprocessable entity","event":{"id":null,"body":"","starts_at":null,"ends_at":null,`+
			`"all_day":false,"valid":false,"errors":{"body":["can't be blank"],`+
			`"event_category_id":["can't be blank"],"starts_at":["can't be blank"]}}}`)
	made := school.Event(t, c, object{"body": "Lesson"})
	a = c.Patch(t, pathIn(t, made), wrapped("event", "organiser_id", school.Location(t).ID))
	a.Equal(t, "event.id", made.At(t, "event.id"))
	a.Equal(t, "event.errors", `{"organiser_id":["must be a staff element"]}`)
	equal(t, "code, status and keys", fmt.Sprint(a.Code, a.At(t, "status"), a.Keys(t, "event")),
		`422"Unprocessable entity"id,body,starts_at,ends_at,all_day,valid,errors`)
}

func TestDecisionsPart1_HeadWorksWhereGetDoes(t *testing.T) {
	proves(t, "decisions 1 HEAD")
	c, e := school.Booker(t), school.ResourceGroup(t)
	event := school.Event(t, c, nil).Int(t, "event.id")
	note := c.Post(t, notesPath(event), wrapped("note")).Int(t, "note.id")
	for _, path := range []string{
		"/api/elements", elementPath(e), elementPath(e) + "/commitments", elementPath(e) +
			"/requests", eventPath(event), notesPath(event), fmt.Sprintf("/notes/%d", note), notePath(note),
		"/api/eventcategories", categoryPath(school.Category.ID), "/sessions/1/whoami", eventPath(noSuchID), "/nothing",
	} {
		got, head := c.Get(t, path), c.Do(t, http.MethodHead, path, nil)
		head.Want(t, got.Code, "")
		equal(t, "HEAD "+path+": Content-Type", head.Header.Get("Content-Type"), got.Header.Get("Content-Type"))
	}
}

func TestDecisionsPart1_SpecialCharactersAreEscaped(t *testing.T) {
	proves(t, "decisions 1 escapes")
	c := school.Booker(t)
	a := school.Event(t, c, object{"body": "<b>Rock & Roll</b> \u2028\u2029 é 日本 🎸 \"'/\\"})
	a.Equal(t, "event.body", `"\u003cb\u003eRock \u0026 Roll\u003c/b\u003e \u2028\u2029 é 日本 🎸 \"'/\\"`)
	e := school.Element(t, object{"entity_type": "Location", "name": school.Unique("<R&D>")})
	c.Get(t, elementPath(e)).Equal(t, "element.name", quoted(e.Name))
}

func TestDecisionsPart1_CodesOfSuccess(t *testing.T) {
	proves(t, "decisions 1 200", "decisions 1 201", "7.3 success", "7.1 OK", "7.1 Created")
	c := school.As(t, "can_su", "can_add_events", "can_add_notes")
	room := school.Location(t)
	a := school.TryEvent(t, c, nil, room)
	equal(t, "creating an event", statusOf(t, a), `200"Created"`)
	event := pathIn(t, a)
	note := c.Post(t, event+"/notes", wrapped("note"))
	equal(t, "creating a note", statusOf(t, note), `200"OK"`)
	path := notePath(note.Int(t, "note.id"))
	for _, call := range []struct {
		method, path string
		body         any
	}{
		{"GET", "/api/elements?name=" + strings.ReplaceAll(room.Name, " ", "%20"), nil},
		{"GET", elementPath(room), nil},
		{"GET", elementPath(room) + "/commitments", nil},
		{"GET", event, nil}, {"POST", event + "/add", object{"elements": []string{}}},
		{"PATCH", event, wrapped("event")}, {"GET", event + "/notes", nil}, {"GET", path, nil},
		{"PUT", path, wrapped("note")}, {"DELETE", path, nil},
		{"DELETE", commitmentIn(t, a, 0), nil}, {"DELETE", event, nil},
		{"GET", "/api/eventcategories", nil}, {"GET", "/api/users", nil}, {"PUT", revertPath, object{}},
		{"GET", "/sessions/1/whoami", nil}, {"GET", "/api/logout", nil},
	} {
		a := c.Do(t, call.method, call.path, call.body)
		equal(t, a.Request, statusOf(t, a), `200"OK"`)
	}
	for path, body := range map[string]any{
		"/api/admin/elements": object{"element": object{"entity_type": "Service", "name": school.Unique("Bell")}},
		"/api/admin/users":    object{"user": object{"name": school.Unique("User"), "email": school.Address()}},
	} {
		a := school.Admin().Post(t, path, body)
		equal(t, a.Request, statusOf(t, a), `201"Created"`)
	}
}

func TestDecisionsPart1_EmptyListsAndTypes(t *testing.T) {
	proves(t, "decisions 1 empty lists", "decisions 1 types")
	c, group := school.Booker(t), school.ResourceGroup(t)
	a := school.Event(t, c, nil)
	equal(t, "empty lists of a new event", a.At(t, "event.commitments")+a.At(t, "event.requests")+a.At(t, "failures"),
		"[][][]")
	c.Get(t, pathIn(t, a)+"/notes").Want(t, http.StatusOK, `{"status":"OK","notes":[]}`)
	c.Get(t, elementPath(group)+"/commitments").Want(t, http.StatusOK, `{"status":"OK","commitments":[]}`)
	c.Get(t, elementPath(group)+"/requests").Want(t, http.StatusOK, `{"status":"OK","requests":[]}`)
	for _, e := range []Element{school.Staff(t), school.Pupil(t), school.Location(t), school.Group(t),
		school.Property(t)} {
		got := c.Get(t, "/api/elements?name="+strings.ReplaceAll(e.Name, " ", "%20"))
		equal(t, "types of entity_id and valid of a "+e.EntityType,
			kind(got.At(t, "elements.0.entity_id"))+" "+kind(got.At(t, "elements.0.valid")), "number boolean")
	}
}

// kind returns the JSON type of a text.
func kind(text string) string {
	var value any
	_ = json.Unmarshal([]byte(text), &value) // text is part of valid JSON
	switch value.(type) {
	case float64:
		return "number"
	case bool:
		return "boolean"
	default:
		return "another type"
	}
}

func TestDecisionsPart1_AnIllegalTransitionIsAConflict(t *testing.T) {
	proves(t, "decisions 1 409 transition")
	decider, calendar := school.User(t), school.Property(t)
	school.Administrator(t, calendar, decider)
	a := school.Event(t, school.Booker(t), nil, calendar)
	path := commitmentIn(t, a, 0)
	c := school.Login(t, decider)
	c.Patch(t, path, wrapped("commitment", "status", "confirmed")).WantCode(t, http.StatusOK)
	refused := c.Patch(t, path, wrapped("commitment", "status", "noted"))
	equal(t, "confirmed to noted", statusOf(t, refused), `409"Conflict"`)
}
