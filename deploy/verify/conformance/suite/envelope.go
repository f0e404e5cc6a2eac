package suite

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// envelopeChecks are those of parts 1, 7 and 8 and of decisions, part 1.
func envelopeChecks() []Check {
	return []Check{
		prove("TestPart1_EveryAnswerIsJSONWithAStatus", everyAnswerIsJSON, "1 json", "1 status", "decisions 1 envelope", "decisions 1 accept"),
		prove("TestPart7_2_TheExceptionBody", exceptionBody, "7.2 body", "7.2 note", "7.2 commitment", "7.1 Bad request", "7.1 Not found", "decisions 1 exception", "decisions 1 exception types", "decisions 1 404 records", "decisions 1 400 commitment"),
		prove("TestDecisionsPart1_UnknownPaths", unknownPaths, "decisions 1 404 paths", "decisions 1 path letters"),
		prove("TestDecisionsPart1_IDsInPaths", idsInPaths, "decisions 1 ids in paths"),
		prove("TestDecisionsPart1_IDsInBodies", idsInBodies, "decisions 1 ids in bodies"),
		prove("TestDecisionsPart1_WrongMethods", wrongMethods, "decisions 1 405"),
		prove("TestDecisionsPart1_RequestsOfWhatIsNoResourceGroup", requestsOfOthers, "decisions 1 405 requests"),
		prove("TestDecisionsPart1_BodiesThatCannotBeRead", unreadableBodies, "decisions 1 400 JSON", "decisions 1 400 wrapper", "decisions 1 trailing garbage"),
		prove("TestDecisionsPart1_AddWithoutElements", addWithoutElements, "decisions 1 400 elements"),
		prove("TestDecisionsPart1_BadDatesInAQuery", badDatesInAQuery, "decisions 1 400 dates"),
		prove("TestDecisionsPart1_UnknownFieldsAreIgnored", unknownFields, "decisions 1 unknown fields"),
		prove("TestDecisionsPart1_MediaTypes", mediaTypes, "decisions 1 415"),
		prove("TestDecisionsPart1_BodiesTooLarge", tooLarge, "decisions 1 413"),
		prove("TestDecisionsPart1_NoOrADeadSessionIsAccessDenied", noSession, "decisions 1 401", "5 rule 1"),
		prove("TestDecisionsPart1_OneTextForEveryForbidden", everyForbidden, "decisions 1 403"),
		prove("TestDecisionsPart1_AnInvalidRecordComesBack", invalidRecords, "decisions 1 422"),
		prove("TestDecisionsPart1_HeadWorksWhereGetDoes", headWorks, "decisions 1 HEAD"),
		prove("TestDecisionsPart1_SpecialCharactersAreEscaped", specialCharacters, "decisions 1 escapes"),
		prove("TestDecisionsPart1_CodesOfSuccess", codesOfSuccess, "decisions 1 200", "decisions 1 201", "7.3 success", "7.1 OK", "7.1 Created"),
		prove("TestDecisionsPart1_EmptyListsAndTypes", emptyListsAndTypes, "decisions 1 empty lists", "decisions 1 types"),
		prove("TestDecisionsPart1_AnIllegalTransitionIsAConflict", illegalTransition, "decisions 1 409 transition"),
	}
}

