package main

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/output"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// What happens after a token is printed once, and the token to go on with.
func TestFollow_PrintsWhatChanged(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	admin := o.system.Admin(t)
	follow := func(args ...string) (out, token string) {
		t.Helper()
		code, out, errs := belfryctl(t, o.env, append([]string{"follow", "--once"}, args...)...)
		if _, after, found := strings.Cut(errs, "continue with --since "); found {
			token = strings.TrimSpace(after)
		}
		valuetest.MustHold(t, code == exitOK && token != "", "%d\n%s\n%s", code, out, errs)
		return out, token
	}
	out, token := follow()
	valuetest.Same(t, out, "", "and nothing was asked for")
	admin.Import(t, "locations", object{"key": "1", "name": "Great Hall"})
	out, _ = follow("--since", token)
	if !strings.Contains(out, "Element ") || !strings.HasSuffix(out, " created\n") || strings.Contains(out, "\x1b") {
		t.Errorf("%q", out)
	}
	out, token = follow("--since", token, "-o=json")
	var change struct{ Kind, Change string }
	err := json.Unmarshal([]byte(out), &change)
	valuetest.Holds(t, err == nil && change.Kind == "Element" && change.Change == "created", "%q, %v", out, err)
	if out, _ := follow("--since", token); out != "" {
		t.Errorf("%q, and nothing had changed", out)
	}
	o.fails(t, exitFailure, "400", "follow", "--once", "--since", "x")
}

// What happens is printed as the stream tells it, over a restart of the service too, and by the list where there is no
// stream.
func TestFollow_ByTheStreamAndWithoutOne(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	admin := o.system.Admin(t)
	refused := make(chan struct{}, 100)
	older := o.behind(t, func(w http.ResponseWriter, r *http.Request, system http.Handler) {
		if r.URL.Path == "/api/changes/stream" {
			refused <- struct{}{}
			http.NotFound(w, r)
			return
		}
		system.ServeHTTP(w, r)
	})
	var outs, errs [2]output.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	codes := make(chan int, len(outs))
	for i, env := range []map[string]string{o.env, older} {
		s := surroundings{out: &outs[i], err: &errs[i], env: func(name string) string { return env[name] },
			wait: 500 * time.Millisecond} // it tries again until the service is there
		go func() { codes <- run(ctx, []string{"follow"}, s) }()
	}
	<-refused
	open := regexp.MustCompile(`(?m)^belfry_streams_open\S* 1$`)
	timetest.Eventually(t, "the stream", time.Minute,
		func() bool { return open.MatchString(o.system.Metrics(t, "events", 0)) })
	printed := func(lines int) {
		t.Helper()
		for i := range outs {
			timetest.Eventually(t, "a line of each", time.Minute,
				func() bool { return strings.Count(outs[i].String(), " created\n") == lines })
		}
	}
	admin.Import(t, "locations", object{"key": "1", "name": "Great Hall"})
	printed(1)
	o.system.Stop(t, "events")
	admin.Import(t, "locations", object{"key": "2", "name": "Small Hall"})
	o.system.Restart(t, "events")
	printed(2)
	cancel()
	for range outs {
		valuetest.Same(t, <-codes, exitOK, "its exit code")
	}
	for i := range errs {
		valuetest.Has(t, errs[i].String(), "continue with --since ")
	}
}
