package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/belfry-schools/belfry/deploy/verify/conformance/suite"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// system is one replica of every service; the package suite runs all checks on two.
var system *servicetest.System

func TestMain(m *testing.M) {
	os.Exit(servicetest.Run(m, servicetest.Options{}, func(s *servicetest.System) { system = s }))
}

// conformance runs the command with a uuid in the environment.
func conformance(t *testing.T, uuid string, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, &stdout, &stderr, func(name string) string {
		if name == "BELFRY_UUID" {
			return uuid
		}
		return ""
	})
	return code, stdout.String(), stderr.String()
}

// through returns the address of a door to the system that changes answers.
func through(t *testing.T, change func(path string, body []byte) []byte) string {
	t.Helper()
	target, err := url.Parse(system.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(r *http.Response) error {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		body = change(r.Request.URL.Path, body)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Length", fmt.Sprint(len(body)))
		return nil
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL
}

func TestARunReportsByPartAndPutsAwayWhatItMade(t *testing.T) {
	code, out, errs := conformance(t, system.AdminUUID, "--url", system.URL, "--run", `^4\.4|^3\.3 row 4`)
	if code != exitOK || errs != "" || !regexp.MustCompile(`(?m)^4\.4 +\d+ passed$`).MatchString(out) || !regexp.MustCompile(`(?m)^3\.3 +1 passed$`).MatchString(out) || !regexp.MustCompile(`(?m)^all +\d+ passed, in \d+ s$`).MatchString(out) {
		t.Fatalf("%d\n%s%s", code, out, errs)
	}
	nothingIsLeft(t)
}

func TestAnInterruptedRunPutsAwayWhatItMade(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	err := suite.RunAll(ctx, suite.Options{URL: system.URL, AdminUUID: system.AdminUUID, Parallel: 2}, func(suite.Result) { interrupt() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	nothingIsLeft(t)
}

// nothingIsLeft fails the test when there is a user of a run who can log in, or an element of one that is current.
func nothingIsLeft(t *testing.T) {
	t.Helper()
	admin := system.Admin(t)
	var users struct {
		Users []struct {
			Name   string
			Active bool
		}
	}
	admin.Get(t, "/api/admin/users?limit=1000").Decode(t, &users)
	for _, u := range users.Users {
		if strings.HasPrefix(u.Name, "Cf") && u.Active {
			t.Errorf("%s can still log in", u.Name)
		}
	}
	if a := admin.Get(t, "/api/elements?namelike=Cf"); a.Code != http.StatusNotFound {
		t.Errorf("elements that are still current: %s", a.Body)
	}
}

func TestABrokenRuleIsToldWithWhatWasExpectedAndWhatCame(t *testing.T) {
	broken := through(t, func(path string, body []byte) []byte {
		if strings.HasSuffix(path, "/whoami") {
			return bytes.Replace(body, []byte(`"user_id":`), []byte(`"id":`), 1)
		}
		return body
	})
	code, out, _ := conformance(t, system.AdminUUID, "--url", broken, "--run", "WhoAmI|PrivilegedUsersGetALongerList")
	for _, want := range []string{"4.5             0 passed, 1 failed", "FAILED TestPart4_5_WhoAmI", "(4.5 whoami; ", "GET /sessions/1/whoami", `expected: 200 {"status":"OK","user_id":`, `got:      200 {"status":"OK","id":`, "4.4             1 passed\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q", want)
		}
	}
	if code != exitFailed || t.Failed() {
		t.Errorf("%d\n%s", code, out)
	}
	code, out, _ = conformance(t, system.AdminUUID, "--url", broken, "--run", "WhoAmI", "--json")
	var r report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitFailed || r.Failed != 1 || r.Passed != 0 || len(r.Parts) != 1 || r.Parts[0].Part != "4.5" || len(r.Parts[0].Checks[0].Failures) == 0 {
		t.Errorf("%d %v\n%s", code, err, out)
	}
}

// TestEveryByteOfAnAnswerIsLookedAt runs the suite through doors that each break one thing everywhere: where the thing is looked at, checks must fail.
func TestEveryByteOfAnAnswerIsLookedAt(t *testing.T) {
	for name, c := range map[string]struct {
		run    string
		change func(string, []byte) []byte
		fails  []string // of these
	}{
		"a key more": {"TestPart2", func(_ string, b []byte) []byte {
			return bytes.Replace(b, []byte(`"all_day":`), []byte(`"colour":1,"all_day":`), 1)
		}, []string{"TestPart2_3_ANewEvent", "TestPart2_3_AnEventFetched", "TestPart2_3_AnInvalidEvent"}},
		"no milliseconds": {"TestPart2_3", func(_ string, b []byte) []byte { return bytes.ReplaceAll(b, []byte(":00.000+"), []byte(":00+")) }, []string{"TestPart2_3_ANewEvent", "TestPart2_3_AnEventFetched"}},
		"plain characters": {"Escaped|TestPart2_3_ANewEvent", func(_ string, b []byte) []byte { return bytes.ReplaceAll(b, []byte(`\u003c`), []byte("<")) },
			[]string{"TestDecisionsPart1_SpecialCharactersAreEscaped", "TestPart2_3_ANewEvent"}},
	} {
		_, out, errs := conformance(t, system.AdminUUID, "--url", through(t, c.change), "--run", c.run)
		for _, check := range c.fails {
			if !strings.Contains(out, "FAILED "+check) {
				t.Errorf("%s: %s did not fail\n%s%s", name, check, out, errs)
			}
		}
	}
}

// TestEveryCheckCanFail runs all checks against a deployment that makes what administrators ask for and answers everything else with a bare OK. A
// check that passes there looks at nothing.
func TestEveryCheckCanFail(t *testing.T) {
	target, err := url.Parse(system.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/login" || strings.HasPrefix(r.URL.Path, "/api/admin/") && (r.Method == http.MethodPost || r.Method == http.MethodPut) {
			proxy.ServeHTTP(w, r)
			return
		}
		_, _ = io.WriteString(w, `{"status":"OK"}`)
	}))
	defer server.Close()
	session, err := suite.Open(t.Context(), suite.Options{URL: server.URL, AdminUUID: system.AdminUUID})
	if err != nil {
		t.Fatal(err)
	}
	aboutLogin := []string{"TestDecisionsPart2_TheCookie"}
	for _, c := range suite.Checks() {
		if c.Alone || slices.Contains(aboutLogin, c.Name) {
			continue // they look at logins, which are real here
		}
		if r := session.Run(c); r.Verdict != suite.Failed {
			t.Errorf("%s: %s %s", c.Name, r.Verdict, r.Why)
		}
	}
}