// everyAnswerIsJSON asks for other types, in ways that succeed and that fail, of each service and of none.
func everyAnswerIsJSON(t *T) {
	c := t.Booker()
	event := t.Event(c, nil).Int("event.id")
	for _, call := range []struct {
		method, path string
		body         any
	}{
		{"GET", "/api/elements", nil}, {"GET", "/api/elements?name=" + t.School.Prefix, nil}, {"GET", fmt.Sprintf("/api/elements/%d", noSuchID), nil},
		{"GET", fmt.Sprintf("/api/events/%d", event), nil}, {"GET", "/api/eventcategories", nil}, {"POST", "/api/events", "{"}, {"POST", "/api/events", map[string]any{"event": map[string]any{}}},
		{"DELETE", "/api/commitments/1x", nil}, {"GET", "/notes/0", nil}, {"GET", "/sessions/1/whoami", nil}, {"GET", "/api/users", nil},
		{"GET", "/", nil}, {"GET", "/api", nil}, {"GET", "/index.html", nil}, {"GET", "/api/admin/users", nil}, {"PUT", "/api/login", nil},
	} {
		for _, accept := range []string{"application/json", "text/html", "application/xml;q=1, */*;q=0", ""} {
			a := c.Do(call.method, call.path, call.body, "Accept", accept)
			t.Equal(a.request+" with Accept "+accept+": Content-Type", strings.ToLower(strings.ReplaceAll(a.Header.Get("Content-Type"), " ", "")), "application/json;charset=utf-8")
			if keys := a.Keys(""); keys != "status" && !strings.HasPrefix(keys, "status,") {
				t.Errorf("%s\n  expected: status as the first key\n  got:      %s", a.request, a.Body)
			}
			t.Equal(a.request+": status is not empty", a.String("status") != "", true)
		}
	}
}

func exceptionBody(t *T) {
	c, admin := t.Booker(), t.Admin()
	for _, call := range []struct {
		client               *Client
		method, path, record string
		body                 any
	}{
		{c, "GET", "/api/events/%d", "Event", nil}, {c, "DELETE", "/api/events/%d", "Event", nil}, {c, "PATCH", "/api/events/%d", "Event", wrapped("event")}, {c, "PUT", "/api/events/%d", "Event", wrapped("event")},
		{c, "POST", "/api/events/%d/add", "Event", map[string]any{"elements": []string{}}}, {c, "GET", "/api/events/%d/notes", "Event", nil}, {c, "POST", "/api/events/%d/notes", "Event", wrapped("note")},
		{c, "PATCH", "/api/commitments/%d", "Commitment", wrapped("commitment", "status", "confirmed")},
		{c, "DELETE", "/api/requests/%d", "Request", nil}, {c, "PATCH", "/api/requests/%d", "Request", wrapped("request", "quantity", 1)},
		{c, "GET", "/notes/%d", "Note", nil}, {c, "GET", "/api/notes/%d", "Note", nil}, {c, "PUT", "/api/notes/%d", "Note", wrapped("note")}, {c, "DELETE", "/notes/%d", "Note", nil},
		{c, "GET", "/api/elements/%d", "Element", nil}, {c, "GET", "/api/elements/%d/commitments", "Element", nil}, {c, "GET", "/api/elements/%d/requests", "Element", nil},
		{c, "GET", "/api/eventcategories/%d", "EventCategory", nil}, {admin, "GET", "/api/admin/users/%d", "User", nil}, {admin, "GET", "/api/admin/elements/%d", "Element", nil},
	} {
		call.client.Do(call.method, fmt.Sprintf(call.path, noSuchID), call.body).Want(http.StatusNotFound, missing("Not found", call.record, noSuchID))
	}
	c.Delete(fmt.Sprintf("/api/commitments/%d", noSuchID)).Want(http.StatusBadRequest, missing("Bad request", "Commitment", noSuchID))
}

// wrapped is a body with a wrapper object and one field.
func wrapped(name string, field ...any) map[string]any {
	fields := map[string]any{}
	if len(field) == 2 {
		fields[fmt.Sprint(field[0])] = field[1]
	}
	return map[string]any{name: fields}
}

func unknownPaths(t *T) {
	c := t.As("admin")
	e := t.Location()
	element := fmt.Sprintf("/api/elements/%d", e.ID)
	c.Get(element).WantCode(http.StatusOK)
	for _, path := range []string{
		"/", "/api", "/api/", "/nothing", "/api/nothing", "/elements", element + "/", "/api/elements/", "/API/elements", "/api/Elements", strings.Replace(element, "elements", "Elements", 1),
		element + "/members", "/api/login/", "/api/Login", "/whoami", "/sessions", "/sessions/1", "/api/sessions", "/notes", "/api/notes", "/events/1", "/api/events/1/commitments", "/api/commitments/1/x",
		"/api/eventcategories/", "/api/admin", "/api/admin/", "/api/admin/nothing", "/api/elementsx", "/internal/facts", "/metrics", "/readyz",
	} {
		c.Get(path).Want(http.StatusNotFound, notFound)
	}
}

