package apidoctest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/apidoc"
	"github.com/belfry-schools/belfry/pkg/testing/apidoctest"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func exchange(t *testing.T, method, path, body string, code int, answer string) apidoctest.Exchange {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:8080"+path, nil)
	errortest.None(t, err)
	media := "application/json"
	if strings.HasPrefix(path, "/api/admin/import/") {
		media = "application/x-ndjson"
	}
	request.Header.Set("Content-Type", media)
	return apidoctest.Exchange{
		Request: request, Body: []byte(body), Code: code,
		Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}}, Answer: []byte(answer),
	}
}

const (
	element = `{"id":1,"name":"a","entity_type":"Staff","entity_id":2,"valid":true}`
	event   = `{"id":1,"body":"a","starts_at":"2019-04-10T09:00:00.000+01:00",` +
		`"ends_at":"2019-04-10T09:00:00.000+01:00","all_day":false,"commitments":[],"requests":[],"valid":true}`
	note = `{"id":1,"contents":"","visible_guest":false,"visible_staff":true,"visible_pupil":false,` +
		`"formatted_contents":"","owner":null,"valid":true}`
	asked = `{"event":{"body":"a","event_category_id":"1","starts_at_text":"2019-04-10"}}`
)

func withElements(elements string) string {
	return strings.TrimSuffix(asked, "}") + `,"elements":` + elements + "}"
}

// failing is an answer in which one of the elements has failed.
func failing(index int) string {
	return fmt.Sprintf(`{"status":"Created","event":%s,`+
		`"failures":[{"index":%d,"element_id":"x","item_type":"Hash","item":{"status":"Not found"}}]}`, event, index)
}

func TestCheck_AcceptsWhatTheDocumentSays(t *testing.T) {
	for _, c := range []struct {
		method, path, body string
		code               int
		answer             string
	}{
		{"GET", "/api/elements?name=a", "", 200, `{"status":"OK","elements":[` + element + `]}`},
		{"GET", "/api/elements?name=", "", 200, `{"status":"OK","elements":[]}`},
		{"HEAD", "/api/elements?name=a", "", 200, ""},
		{"GET", "/api/elements?name=b", "", 404, `{"status":"Not found","elements":[]}`},
		{"GET", "/api/events/1/notes", "", 200, `{"status":"OK","notes":[` + note + `]}`},
		{"POST", "/api/events", withElements(`["1","x",2]`), 200, failing(1)},
		{"POST", "/api/events", withElements(`"x"`), 200, failing(0)},
		{"POST", "/api/events", withElements(`7`), 200, `{"status":"Created","event":` + event + `,"failures":[]}`},
		{"POST", "/api/events", `{}`, 400, `{"status":"Bad request","message":"event is missing"}`},
		{"DELETE", "/notes/9", "", 404,
			`{"status":"Not found","exception":"RecordNotFound","message":"Couldn't find Note with 'id'=9"}`},
		{"GET", "/nowhere", "", 404, `{"status":"Not found"}`},
		{"POST", "/api/admin/import/subjects", "{\"key\":\"1\",\"name\":\"a\"}\n\n{\"key\":\"2\"}\n", 200,
			`{"status":"OK","created":1,"updated":0,"unchanged":0,"failed":1,` +
				`"records":[{"index":0,"key":"1","result":"created","id":1},` +
				`{"index":1,"key":"2","result":"failed","errors":{"name":["can't be blank"]}}]}`},
	} {
		errortest.Report(t, apidoctest.Check(exchange(t, c.method, c.path, c.body, c.code, c.answer)),
			"%s %s %d", c.method, c.path, c.code)
	}
}

