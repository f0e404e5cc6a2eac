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
	// It is no answer to a change.
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