func TestTwoRunsAtOnceDoNotDisturbEachOther(t *testing.T) {
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if code, out, errs := conformance(t, system.AdminUUID, "--url", system.URL, "--run", "^4.[1-4]|administration"); code != exitOK {
				t.Errorf("%d\n%s%s", code, out, errs)
			}
		})
	}
	both.Wait()
}

func TestWhatCannotBeCheckedIsExitTwo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "uuid")
	if err := os.WriteFile(file, []byte(system.AdminUUID+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := conformance(t, "", "--url", system.URL, "--uuid-file", file, "--run", "WhoAmI"); code != exitOK {
		t.Errorf("with a file: %d\n%s%s", code, out, errs)
	}
	for name, c := range map[string]struct {
		uuid string
		args []string
		says string
	}{
		"no uuid":             {"", nil, "set BELFRY_UUID or --uuid-file"},
		"no such file":        {"", []string{"--uuid-file", file + "x"}, "no such file"},
		"another uuid":        {"3f0c8bfa-0000-4000-8000-000000000000", []string{"--url", system.URL}, "login as the administrator: 401"},
		"nobody there":        {"x", []string{"--url", "http://127.0.0.1:1"}, "connection refused"},
		"no address":          {"x", []string{"--url", "belfry"}, "the address must look like"},
		"no such zone":        {"x", []string{"--timezone", "Mars/Olympus"}, "unknown time zone"},
		"no pattern":          {"x", []string{"--run", "("}, "--run"},
		"chooses nothing":     {system.AdminUUID, []string{"--url", system.URL, "--run", "nothing at all"}, "chooses no check"},
		"none at once":        {"x", []string{"--parallel", "0"}, "--parallel"},
		"an unknown flag":     {"x", []string{"--colour"}, "unknown flag"},
		"a word without flag": {"x", []string{"http://127.0.0.1:1"}, "unknown command"},

		"a walk without uuid":        {"", []string{"school"}, "set BELFRY_UUID or --uuid-file"},
		"a walk where a school is":   {system.AdminUUID, []string{"school", "--url", system.URL, "--mail-listen=", "--webhook-listen="}, "there is a school already"},
		"a walk as no administrator": {"x", []string{"school", "--url", "http://127.0.0.1:1", "--mail-listen=", "--webhook-listen="}, "connection refused"},
		"a walk with half a pair":    {"x", []string{"school", "--tls-cert", file}, "--tls-cert and --tls-key"},
	} {
		code, out, errs := conformance(t, c.uuid, c.args...)
		told := out != "" && !slices.Contains(c.args, "school") // a walk tells its steps
		if code != exitUnusable || told || !strings.Contains(errs, c.says) {
			t.Errorf("%s: %d %q %q", name, code, out, errs)
		}
		if len(c.uuid) > 1 && strings.Contains(errs, c.uuid) {
			t.Errorf("%s: the uuid is shown: %s", name, errs)
		}
	}
}

func TestAWalkEndsAtTheFirstDifference(t *testing.T) {
	broken := through(t, func(path string, body []byte) []byte {
		if path == "/api/admin/users" {
			return bytes.Replace(body, []byte(`"id":`), []byte(`"number":`), 1)
		}
		return body
	})
	code, out, errs := conformance(t, system.AdminUUID, "school", "--url", broken, "--mail-listen=", "--webhook-listen=")
	if code != exitFailed || errs != "" || !strings.Contains(out, "DIFFERENT: GET /api/admin/users\n       expected: something at users.0.id\n") ||
		!strings.Contains(out, "\nThe walk ended at step 3, after ") {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
}

func TestTheCommandIsNoTestBinary(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(strings.Fields(string(out)), "testing") {
		t.Error("it imports testing")
	}
}