// idsInPaths leaves %31 to the services' own tests: a front door may make 1 of it, for the two are one address (RFC 3986, 6.2.2.2).
func idsInPaths(t *T) {
	c, e := t.Booker(), t.Location()
	for _, id := range []string{"x", "0x1", "1x", "01", fmt.Sprint("0", e.ID), fmt.Sprint("+", e.ID), fmt.Sprint("-", e.ID), fmt.Sprint("%20", e.ID), fmt.Sprint(e.ID, "%20"), "1.0", "1e3", "١", "9223372036854775808", "99999999999999999999"} {
		for _, path := range []string{"/api/elements/%s", "/api/elements/%s/commitments", "/api/events/%s", "/api/eventcategories/%s", "/api/notes/%s", "/notes/%s"} {
			c.Get(fmt.Sprintf(path, id)).Want(http.StatusNotFound, notFound)
		}
		c.Delete("/api/commitments/"+id).Want(http.StatusNotFound, notFound)
	}
	c.Get(fmt.Sprintf("/api/elements/%d", e.ID)).WantCode(http.StatusOK)
}

func idsInBodies(t *T) {
	c, staff, room := t.Booker(), t.Staff(), t.Location()
	for _, form := range []func(int64) any{func(id int64) any { return id }, func(id int64) any { return fmt.Sprint(id) }} {
		a := c.Post("/api/events", map[string]any{"event": map[string]any{
			"body": "x", "event_category_id": form(t.School.Category.ID), "organiser_id": form(staff.ID), "starts_at_text": "2019-04-10 09:00",
		}, "elements": []any{form(room.ID)}}).Must(http.StatusOK)
		a.Equal("failures", "[]")
		a.Equal("event.commitments.0.element", room.List())
		c.Get(fmt.Sprintf("/api/events/%d", a.Int("event.id"))).Equal("event.organiser", staff.List())
	}
}

func wrongMethods(t *T) {
	c := t.As()
	for path, call := range map[string][2]string{
		"/api/elements": {"POST", "GET, HEAD"}, "/api/elements/1": {"DELETE", "GET, HEAD"}, "/api/elements/1/commitments": {"PUT", "GET, HEAD"}, "/api/events": {"GET", "POST"},
		"/api/events/1": {"POST", "DELETE, GET, HEAD, PATCH, PUT"}, "/api/events/1/add": {"GET", "POST"}, "/api/events/1/notes": {"DELETE", "GET, HEAD, POST"},
		"/api/notes/1": {"POST", "DELETE, GET, HEAD, PATCH, PUT"}, "/notes/1": {"POST", "DELETE, GET, HEAD, PATCH, PUT"}, "/api/eventcategories": {"DELETE", "GET, HEAD"},
		"/api/login": {"POST", "GET, HEAD"}, "/api/logout": {"DELETE", "GET, HEAD"}, "/api/users": {"POST", "GET, HEAD"}, "/api/sessions/1": {"GET", "PUT"}, "/sessions/1/whoami": {"PUT", "GET, HEAD"},
		"/api/sessions/1/revert": {"POST", "PUT"},
	} {
		a := c.Do(call[0], path, nil)
		a.Want(http.StatusMethodNotAllowed, `{"status":"Method not allowed"}`)
		t.Equal(a.request+": Allow", sortedList(a.Header.Get("Allow")), call[1])
	}
}

func requestsOfOthers(t *T) {
	c := t.As()
	for _, e := range []Element{t.Staff(), t.Pupil(), t.Location(), t.Property(), t.Group()} {
		a := c.Get(fmt.Sprintf("/api/elements/%d/requests", e.ID))
		t.Equal("code and status for a "+e.EntityType, fmt.Sprint(a.Code, a.At("status")), `405"Method not allowed"`)
		t.Equal("it has Allow", a.Header["Allow"] != nil, true)
	}
	c.Get(fmt.Sprintf("/api/elements/%d/requests", t.ResourceGroup().ID)).Want(http.StatusOK, `{"status":"OK","requests":[]}`)
}

