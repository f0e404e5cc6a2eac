package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/web"
)

// booking serves a POST and an import that take safety words, and a DELETE, a PUT and a GET that read nothing. It
// returns what asks one, and how often a handler ran.
func booking(t *testing.T) (call func(call, body string, headers ...string) (code int, text string), ran *int) {
	t.Helper()
	ran = new(int)
	handler := func(c *fiber.Ctx) error {
		*ran++
		return web.OK(c, web.Field{Name: "dry", Value: web.DryRun(c)})
	}
	change := route("POST", "/api/events", handler)
	change.Reads = web.Reads{
		Query: "dry_run scope", Fields: "clashes event.body overwrite repeat.clashes repeat.rule", IfMatch: true,
		Values: map[string]string{
			"dry_run": "true|false", "scope": "one|all", "clashes": "skip|refuse", "overwrite": "true|false",
			"repeat.clashes": "skip",
		},
	}
	batch := route("POST", "/api/admin/import/users", handler)
	batch.Reads, batch.Body = web.Reads{Query: "dry_run"}, web.NDJSON
	base, _ := serve(t, nil, change, batch, route("DELETE", "/api/events", handler),
		route("PUT", "/api/events", handler), route("GET", "/api/events", handler))
	return func(call, body string, headers ...string) (int, string) {
		t.Helper()
		method, path, _ := strings.Cut(call, " ")
		code, text, _ := ask(t, method, base+path, body, headers...)
		return code, text
	}, ran
}

func TestSafetyWords_OneThatWouldBeIgnoredIsRefusedWithItsPlace(t *testing.T) {
	ask, ran := booking(t)
	deep := strings.Repeat(`{"x":[`, 40) + `{"clashes":1}` + strings.Repeat("]}", 40)
	for _, one := range []struct{ call, body, want string }{ // "": it is taken
		{"POST /api/events?dry_run=true&scope=all",
			`{"clashes":"skip","overwrite":true,"event":{"body":"dry_run"}}`, ""},
		{"POST /api/events?dry_run=false", `{"clashes":null,"overwrite":"false","repeat":{"clashes":"skip"}}`, ""},
		{"POST /api/events", `{"dry_run":true}`,
			"dry_run=true in the body: this call takes dry_run in the query (true, false)"},
		{"POST /api/events", `{"event":{"scope":"all"}}`,
			"event.scope=all in the body: this call takes scope in the query (one, all)"},
		{"POST /api/events?clashes=skip", `{}`,
			"clashes=skip in the query: this call takes clashes in the body (skip, refuse) or in the body as " +
				"repeat.clashes (skip)"},
		{"POST /api/events", `{"events":[{"a":1},{"overwrite":null}]}`,
			"events.overwrite=null in the body: this call takes overwrite in the body (true, false)"},
		{"POST /api/events", `{"clashes":["skip"]}`, `clashes=[?skip?] in the body: this call takes clashes`},
		{"POST /api/events", `{"clashes":"shrug"}`, "clashes=shrug in the body: this call takes clashes"},
		{"POST /api/events", `{"clashes":""}`, "clashes=? in the body: this call takes clashes"},
		{"POST /api/events", `{"clashes":true}`, "clashes=true in the body: this call takes clashes"},
		{"POST /api/events", `{"clashes":1}`, "clashes=1 in the body: this call takes clashes"},
		{"POST /api/events", `{"repeat":{"clashes":"refuse"}}`, "repeat.clashes=refuse in the body: this call takes"},
		{"POST /api/events?dry_run", `{}`, "dry_run=? in the query"},
		{"POST /api/events?Dry_Run=true", `{}`, "Dry_Run=true in the query: this call takes dry_run in the query"},
		{"POST /api/events?dryrun=true", `{}`, "dryrun=true in the query: this call takes dry_run in the query"},
		{"POST /api/events", `{"dry-run":true}`, "dry-run=true in the body: this call takes dry_run in the query"},
		{"POST /api/events", `{"Clashes":"skip"}`, "Clashes=skip in the body: this call takes clashes in the body"},
		{"POST /api/events?dry_run=1", `{}`, "dry_run=1 in the query"},
		{"POST /api/events?dry_run=TRUE", `{}`, "dry_run=TRUE in the query"},
		{"POST /api/events?dry_run=true%20", `{}`, "dry_run=true? in the query"},
		{"POST /api/events?dry_run=false&dry_run=true", `{}`, "dry_run=true in the query"},
		{"POST /api/events?scope=", `{}`, "scope=? in the query: this call takes scope in the query (one, all)"},
		{"POST /api/events?scope=%0d%0aa%22", `{}`, "scope=??a? in the query"},
		{"POST /api/events", deep, ""}, // no call has fields as deep
		{"POST /api/admin/import/users", "{\"key\":\"dry_run\"}\n{\"key\":\"2\"}\n", ""},
		{"POST /api/admin/import/users", "{\"key\":\"1\"}\n{\"key\":\"2\",\"dry_run\":true}\n",
			"dry_run=true in the body: this call takes dry_run in the query"},
		{"DELETE /api/events", `{"body":"x"}`, ""},
		{"DELETE /api/events", "dry_run", "the body is not a JSON object"},
		{"DELETE /api/events", `{"dry_run":true}`, "dry_run=true in the body: this call does not take dry_run"},
		{"DELETE /api/events?scope=all", "", "scope=all in the query: this call does not take scope"},
		{"GET /api/events?clashes=skip", "", "clashes=skip in the query: this call does not take clashes"},
	} {
		headers := []string{}
		if strings.Contains(one.call, "import") {
			headers = []string{"Content-Type", web.NDJSON}
		}
		*ran = 0
		code, text := ask(one.call, one.body, headers...)
		want, runs := http.StatusBadRequest, 0
		if one.want == "" {
			want, runs = http.StatusOK, 1
		}
		if code != want || *ran != runs || !strings.Contains(text, one.want) {
			t.Errorf("%s %s: %d %s, the handler ran %d times", one.call, one.body, code, text, *ran)
		}
	}
}

