package web_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/web"
)

// things serves GET and PATCH of thing 12 at version 3, whose name another service owns.
func things(t *testing.T, name *string) string {
	t.Helper()
	state := web.State{Kind: "thing", ID: 12, Version: 3}
	show := func(c *fiber.Ctx) error { return web.Record(c, state, web.Field{Name: "name", Value: *name}) }
	change := route("PATCH", "/thing", func(c *fiber.Ctx) error {
		match, err := web.IfMatch(c, state.Kind, state.ID)
		if err == nil {
			err = match.Check(state.Version)
		}
		if err != nil {
			return err
		}
		return show(c)
	})
	change.Reads.IfMatch = true
	address, _ := serve(t, user(principal.Permissions{CanAPI: true}), route("GET", "/thing", show), change)
	return address + "/thing"
}

func TestDecisionsPart1_ETag_IfNoneMatchIsAnswered304UntilAnythingShownChanges(t *testing.T) {
	name := "a"
	url := things(t, &name)
	_, body, headers := ask(t, "GET", url, "")
	tag := headers.Get("ETag")
	if !regexp.MustCompile(`^"thing-12-3-[0-9a-f]{16}"$`).MatchString(tag) || body != `{"status":"OK","name":"a"}` {
		t.Fatalf("%s %s", tag, body)
	}
	for _, method := range []string{"GET", "HEAD"} {
		for _, known := range []string{tag, "W/" + tag, `"x,y", ` + tag, "*"} {
			if code, body, headers := ask(t, method, url, "", "If-None-Match", known); code != 304 || body != "" ||
				headers.Get("ETag") != tag {
				t.Errorf("%s %s: %d %q %v", method, known, code, body, headers)
			}
		}
	}
	for _, known := range []string{`"thing-12-3"`, `"x"`, tag[1:], ""} {
		if code, body, _ := ask(t, "GET", url, "", "If-None-Match", known); code != 200 || body == "" {
			t.Errorf("%s: %d %q", known, code, body)
		}
	}
	// A change is never answered with it.
	if code, _, headers := ask(t, "PATCH", url, "", "If-None-Match", tag); code != 200 || headers.Get("ETag") != tag {
		t.Errorf("PATCH: %d %v", code, headers)
	}
	name = "b"
	if code, body, headers := ask(t, "GET", url, "", "If-None-Match", tag); code != 200 ||
		body != `{"status":"OK","name":"b"}` || headers.Get("ETag") == tag {
		t.Errorf("a 304 hides a new name: %d %s %s", code, body, headers.Get("ETag"))
	}
}

func TestDecisionsPart1_IfMatch_IsComparedByKindIDAndVersion(t *testing.T) {
	name := "a"
	url := things(t, &name)
	_, _, headers := ask(t, "GET", url, "")
	tag := headers.Get("ETag")
	name = "b" // elsewhere: it is no change of the thing
	for known, want := range map[string]int{
		tag: 200, "W/" + tag: 200, "*": 200, `"thing-12-3"`: 200, `"thing-12-2","a,b" , ` + tag: 200,
		`"thing-12-2"`: 412, `"thing-12-4-0123456789abcdef"`: 412, `"thing-1-3"`: 412, `"other-12-3"`: 412,
		`"thing-12-03"`: 412, `"thing-12-33"`: 412, `"x"`: 412,
		"thing-12-3": 400, `"thing-12-3`: 400, `*, ` + tag: 400, ",": 400, `"a b"`: 400, tag + tag: 400,
	} {
		code, body, _ := ask(t, "PATCH", url, "", "If-Match", known)
		valuetest.Same(t, code, want, "%s %s", known, body)
		if code == 412 && !strings.HasPrefix(body, `{"status":"Precondition failed"`) {
			t.Error(body)
		}
	}
}

// The version in a tag told who is shown a part of a record that the rest had changed.
func TestDecisionsPart9_ASealedVersionTellsNothingAndCountsInIfMatch(t *testing.T) {
	state, name := web.State{Kind: "thing", ID: 12, Version: 3, Sealed: true}, "a"
	show := func(c *fiber.Ctx) error { return web.Record(c, state, web.Field{Name: "name", Value: name}) }
	change := route("PATCH", "/thing/:id", func(c *fiber.Ctx) error {
		_, match, err := web.PathMatch(c, "thing")
		if err == nil {
			err = match.Check(state.Version)
		}
		if err != nil {
			return err
		}
		return web.OK(c)
	})
	change.Reads.IfMatch = true
	address, _ := serve(t, user(principal.Permissions{CanAPI: true}), route("GET", "/thing/:id", show), change)
	of := func(id, known string) int {
		code, _, _ := ask(t, "PATCH", address+"/thing/"+id, "", "If-Match", known)
		return code
	}
	tag := func() string {
		_, _, headers := ask(t, "GET", address+"/thing/12", "")
		return headers.Get("ETag")
	}
	first := tag()
	parts := regexp.MustCompile(`^"thing-12\.([\w-]{59})\.([0-9a-f]{16})"$`).FindStringSubmatch(first)
	if parts == nil || first == tag() || len(first) != len(tag()) {
		t.Fatalf("%s, then %s", first, tag())
	}
	for _, known := range []string{first, "W/" + first, "*"} {
		valuetest.Same(t, of("12", known), 200, "at the version, with %s", known)
	}
	for _, known := range []string{
		strings.Replace(first, ".", ".A", 1), strings.Replace(first, parts[1], "", 1),
		`"thing-12.` + parts[1][1:] + `"`,
	} {
		valuetest.Same(t, of("12", known), 412, "another's seal: %s", known)
	}
	valuetest.Same(t, of("1", strings.Replace(first, "12", "1", 1)), 412, "another record's seal")
	state.Version = 4 // by something that is not shown
	code, body, headers := ask(t, "GET", address+"/thing/12", "", "If-None-Match", `"x", `+first)
	valuetest.Holds(t, code == 304 && body == "" && headers.Get("ETag") != first, "%d %q %v", code, body, headers)
	valuetest.Same(t, of("12", first), 412, "at the version before")
	valuetest.Same(t, of("12", headers.Get("ETag")), 200, "with the tag of the 304")
	name = "b"
	code, _, _ = ask(t, "GET", address+"/thing/12", "", "If-None-Match", headers.Get("ETag"))
	valuetest.Same(t, code, 200, "after a change of what is shown")
}