func unreadableBodies(t *T) {
	u := t.User("can_su", "can_add_events", "can_add_notes")
	c := t.Login(u)
	event := t.Event(c, nil).Int("event.id")
	note := c.Post(fmt.Sprintf("/api/events/%d/notes", event), wrapped("note")).Int("note.id")
	for _, call := range [][3]string{
		{"POST", "/api/events", "event"}, {"PATCH", fmt.Sprintf("/api/events/%d", event), "event"}, {"POST", fmt.Sprintf("/api/events/%d/notes", event), "note"},
		{"PUT", fmt.Sprintf("/api/notes/%d", note), "note"}, {"PUT", "/api/sessions/1", "session"},
	} {
		for _, body := range []string{"", "{", `{"` + call[2] + `":`, `{"` + call[2] + `":{}} x`, `{"` + call[2] + `":{}}{}`, "null", "[]", `"` + call[2] + `"`, "{}", `{"` + call[2] + `":null}`, `{"` + call[2] + `":5}`, `{"` + strings.ToUpper(call[2]) + `":{}}`, "{\"" + call[2] + "\":{\"a\":\"\xff\"}}"} {
			a := c.Do(call[0], call[1], body)
			t.Equal(a.request+" with "+body, fmt.Sprint(a.Code, a.At("status")), `400"Bad request"`)
		}
	}
	t.isUser(c, &u, "after unreadable bodies")
}

func addWithoutElements(t *T) {
	c := t.Booker()
	path := fmt.Sprintf("/api/events/%d/add", t.Event(c, nil).Int("event.id"))
	for _, body := range []string{`{}`, `{"elements":null}`, `{"element":["1"]}`, `{`} {
		a := c.Post(path, body)
		t.Equal(a.request+" with "+body, fmt.Sprint(a.Code, a.At("status")), `400"Bad request"`)
	}
}

func badDatesInAQuery(t *T) {
	c, e := t.As(), t.ResourceGroup()
	for _, list := range []string{"commitments", "requests"} {
		for _, query := range []string{"start_date=2019-02-29", "start_date=10/04/2019", "start_date=2019-4-1", "end_date=tomorrow", "start_date=2019-04-10T00:00", "start_date=2019-04-11&end_date=2019-04-10", "start_date=0000-00-00"} {
			a := c.Get(fmt.Sprintf("/api/elements/%d/%s?%s", e.ID, list, query))
			t.Equal(a.request, fmt.Sprint(a.Code, a.At("status")), `400"Bad request"`)
		}
		c.Get(fmt.Sprintf("/api/elements/%d/%s?start_date=2020-02-29&end_date=2020-02-29", e.ID, list)).Want(http.StatusOK, `{"status":"OK","`+list+`":[]}`)
	}
}

func unknownFields(t *T) {
	c := t.Booker()
	a := c.Post("/api/events", map[string]any{"event": map[string]any{
		"body": "x", "event_category_id": t.School.Category.ID, "starts_at_text": "2019-04-10", "all_day_field": true, "colour": "red", "id": 5, "owner_id": 1, "valid": false,
	}, "elements": []any{}, "extra": map[string]any{"a": []int{1}}}).Must(http.StatusOK)
	t.Equal("the id is the service's", a.Int("event.id") != 5 || a.Has("event.colour"), true)
	t.Equal("keys", a.Keys("event"), "id,body,starts_at,ends_at,all_day,commitments,requests,valid")
	c.Patch(fmt.Sprintf("/api/events/%d", a.Int("event.id")), map[string]any{"event": map[string]any{"colour": "blue"}, "more": 1}).WantCode(http.StatusOK)
}