// TestDecisionsPart1_ABodyThatNothingReadsIsJSONToo: a DELETE took a form or broken JSON, with dry_run in it, and
// deleted.
func TestDecisionsPart1_ABodyThatNothingReadsIsJSONToo(t *testing.T) {
	ask, ran := booking(t)
	for _, one := range []struct {
		media, body string
		code        int
	}{
		{"application/x-www-form-urlencoded", "dry_run=true", http.StatusUnsupportedMediaType},
		{"application/xml", "<scope>all</scope>", http.StatusUnsupportedMediaType},
		{"application/x-www-form-urlencoded", "", http.StatusOK},
		{web.JSON, `{"dry_run":tru`, http.StatusBadRequest},
		{"", "{} x", http.StatusBadRequest},
		{web.JSON, "[]", http.StatusBadRequest},
		{web.JSON, " ", http.StatusOK},
		{web.JSON, "null", http.StatusOK},
		{"", "{}", http.StatusOK},
	} {
		for _, call := range []string{"DELETE /api/events", "PUT /api/events"} {
			*ran = 0
			code, text := ask(call, one.body, "Content-Type", one.media)
			if code != one.code || (*ran == 1) != (code == http.StatusOK) {
				t.Errorf("%s %s %q: %d %s, the handler ran %d times", call, one.media, one.body, code, text, *ran)
			}
		}
	}
}

func TestSafetyWords_ABodyThatIsNotJSONIsLeftToTheHandler(t *testing.T) {
	ask, ran := booking(t)
	for _, body := range []string{"", "{", "[", `{"a`, `{"a":`, `{"a":[`, `{"clashes"`, `{1:2}`, `[{]`, "]",
		"\xff", "null",
		strings.Repeat("[", 1<<15), strings.Repeat(`{"a":`, 1<<13), `{"` + strings.Repeat("k", 1<<15) + `":{"a":{}}}`} {
		*ran = 0
		if code, text := ask("POST /api/events", body); code != http.StatusOK || *ran != 1 {
			t.Errorf("%.20s: %d %s", body, code, text)
		}
	}
}

func TestSafetyWords_IfMatchIsRefusedWhereAWriteDoesNotTakeIt(t *testing.T) {
	ask, _ := booking(t)
	for call, code := range map[string]int{
		"POST /api/events": http.StatusOK, "DELETE /api/events": http.StatusBadRequest,
		"GET /api/events": http.StatusOK, "HEAD /api/events": http.StatusOK,
	} {
		got, text := ask(call, "", "If-Match", `"event-1-1-0"`)
		if got != code || code == http.StatusBadRequest && !strings.Contains(text, "this call does not take If-Match") {
			t.Errorf("%s: %d %s", call, got, text)
		}
	}
}

// TestSafetyWords_AHeaderIsRefused: a program that asked for a dry run by a header has booked.
func TestSafetyWords_AHeaderIsRefused(t *testing.T) {
	ask, ran := booking(t)
	for name, value := range map[string]string{
		"Dry-Run": "true", "dry_run": "true", "X-Dry-Run": "1", "Prefer": "handling=strict, dry_run=true",
		"X-Clashes": "skip",
	} {
		code, text := ask("POST /api/events", "{}", name, value)
		if code != http.StatusBadRequest || *ran != 0 || !strings.Contains(text, ": this call takes ") {
			t.Errorf("%s: %d %s", name, code, text)
		}
	}
	code, text := ask("POST /api/events", "{}", "Prefer", "handling=lenient; x=dry_run")
	valuetest.Same(t, code, http.StatusOK, text)
}

func TestDryRun_TheAnswerSaysThatItWasOne(t *testing.T) {
	ask, _ := booking(t)
	for query, want := range map[string]string{
		"?dry_run=true": `{"status":"OK","dry_run":true,"dry":true}`, "?dry_run=false": `{"status":"OK","dry":false}`,
		"": `{"status":"OK","dry":false}`,
	} {
		_, text := ask("POST /api/events"+query, "{}")
		valuetest.Same(t, text, want, query)
	}
}

func TestUnknown_AValueThatTheDocumentDoesNotListIsNamedAndStrictRefusesIt(t *testing.T) {
	r := route("GET", "/api/events", func(c *fiber.Ctx) error { return web.OK(c) })
	r.Reads = web.Reads{Query: "include text", Values: map[string]string{"include": "(?:staff|category)(?:,staff)*"}}
	base, _ := serve(t, nil, r)
	for query, invalid := range map[string]bool{
		"?include=staff": false, "?include=staff,staff": false, "?include=": false, "?text=nonsense": false,
		"?include=nonsense": true, "?include=staff,x": true, "?include=Staff": true,
	} {
		for _, strict := range []bool{false, true} {
			code, warning, headers := http.StatusOK, "", []string(nil)
			if strict {
				headers = []string{"Prefer", "handling=strict"}
			}
			switch {
			case invalid && strict:
				code = http.StatusBadRequest
			case invalid:
				warning = `299 belfry "invalid: include in the query"`
			}
			got, _, header := ask(t, http.MethodGet, base+r.Path+query, "", headers...)
			if got != code || header.Get("Warning") != warning {
				t.Errorf("%s, strict %t: %d %q", query, strict, got, header.Get("Warning"))
			}
		}
	}
}
