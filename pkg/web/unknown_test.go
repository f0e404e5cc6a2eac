package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/web"
)

// asking serves one POST that reads two parameters and some fields, and returns what asks it.
func asking(t *testing.T) func(query, body string, headers ...string) *http.Response {
	r := route("POST", "/api/events", func(c *fiber.Ctx) error {
		if _, err := web.Body(c); err != nil {
			return err
		}
		return web.OK(c)
	})
	r.Reads = web.Reads{Query: "start_date end_date", Fields: "elements event.body event.starts_at members.id"}
	base, _ := serve(t, nil, r)
	return func(query, body string, headers ...string) *http.Response {
		t.Helper()
		return send(t, http.MethodPost, base+"/api/events"+query, body, headers...)
	}
}

func TestUnknown_WhatACallDoesNotKnowIsNamed(t *testing.T) {
	ask := asking(t)
	for _, one := range []struct{ query, body, want string }{
		{"?start_date=2019-04-10&end_date=", `{"event":{"body":"a"},"elements":[1,{"x":2}]}`, ""},
		{"?begin_date=1&start_date=2&begin_date=3", `{}`, "unknown: begin_date in the query"},
		{"", `{"element":["1"],"event":{"titel":"a","starts_at":{"x":1}},"Elements":[]}`,
			"unknown: Elements, element, event.titel in the body"},
		{"?x", `{"event":7,"members":[{"id":1,"from":2},{"from":3}],"y":null}`,
			"unknown: x in the query; members.from, y in the body"},
		{"?=1", `{"":1}`, "unknown: ? in the query; ? in the body"},
	} {
		want := ""
		if one.want != "" {
			want = `299 belfry "` + one.want + `"`
		}
		a := ask(one.query, one.body)
		if got := a.Header.Get("Warning"); a.StatusCode != http.StatusOK || got != want {
			t.Errorf("%s %s: %d %q, want %q", one.query, one.body, a.StatusCode, got, want)
		}
	}
	a := ask("?x=1", "{")
	if got := a.Header.Get("Warning"); a.StatusCode != http.StatusBadRequest ||
		got != `299 belfry "unknown: x in the query"` {
		t.Errorf("a body that is not JSON: %d %q", a.StatusCode, got)
	}
}

func TestUnknown_StrictRefusesIt(t *testing.T) {
	ask := asking(t)
	for prefer, strict := range map[string]bool{
		"handling=strict": true, "Handling = \"strict\"": true, "respond-async, handling=strict;x=1": true,
		"handling=lenient": false, "handling=lenient, handling=strict": false, "handling": false, "strict": false,
		"": false,
	} {
		a := ask("", `{"element":1}`, "Prefer", prefer)
		code, applied := http.StatusOK, ""
		if strict {
			code, applied = http.StatusBadRequest, "handling=strict"
		}
		if a.StatusCode != code || a.Header.Get("Preference-Applied") != applied {
			t.Errorf("%s: %d, applied %q", prefer, a.StatusCode, a.Header.Get("Preference-Applied"))
		}
		got := a.Header.Get("Warning")
		valuetest.Same(t, got == "", strict, "%s: Warning %q", prefer, got)
		valuetest.Same(t, ask("", `{"elements":[]}`, "Prefer", prefer).StatusCode, http.StatusOK,
			"%s: a call that is all known", prefer)
	}
}

// TestUnknown_StrictLooksAtTheQueryOfAnImport sends lines, which are not checked, with a misspelt query.
func TestUnknown_StrictLooksAtTheQueryOfAnImport(t *testing.T) {
	ran := 0
	r := route("POST", "/api/admin/import/users", func(c *fiber.Ctx) error {
		ran++
		return web.OK(c)
	})
	r.Reads, r.Body = web.Reads{Query: "dry_run"}, web.NDJSON
	base, _ := serve(t, nil, r)
	for query, known := range map[string]bool{"?dryrun=true": false, "?dry_run=true": true} {
		got, _, header := ask(t, http.MethodPost, base+r.Path+query, `{"key":"1","x":2}`,
			"Content-Type", web.NDJSON, "Prefer", "handling=strict")
		code, runs := http.StatusBadRequest, 0
		if known {
			code, runs = http.StatusOK, 1
		}
		if applied := header.Get("Preference-Applied"); got != code || ran != runs || applied != "handling=strict" {
			t.Errorf("%s: %d, ran %d times, applied %q", query, got, ran, applied)
		}
		ran = 0
	}
}

// TestUnknown_HostileNamesMakeAShortPlainHeader sends names that would end a line, a quotation or a buffer.
func TestUnknown_HostileNamesMakeAShortPlainHeader(t *testing.T) {
	ask := asking(t)
	var query, body strings.Builder
	for i := range 120 {
		query.WriteString("&" + strings.Repeat("n", i))
		body.WriteString(`"` + strings.Repeat("m", i) + `":1,`)
	}
	for _, one := range []struct{ query, body, want string }{
		{"?a%0d%0aSet-Cookie:+x=1&%22%5c%00&%c3%a9%ff", `{}`,
			`unknown: a??Set-Cookie:?x, ??? in the query`},
		{"?" + query.String()[1:], `{` + body.String() + `"z\r\n\"é":1}`, ""},
		{"?" + strings.Repeat("%e2%82%ac", 200), `{}`, "unknown: " + strings.Repeat("?", 40) + "... in the query"},
	} {
		a := ask(one.query, one.body)
		got := a.Header.Get("Warning")
		if one.want != "" && got != `299 belfry "`+one.want+`"` {
			t.Errorf("%q, want %q", got, one.want)
		}
		plain := strings.IndexFunc(got, func(r rune) bool { return r < ' ' || r > '~' }) < 0
		if !plain || len(got) > 600 || strings.Count(got, `"`) != 2 || a.Header.Get("Set-Cookie") != "" {
			t.Errorf("a header of %d bytes: %q", len(got), got)
		}
		valuetest.Same(t, a.StatusCode, http.StatusOK)
	}
}