func mediaTypes(t *T) {
	c := t.Booker()
	path := fmt.Sprintf("/api/events/%d", t.Event(c, nil).Int("event.id"))
	for contentType, code := range map[string]int{"application/json": 200, "application/json; charset=utf-8": 200, "Application/JSON": 200, "": 200, "text/plain": 415, "application/x-www-form-urlencoded": 415, "application/xml": 415} {
		a := c.Do(http.MethodPatch, path, `{"event":{}}`, "Content-Type", contentType)
		t.Equal("code of a body declared as "+contentType, a.Code, code)
		if code != http.StatusOK {
			a.Equal("status", `"Unsupported media type"`)
		}
	}
}

func tooLarge(t *T) {
	c := t.Booker()
	event := fmt.Sprintf("/api/events/%d", t.Event(c, nil).Int("event.id"))
	large := `{"event":{"body":"` + strings.Repeat("x", 2<<20) + `"}}`
	a := c.Patch(event, large)
	t.Equal("code and status of two megabytes", fmt.Sprint(a.Code, a.At("status")), `413"Payload too large"`)
	c.Get(event).WantCode(http.StatusOK)
}

func noSession(t *T) {
	u := t.User("can_su", "can_add_events", "can_add_notes")
	dead := t.Login(u)
	held := dead.Copy()
	dead.Get("/api/logout").Want(http.StatusOK, okBody)
	none, nonsense := t.Client(), t.Client()
	unknown := *held.Cookie //nolint:gosec // a copy of the cookie as the server set it
	unknown.Value = strings.Repeat("A", len(unknown.Value))
	nonsense.Cookie = &unknown
	for what, c := range map[string]*Client{"none": none, "dead": held, "nonsense": nonsense} {
		for _, call := range [][2]string{
			{"GET", "/api/elements"}, {"GET", "/api/elements/1"}, {"GET", "/api/elements/1/commitments"}, {"GET", "/api/elements/1/requests"}, {"POST", "/api/events"}, {"GET", "/api/events/1"}, {"POST", "/api/events/1/add"},
			{"PATCH", "/api/events/1"}, {"DELETE", "/api/events/1"}, {"DELETE", "/api/commitments/1"}, {"PATCH", "/api/commitments/1"}, {"DELETE", "/api/requests/1"}, {"GET", "/api/events/1/notes"}, {"POST", "/api/events/1/notes"},
			{"GET", "/api/notes/1"}, {"GET", "/notes/1"}, {"PUT", "/api/notes/1"}, {"DELETE", "/notes/1"}, {"GET", "/api/eventcategories"}, {"GET", "/api/eventcategories/1"}, {"GET", "/api/users"}, {"PUT", "/api/sessions/1"},
			{"PUT", "/api/sessions/1/revert"}, {"GET", "/sessions/1/whoami"}, {"GET", "/api/admin/users"}, {"POST", "/api/admin/elements"}, {"POST", "/api/admin/import/staff"}, {"GET", "/api/admin/eventcategories"},
		} {
			a := c.Do(call[0], call[1], nil)
			t.Equal("session "+what+": "+a.request, fmt.Sprint(a.Code, " ", a.Body), fmt.Sprint(http.StatusUnauthorized, " ", accessDenied))
		}
	}
}

// everyForbidden collects refusals for different reasons from all services.
func everyForbidden(t *T) {
	owner, c := t.Booker(), t.As()
	calendar := t.Controlled()
	a := t.Event(owner, nil, calendar, t.ResourceGroup())
	event, commitment := fmt.Sprintf("/api/events/%d", a.Int("event.id")), fmt.Sprintf("/api/commitments/%d", a.Int("event.commitments.0.id"))
	note := owner.Post(event+"/notes", wrapped("note")).Int("note.id")
	for _, call := range []struct {
		method, path string
		body         any
	}{
		{"POST", "/api/events", wrapped("event")}, {"PATCH", event, wrapped("event", "body", "")}, {"DELETE", event, nil}, {"POST", event + "/add", map[string]any{"elements": []string{"1"}}},
		{"POST", event + "/notes", wrapped("note")}, {"DELETE", commitment, nil}, {"PATCH", commitment, wrapped("commitment", "status", "confirmed")}, {"DELETE", fmt.Sprintf("/api/requests/%d", a.Int("event.requests.0.id")), nil},
		{"PUT", fmt.Sprintf("/api/notes/%d", note), wrapped("note")}, {"DELETE", fmt.Sprintf("/notes/%d", note), nil}, {"GET", fmt.Sprintf("/api/eventcategories/%d", t.School.Privileged.ID), nil},
		{"GET", "/api/users?email=a@b.example", nil}, {"PUT", "/api/sessions/1", wrapped("session")}, {"GET", "/api/admin/users", nil}, {"POST", "/api/admin/elements", wrapped("element")}, {"POST", "/api/admin/import/events", nil},
	} {
		c.Do(call.method, call.path, call.body).Want(http.StatusForbidden, forbidden)
	}
}

