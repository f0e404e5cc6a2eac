package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// What happens after a token is printed once, and the token to go on with.
func TestFollow_PrintsWhatChanged(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	admin := o.system.Admin(t)
	follow := func(args ...string) (out, token string) {
		t.Helper()
		code, out, errs := belfryctl(t, o.env, append([]string{"follow", "--once"}, args...)...)
		if _, after, found := strings.Cut(errs, "go on with --since "); found {
			token = strings.TrimSpace(after)
		}
		if code != exitOK || token == "" {
			t.Fatalf("%d\n%s\n%s", code, out, errs)
		}
		return out, token
	}
	out, token := follow()
	if out != "" {
		t.Errorf("%q, and nothing was asked for", out)
	}
	admin.Import(t, "locations", map[string]any{"key": "1", "name": "Great Hall"})
	out, _ = follow("--since", token)
	if !strings.Contains(out, "Element ") || !strings.HasSuffix(out, " created\n") || strings.Contains(out, "\x1b") {
		t.Errorf("%q", out)
	}
	out, token = follow("--since", token, "--json")
	var change struct{ Kind, Change string }
	err := json.Unmarshal([]byte(out), &change)
	if err != nil || change.Kind != "Element" || change.Change != "created" {
		t.Errorf("%q, %v", out, err)
	}
	if out, _ := follow("--since", token); out != "" {
		t.Errorf("%q, and nothing had changed", out)
	}
	o.fails(t, exitFailure, "422", "follow", "--once", "--since", "x")
}