func TestCheck_RefusesWhatTheDocumentDoesNotSay(t *testing.T) {
	for name, c := range map[string]struct {
		method, path, body string
		code               int
		answer, says       string
	}{
		"a field more": {"GET", "/api/elements?name=a", "", 200,
			`{"status":"OK","elements":[` + strings.Replace(element, "{", `{"colour":"red",`, 1) + `]}`,
			"findElements (GET /api/elements): answer 200: /elements/0: additional properties 'colour' not allowed"},
		"a field less": {"GET", "/api/elements?name=a", "", 200,
			`{"status":"OK","elements":[` + strings.Replace(element, `,"valid":true`, "", 1) + `]}`,
			"/elements/0: missing property 'valid'"},
		"a string for a number": {"GET", "/api/elements?name=a", "", 200,
			`{"status":"OK","elements":[` + strings.Replace(element, `"entity_id":2`, `"entity_id":"2"`, 1) + `]}`,
			"/elements/0/entity_id: got string, want integer"},
		"a type that there is not": {"GET", "/api/elements?name=a", "", 200,
			`{"status":"OK","elements":[` + strings.Replace(element, "Staff", "Robot", 1) + `]}`,
			"/elements/0/entity_type: value must be one of"},
		"null for a list": {"GET", "/api/elements?name=a", "", 200, `{"status":"OK","elements":null}`,
			"/elements: got null, want array"},
		"null where it may not be": {"GET", "/api/events/1/notes", "", 200,
			`{"status":"OK","notes":[` + strings.Replace(note, `"id":1`, `"id":null`, 1) + `]}`,
			"/notes/0/id: got null, want integer"},
		"a time without offset": {"POST", "/api/events", asked, 200,
			`{"status":"Created","event":` + strings.Replace(event, "+01:00", "", 1) + `,"failures":[]}`,
			"/event/starts_at: "},
		"an item of another type": {"POST", "/api/events", asked, 200,
			`{"status":"Created","event":` + event +
				`,"failures":[{"index":0,"element_id":"x","item_type":"Commitment","item":{"status":"Not found"}}]}`,
			"/failures/0/item: "},
		"another status": {"GET", "/api/elements?name=a", "", 200, `{"status":"Created","elements":[]}`,
			"/status: value must be 'OK'"},
		"a code without answer": {"GET", "/api/elements/1", "", 422, `{"status":"Unprocessable entity"}`,
			"getElement (GET /api/elements/{id}): the document has no answer 422"},
		"a message with a 403": {"DELETE", "/api/events/1", "", 403, `{"status":"Forbidden","message":"no"}`,
			"additional properties 'message' not allowed"},
		"a 405 without Allow": {"GET", "/api/elements/1/requests", "", 405, `{"status":"Method not allowed"}`,
			"the header Allow is missing"},
		"an undocumented success": {"GET", "/api/secret", "", 200, `{"status":"OK"}`,
			"GET /api/secret is not in the document, but the answer is 200"},
		"an undocumented method": {"PUT", "/api/login", "", 200, `{"status":"OK"}`,
			"PUT /api/login is not in the document"},
		"a refusal of its own": {"GET", "/nowhere", "", 404, `Not found`, "invalid character"},
		"a body with HEAD":     {"HEAD", "/api/elements?name=a", "", 200, `{}`, "it has a body"},
		"a success without body": {"POST", "/api/events",
			`{"event":{"event_category_id":"1","starts_at_text":"2019-04-10"}}`, 200,
			`{"status":"Created","event":` + event + `,"failures":[]}`,
			"createEvent (POST /api/events): the request succeeded, but by the document: " +
				"/event: missing property 'body'"},
		"a success with a bad id": {"PUT", "/api/sessions/1", `{"session":{"user_id":"x"}}`, 200, `{"status":"OK"}`,
			"/session/user_id: "},
		"an invalid element id": {"POST", "/api/events", withElements(`["x","y"]`), 200, failing(0),
			"/elements"},
		"a success with a bad day": {"GET", "/api/elements/1/commitments?start_date=today", "", 200,
			`{"status":"OK","commitments":[]}`, "start_date"},
		"a record without a name": {"POST", "/api/admin/import/subjects", `{"key":"1"}`, 200,
			`{"status":"OK","created":1,"updated":0,"unchanged":0,"failed":0,` +
				`"records":[{"index":0,"key":"1","result":"created","id":1}]}`, "record 0: /: missing property 'name'"},
	} {
		errortest.Says(t, apidoctest.Check(exchange(t, c.method, c.path, c.body, c.code, c.answer)), c.says, name)
	}
}

func TestCheck_WantsTheMediaTypeOfTheAnswer(t *testing.T) {
	e := exchange(t, "GET", "/api/elements", "", 200, `{"status":"OK","elements":[]}`)
	e.Header.Set("Content-Type", "text/plain")
	errortest.Says(t, apidoctest.Check(e), `the Content-Type is "text/plain"`)
}

// TestCheck_TakesAPageForABrowserOutsideOfTheInterfaceAlone, as requests made at random may ask for one.
func TestCheck_TakesAPageForABrowserOutsideOfTheInterfaceAlone(t *testing.T) {
	for path, want := range map[string]bool{"/nowhere": true, "/api/nowhere": false} {
		e := exchange(t, "GET", path, "", 404, "<!doctype html>")
		e.Header.Set("Content-Type", "text/html; charset=utf-8")
		errortest.Some(t, apidoctest.Check(e), "%s: a page that was not asked for passes", path)
		e.Request.Header.Set("Accept", "text/html")
		err := apidoctest.Check(e)
		valuetest.Same(t, err == nil, want, "%s: %v", path, err)
	}
}

func TestDocument_ExamplesAreAsTheirSchemas(t *testing.T) {
	document := apidoc.Document()
	examples, err := apidoctest.Examples(document)
	errortest.None(t, err)
	valuetest.Holds(t, len(examples) >= 40, "only %d examples", len(examples))
	for at, fault := range examples {
		errortest.Report(t, fault, at)
	}
}

func TestNewChecker_RefusesADocumentThatIsNone(t *testing.T) {
	for _, document := range []string{
		`{`,
		`{"openapi":"3.1.0","info":{"title":"a","version":"1"},"paths":{"/a":{"get":{"responses":{"200":{}}}}}}`,
		`{"openapi":"3.1.0","info":{"title":"a","version":"1"},` +
			`"paths":{"/a/{id}":{"get":{"responses":{"200":{"description":"a"}}}}}}`,
	} {
		errortest.Some(t, errortest.Of(apidoctest.NewChecker([]byte(document))), "%s passes", document)
	}
}