func invalidRecords(t *T) {
	c := t.Booker()
	a := c.Post("/api/events", wrapped("event"))
	a.Want(http.StatusUnprocessableEntity, `{"status":"Unprocessable entity","event":{"id":null,"body":"","starts_at":null,"ends_at":null,"all_day":false,"valid":false,"errors":{"body":["can't be blank"],"event_category_id":["can't be blank"],"starts_at":["can't be blank"]}}}`)
	made := t.Event(c, map[string]any{"body": "Lesson"})
	a = c.Patch(fmt.Sprintf("/api/events/%d", made.Int("event.id")), wrapped("event", "organiser_id", t.Location().ID))
	a.Equal("event.id", made.At("event.id"))
	a.Equal("event.errors", `{"organiser_id":["must be a staff element"]}`)
	t.Equal("code, status and keys", fmt.Sprint(a.Code, a.At("status"), a.Keys("event")), `422"Unprocessable entity"id,body,starts_at,ends_at,all_day,valid,errors`)
}

func headWorks(t *T) {
	c, e := t.Booker(), t.ResourceGroup()
	event := t.Event(c, nil).Int("event.id")
	note := c.Post(fmt.Sprintf("/api/events/%d/notes", event), wrapped("note")).Int("note.id")
	for _, path := range []string{
		"/api/elements", fmt.Sprintf("/api/elements/%d", e.ID), fmt.Sprintf("/api/elements/%d/commitments", e.ID), fmt.Sprintf("/api/elements/%d/requests", e.ID), fmt.Sprintf("/api/events/%d", event),
		fmt.Sprintf("/api/events/%d/notes", event), fmt.Sprintf("/notes/%d", note), fmt.Sprintf("/api/notes/%d", note), "/api/eventcategories", fmt.Sprintf("/api/eventcategories/%d", t.School.Category.ID),
		"/sessions/1/whoami", fmt.Sprintf("/api/events/%d", noSuchID), "/nothing",
	} {
		got, head := c.Get(path), c.Do(http.MethodHead, path, nil)
		head.Want(got.Code, "")
		t.Equal("HEAD "+path+": Content-Type", head.Header.Get("Content-Type"), got.Header.Get("Content-Type"))
	}
}

func specialCharacters(t *T) {
	c := t.Booker()
	a := t.Event(c, map[string]any{"body": "<b>Rock & Roll</b> \u2028\u2029 é 日本 🎸 \"'/\\"})
	a.Equal("event.body", `"\u003cb\u003eRock \u0026 Roll\u003c/b\u003e \u2028\u2029 é 日本 🎸 \"'/\\"`)
	e := t.Element(map[string]any{"entity_type": "Location", "name": t.Unique("<R&D>")})
	c.Get(fmt.Sprintf("/api/elements/%d", e.ID)).Equal("element.name", quoted(e.Name))
}

