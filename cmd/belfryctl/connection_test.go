package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
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
	valuetest.MustHold(t, err == nil && len(keys) == 1, "the sessions of user %s are %q, %v", user, keys, err)
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

// TestTokens_LoginKeepsATokenPerAddress logs in by uuid once; then commands need no uuid until logout, which ends the
// token.
func TestTokens_LoginKeepsATokenPerAddress(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	folder := t.TempDir()
	kept := office{o.system, map[string]string{"XDG_CONFIG_HOME": folder}}
	kept.fails(t, exitUsage, "or run belfryctl login", "whoami", "--url", o.system.URL)
	by := office{o.system, map[string]string{"XDG_CONFIG_HOME": folder, "BELFRY_UUID": o.env["BELFRY_UUID"]}}
	by.does(t, "login", "--url", o.system.URL)
	file := filepath.Join(folder, "belfry", "contexts.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info, err)
	}
	first, err := readContexts(by.lookup)
	errortest.None(t, err)
	token := first.of(o.system.URL).Token
	// The address is the current one.
	kept.does(t, "whoami")
	for format, want := range map[string]string{
		"table": o.system.URL + "  true ", "csv": o.system.URL + ",true,", "name": o.system.URL + "\n",
		"json": `"current": true`,
	} {
		out := kept.does(t, "context", "list", "-o", format)
		valuetest.Holds(t, strings.Contains(out, want) && !strings.Contains(out, token), "%s: %s", format, out)
	}
	const elsewhere = "http://elsewhere.example"
	kept.fails(t, exitFailure, "not logged in at "+elsewhere, "context", "use", elsewhere)
	// Another login takes the place of the first, whose token ends.
	by.does(t, "login", "--url", o.system.URL)
	scripted := office{o.system, map[string]string{"BELFRY_URL": o.system.URL, "BELFRY_TOKEN": token}}
	scripted.fails(t, exitFailure, "401 Access denied", "whoami")
	second, err := readContexts(by.lookup)
	if err != nil || len(second.Kept) != 1 {
		t.Fatal(second.Kept, err)
	}
	scripted.env["BELFRY_TOKEN"] = second.of(o.system.URL).Token
	scripted.does(t, "whoami")
	made := office{o.system, map[string]string{"XDG_CONFIG_HOME": t.TempDir(),
		"BELFRY_TOKEN": scripted.env["BELFRY_TOKEN"]}}
	made.does(t, "login", "--url", o.system.URL) // keeps a token that was made elsewhere
	delete(made.env, "BELFRY_TOKEN")
	made.does(t, "whoami")
	made.does(t, "context", "use", o.system.URL)
	valuetest.Has(t, made.does(t, "logout"), "/account")
	made.fails(t, exitUsage, "or run belfryctl login", "whoami", "--url", o.system.URL)
	made.env["BELFRY_TOKEN"] = token
	made.fails(t, exitFailure, "401 Access denied", "login", "--url", o.system.URL)
	kept.does(t, "logout")
	scripted.fails(t, exitFailure, "401 Access denied", "whoami")
	kept.fails(t, exitFailure, "not logged in", "logout", "--url", o.system.URL)
	by.does(t, "login", "--url", o.system.URL)
	kept.does(t, "context", "remove", o.system.URL)
	if all, err := readContexts(by.lookup); err != nil || len(all.Kept) != 0 || all.Current != "" {
		t.Error(all, err)
	}
}

// TestALoginIsOfTheAddressWithASlashToo: a command with the other spelling found no login.
func TestALoginIsOfTheAddressWithASlashToo(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.env["XDG_CONFIG_HOME"] = t.TempDir()
	o.does(t, "login", "--url", o.system.URL+"/")
	delete(o.env, "BELFRY_UUID")
	for _, url := range []string{o.system.URL, o.system.URL + "/"} {
		o.does(t, "whoami", "--url", url)
		o.does(t, "context", "use", url)
		valuetest.Same(t, o.does(t, "context", "list", "-o", "name"), o.system.URL+"\n", "the address")
		valuetest.Has(t, o.does(t, "context", "list"), "  true ")
	}
	o.does(t, "logout", "--url", o.system.URL+"/")
	o.fails(t, exitFailure, "not logged in", "logout")
}

func TestTokens_AFileOfContextsThatCannotBeReadIsNoLogin(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	errortest.None(t, os.MkdirAll(filepath.Join(folder, "belfry"), 0o700))
	errortest.None(t, os.WriteFile(filepath.Join(folder, "belfry", "contexts.json"), []byte(`{"token`), 0o600))
	o := office{env: map[string]string{"XDG_CONFIG_HOME": folder}}
	o.fails(t, exitFailure, "contexts.json was not written by belfryctl", "whoami")
}

func (o office) lookup(name string) string { return o.env[name] }
