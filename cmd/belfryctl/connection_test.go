package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/client/clienttest"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/output"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// openSessions counts the sessions of a user.
func openSessions(t *testing.T, system *servicetest.System, user string) int64 {
	t.Helper()
	keys, err := system.Redis.Keys(t.Context(), system.Prefix+"*user:"+user).Result()
	if err != nil || len(keys) != 1 {
		t.Fatalf("the sessions of user %s are %q, %v", user, keys, err)
	}
	n, err := system.Redis.SCard(t.Context(), keys[0]).Result()
	errortest.None(t, err)
	return n
}

// TestHardToBreak_Commands_LogOutAtTheirEnd has 30 commands of a user who is at work in a browser: they ended its
// session, since a user has at most 20.
func TestHardToBreak_Commands_LogOutAtTheirEnd(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	browser := o.system.Admin(t)
	var me struct {
		UserID int64 `json:"user_id"`
	}
	browser.Get(t, "/sessions/1/whoami").Decode(t, &me)
	school := clienttest.Folder(t, small)
	for range 22 {
		o.does(t, "find", "bletchley")
	}
	for code, args := range map[int][]string{
		exitOK: {"import", school}, exitFailure: {"users", "show", "999999"},
		exitUsage: {"find", "maths", "--most", "0"},
	} {
		got, _, errs := belfryctl(t, o.env, args...)
		valuetest.Same(t, got, code, "%q %s", args, errs)
	}
	o.does(t, "export", filepath.Join(t.TempDir(), "export"))
	o.does(t, "check")
	belfryctl(t, o.env, "__complete", "find", "--element", "Mat")
	code, _, errs := belfryctl(t, o.env, "follow", "--once")
	valuetest.Same(t, code, exitOK, "follow %s", errs)

	// The last is interrupted when it has a session.
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	env := o.behind(t, func(w http.ResponseWriter, r *http.Request, system http.Handler) {
		if strings.HasPrefix(r.URL.Path, "/api/events") {
			interrupt()
			<-r.Context().Done()
			return
		}
		system.ServeHTTP(w, r)
	})
	if code, _, errs := belfryctlUntil(ctx, env, "find", "bletchley"); code != exitFailure {
		t.Errorf("the interrupted command: %d %s", code, errs)
	}

	browser.Get(t, "/sessions/1/whoami").WantCode(t, 200)
	valuetest.Same(t, openSessions(t, o.system, fmt.Sprint(me.UserID)), 1,
		"sessions are open, want that of the browser alone")
}

// TestHardToBreak_Commands_ALogoutThatFailsIsQuietAndShort ends commands while the service that ends sessions is away,
// or says nothing.
func TestHardToBreak_Commands_ALogoutThatFailsIsQuietAndShort(t *testing.T) {
	t.Parallel()
	for name, logout := range map[string]http.HandlerFunc{
		"away":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"stuck": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			school := clienttest.NewSchool(t)
			school.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/api/logout" {
					logout(w, r)
					return true
				}
				return false
			}
			env := simulated(school).env
			var out, errs output.Buffer
			began := time.Now()
			code := run(t.Context(), []string{"users", "list"}, surroundings{out: &out, err: &errs,
				env: func(name string) string { return env[name] }, wait: 100 * time.Millisecond})
			if took := time.Since(began); code != exitOK || errs.String() != "" || took > 10*logoutTimeout {
				t.Errorf("%d after %v: %q", code, took, errs.String())
			}
			valuetest.Same(t, school.Sessions(), 1, "sessions are left, want the one that could not be ended")
		})
	}
}