func codesOfSuccess(t *T) {
	c := t.As("can_su", "can_add_events", "can_add_notes")
	room := t.Location()
	a := t.TryEvent(c, nil, room)
	t.Equal("creating an event", fmt.Sprint(a.Code, a.At("status")), `200"Created"`)
	event := fmt.Sprintf("/api/events/%d", a.Int("event.id"))
	note := c.Post(event+"/notes", wrapped("note"))
	t.Equal("creating a note", fmt.Sprint(note.Code, note.At("status")), `200"OK"`)
	path := fmt.Sprintf("/api/notes/%d", note.Int("note.id"))
	for _, call := range []struct {
		method, path string
		body         any
	}{
		{"GET", "/api/elements?name=" + strings.ReplaceAll(room.Name, " ", "%20"), nil}, {"GET", fmt.Sprintf("/api/elements/%d", room.ID), nil}, {"GET", fmt.Sprintf("/api/elements/%d/commitments", room.ID), nil},
		{"GET", event, nil}, {"POST", event + "/add", map[string]any{"elements": []string{}}}, {"PATCH", event, wrapped("event")}, {"GET", event + "/notes", nil}, {"GET", path, nil}, {"PUT", path, wrapped("note")}, {"DELETE", path, nil},
		{"DELETE", fmt.Sprintf("/api/commitments/%d", a.Int("event.commitments.0.id")), nil}, {"DELETE", event, nil}, {"GET", "/api/eventcategories", nil}, {"GET", "/api/users", nil}, {"PUT", revertPath, map[string]any{}},
		{"GET", "/sessions/1/whoami", nil}, {"GET", "/api/logout", nil},
	} {
		a := c.Do(call.method, call.path, call.body)
		t.Equal(a.request, fmt.Sprint(a.Code, a.At("status")), `200"OK"`)
	}
	for path, body := range map[string]any{
		"/api/admin/elements": map[string]any{"element": map[string]any{"entity_type": "Service", "name": t.Unique("Bell")}},
		"/api/admin/users":    map[string]any{"user": map[string]any{"name": t.Unique("User"), "email": "x@conformance.invalid"}},
	} {
		a := t.Admin().Post(path, body)
		t.Equal(a.request, fmt.Sprint(a.Code, a.At("status")), `201"Created"`)
	}
}

func emptyListsAndTypes(t *T) {
	c, group := t.Booker(), t.ResourceGroup()
	a := t.Event(c, nil)
	t.Equal("empty lists of a new event", a.At("event.commitments")+a.At("event.requests")+a.At("failures"), "[][][]")
	c.Get(fmt.Sprintf("/api/events/%d/notes", a.Int("event.id"))).Want(http.StatusOK, `{"status":"OK","notes":[]}`)
	c.Get(fmt.Sprintf("/api/elements/%d/commitments", group.ID)).Want(http.StatusOK, `{"status":"OK","commitments":[]}`)
	c.Get(fmt.Sprintf("/api/elements/%d/requests", group.ID)).Want(http.StatusOK, `{"status":"OK","requests":[]}`)
	for _, e := range []Element{t.Staff(), t.Pupil(), t.Location(), t.Group(), t.Property()} {
		got := c.Get("/api/elements?name=" + strings.ReplaceAll(e.Name, " ", "%20"))
		t.Equal("types of entity_id and valid of a "+e.EntityType, kind(got.At("elements.0.entity_id"))+" "+kind(got.At("elements.0.valid")), "number boolean")
	}
}

// kind is the JSON type of a text.
func kind(text string) string {
	var value any
	_ = json.Unmarshal([]byte(text), &value) // text is a part of what was read before
	switch value.(type) {
	case float64:
		return "number"
	case bool:
		return "boolean"
	default:
		return "another type"
	}
}

func illegalTransition(t *T) {
	decider, calendar := t.User(), t.Property()
	t.Administrator(calendar, decider)
	a := t.Event(t.Booker(), nil, calendar)
	path := fmt.Sprintf("/api/commitments/%d", a.Int("event.commitments.0.id"))
	c := t.Login(decider)
	c.Patch(path, wrapped("commitment", "status", "confirmed")).WantCode(http.StatusOK)
	refused := c.Patch(path, wrapped("commitment", "status", "noted"))
	t.Equal("confirmed to noted", fmt.Sprint(refused.Code, refused.At("status")), `409"Conflict"`)
}
