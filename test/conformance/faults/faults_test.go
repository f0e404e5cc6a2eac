package faults_test

import (
	"bufio"
	"bytes"
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
	"syscall"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// The exit codes that docs/conformance.md promises.
const (
	exitOK       = 0
	exitFailed   = 1
	exitUnusable = 2
)

var (
	// system has one replica of every service; the conformance tests themselves run against two.
	system *servicetest.System
	binary string // of the conformance tests
)

func TestMain(m *testing.M) {
	os.Exit(servicetest.Run(m, servicetest.Options{NoRace: true}, func(s *servicetest.System) { system = s }))
}

var build = sync.OnceValue(func() error {
	dir, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		return err
	}
	binary = filepath.Join(dir, "conformance")
	out, err := exec.Command("go", "test", "-c", "-o", binary, "..").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("go test -c: %w\n%s", err, out)
	}
	return err
})

// command returns a run of the compiled tests outside any checkout, with a uuid in the environment.
func command(t *testing.T, uuid string, arguments ...string) *exec.Cmd {
	t.Helper()
	errortest.None(t, build())
	c := exec.Command(binary, arguments...)
	c.Dir = t.TempDir()
	c.Env = append(os.Environ(), "BELFRY_UUID="+uuid)
	return c
}

// conformance runs the compiled tests and waits for their end.
func conformance(t *testing.T, uuid string, arguments ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := command(t, uuid, arguments...)
	c.Stdout, c.Stderr = &stdout, &stderr
	return exitCode(t, c.Run()), stdout.String(), stderr.String()
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ended.ExitCode()
	}
	errortest.None(t, err)
	return exitOK
}

// through returns the address of a proxy to the system that changes answers.
func through(t *testing.T, change func(path string, body []byte) []byte) string {
	t.Helper()
	return servicetest.Through(t, system.URL, func(r *http.Response, body string) string {
		return string(change(r.Request.URL.Path, []byte(body)))
	})
}

func TestARunReportsByPartAndPutsAwayWhatItMade(t *testing.T) {
	before := runsHave(t)
	code, out, errs := conformance(t, system.AdminUUID, "-url", system.URL, "-rule", `^4\.4|^3\.3 row 4`)
	if code != exitOK || errs != "" || !regexp.MustCompile(`(?m)^4\.4 +\d+ passed$`).MatchString(out) ||
		!regexp.MustCompile(`(?m)^3\.3 +1 passed$`).MatchString(out) ||
		!regexp.MustCompile(`\nall +\d+ passed, in \d+ s\n$`).MatchString(out) {
		t.Fatalf("%d\n%s%s", code, out, errs)
	}
	nothingIsLeft(t, before)
}

func TestAnInterruptedRunPutsAwayWhatItMade(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		before := runsHave(t)
		c := command(t, system.AdminUUID, "-url", system.URL, "-test.v")
		var errs bytes.Buffer
		c.Stderr = &errs
		out, err := c.StdoutPipe()
		errortest.None(t, err)
		errortest.None(t, c.Start())
		passed := 0
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "--- PASS") {
				if passed++; passed == 3 {
					errortest.None(t, c.Process.Signal(signal))
				}
			}
		}
		if code := exitCode(t, c.Wait()); code != exitUnusable || errs.String() != "conformance: interrupted\n" ||
			passed > 30 {
			t.Errorf("%v: %d, %d passed, %q", signal, code, passed, &errs)
		}
		nothingIsLeft(t, before)
	}
}

// ofRuns is what runs of the conformance tests have made.
type ofRuns struct {
	users   int
	current map[string]bool // users who can log in, and elements that are current
}

// runsHave returns the records that runs left. Those through a broken answer may not have put away what they made.
func runsHave(t *testing.T) ofRuns {
	t.Helper()
	admin := system.Admin(t)
	var users struct {
		Users []struct {
			Name   string
			Active bool
		}
	}
	admin.Get(t, "/api/admin/users?limit=1000").Decode(t, &users)
	have := ofRuns{current: map[string]bool{}}
	for _, u := range users.Users {
		if strings.HasPrefix(u.Name, "Cf") {
			have.users++
			if u.Active {
				have.current[u.Name+" can log in"] = true
			}
		}
	}
	a := admin.Get(t, "/api/elements?namelike=Cf")
	if a.Code == http.StatusNotFound {
		return have
	}
	for _, name := range a.Texts(t, "elements.#.name") {
		have.current[name+" is current"] = true
	}
	return have
}

// nothingIsLeft fails the test when a user that a run has made since can log in, or an element is current.
func nothingIsLeft(t *testing.T, before ofRuns) {
	t.Helper()
	after := runsHave(t)
	for what := range after.current {
		valuetest.Holds(t, before.current[what], what)
	}
	valuetest.Holds(t, after.users != before.users, "no user was made")
}

func TestABrokenRuleIsShownWithWhatWasExpectedAndWhatCame(t *testing.T) {
	broken := through(t, func(path string, body []byte) []byte {
		if strings.HasSuffix(path, "/whoami") {
			return bytes.Replace(body, []byte(`"user_id":`), []byte(`"id":`), 1)
		}
		return body
	})
	code, out, _ := conformance(t, system.AdminUUID, "-url", broken, "-documented=false", "-test.run",
		"WhoAmI|PrivilegedUsersGetALongerList")
	for _, want := range []string{
		"\n4.5             0 passed, 1 failed\n", "--- FAIL: TestPart4_5_WhoAmI", "rules: 4.5 whoami; ",
		"sessions_test.go:", "GET /sessions/1/whoami",
		`expected: 200 {"status":"OK","user_id":`, `got:      200 {"status":"OK","id":`, "\n4.4             1 passed\n",
	} {
		valuetest.Has(t, out, want)
	}
	valuetest.Holds(t, code == exitFailed && !t.Failed(), "%d\n%s", code, out)
	if code, out, _ = conformance(t, system.AdminUUID, "-url", broken, "-test.run", "WhoAmI"); code != exitFailed ||
		!strings.Contains(out, "not as the interface's document says: ") {
		t.Errorf("held to the document: %d\n%s", code, out)
	}
}

// TestEveryByteOfAnAnswerIsLookedAt runs the tests through proxies that each break one thing in all answers. The
// tests that check it must fail, also without the check against the OpenAPI document.
func TestEveryByteOfAnAnswerIsLookedAt(t *testing.T) {
	for name, c := range map[string]struct {
		run    string
		change func(string, []byte) []byte
		fails  []string // these tests
	}{
		"a key more": {"TestPart2", func(_ string, b []byte) []byte {
			return bytes.Replace(b, []byte(`"all_day":`), []byte(`"colour":1,"all_day":`), 1)
		}, []string{"TestPart2_3_ANewEvent", "TestPart2_3_AnEventFetched", "TestPart2_3_AnInvalidEvent"}},
		"no milliseconds": {"TestPart2_3",
			func(_ string, b []byte) []byte { return bytes.ReplaceAll(b, []byte(":00.000+"), []byte(":00+")) },
			[]string{"TestPart2_3_ANewEvent", "TestPart2_3_AnEventFetched"}},
		"plain characters": {"Escaped|TestPart2_3_ANewEvent",
			func(_ string, b []byte) []byte { return bytes.ReplaceAll(b, []byte(`\u003c`), []byte("<")) },
			[]string{"TestDecisionsPart1_SpecialCharactersAreEscaped", "TestPart2_3_ANewEvent"}},
	} {
		_, out, errs := conformance(t, system.AdminUUID, "-url", through(t, c.change), "-documented=false", "-test.run",
			c.run)
		for _, test := range c.fails {
			valuetest.Has(t, out, "--- FAIL: "+test+" ", "%s: %s did not fail\n%s", name, test, errs)
		}
	}
}

// TestEveryTestCanFail runs all tests against a deployment that creates what administrators create and answers
// every other request with a bare OK. A test that passes there checks nothing.
func TestEveryTestCanFail(t *testing.T) {
	target, err := url.Parse(system.URL)
	errortest.None(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		administration := strings.HasPrefix(r.URL.Path, "/api/admin/")
		if r.URL.Path == "/api/login" || administration && (r.Method == http.MethodPost || r.Method == http.MethodPut) {
			proxy.ServeHTTP(w, r)
			return
		}
		_, _ = io.WriteString(w, `{"status":"OK"}`)
	}))
	defer server.Close()
	_, out, _ := conformance(t, system.AdminUUID, "-test.list", ".")
	all := regexp.MustCompile(`(?m)^Test\w+$`).FindAllString(out, -1)
	valuetest.MustHold(t, len(all) >= 200, "%d tests:\n%s", len(all), out)
	// logins are real here
	const aboutLogin = "^(TestDecisionsPart2_TheCookie|TestDecisionsPart2_TenFailedLoginsInAMinute)$"
	_, out, errs := conformance(t, system.AdminUUID, "-url", server.URL, "-documented=false", "-test.v", "-test.skip",
		aboutLogin, "-mail-listen", "127.0.0.1:0", "-webhook-listen", "127.0.0.1:0")
	for _, name := range all {
		if !strings.Contains(out, "--- FAIL: "+name+" ") && !regexp.MustCompile(aboutLogin).MatchString(name) {
			t.Errorf("%s did not fail", name)
		}
	}
	if t.Failed() {
		t.Log(errs)
	}
}

// TestTwoRunsAtOnceDoNotDisturbEachOther has a system of its own: failed logins of other tests would delay its
// wrong logins. Both leave out the table of rights, which takes longer than everything else together.
func TestTwoRunsAtOnceDoNotDisturbEachOther(t *testing.T) {
	errortest.None(t, build())
	s := servicetest.Start(t, servicetest.Options{NoRace: true})
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			code, out, errs := conformance(t, s.AdminUUID, "-url", s.URL, "-rule", "^4.[1-4]|administration",
				"-test.shuffle", "on", "-test.skip", "EveryRouteAnswers")
			valuetest.Same(t, code, exitOK, "%s%s", out, errs)
		})
	}
	both.Wait()
}

func TestWhatCannotBeCheckedIsExitTwo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "uuid")
	errortest.None(t, os.WriteFile(file, []byte(system.AdminUUID+"\n"), 0o600))
	code, out, errs := conformance(t, "", "-url", system.URL, "-uuid-file", file, "-test.run", "WhoAmI")
	valuetest.Same(t, code, exitOK, "with a file\n%s%s", out, errs)
	for name, c := range map[string]struct {
		uuid string
		args []string
		says string
	}{
		"no address":   {"x", nil, "set -url"},
		"no uuid":      {"", []string{"-url", system.URL}, "set BELFRY_UUID or -uuid-file"},
		"no such file": {"", []string{"-url", system.URL, "-uuid-file", file + "x"}, "no such file"},
		"another uuid": {"3f0c8bfa-0000-4000-8000-000000000000", []string{"-url", system.URL},
			"login as the administrator: 401"},
		"nothing listens": {"x", []string{"-url", "http://127.0.0.1:1"}, "connection refused"},
		"no http address": {"x", []string{"-url", "belfry"}, "the address must look like"},
		"no such zone":    {"x", []string{"-timezone", "Mars/Olympus"}, "unknown time zone"},
		"no pattern":      {"x", []string{"-rule", "("}, "-rule"},
		"no such rule": {system.AdminUUID, []string{"-url", system.URL, "-rule", "nothing at all"},
			"no test is chosen"},
		"no such test": {system.AdminUUID, []string{"-url", system.URL, "-test.run", "nothing at all"},
			"no test is chosen"},
		"an unknown flag":        {"x", []string{"-colour"}, "flag provided but not defined"},
		"a word without a flag":  {"x", []string{"http://127.0.0.1:1"}, "unknown argument"},
		"a flag without a value": {"x", []string{"-url"}, "flag needs an argument"},
	} {
		code, _, errs := conformance(t, c.uuid, c.args...)
		if code != exitUnusable || !strings.Contains(errs, c.says) {
			t.Errorf("%s: %d %q", name, code, errs)
		}
		if len(c.uuid) > 1 && strings.Contains(errs, c.uuid) {
			t.Errorf("%s: the uuid is shown: %s", name, errs)
		}
	}
}

func TestTheHelpNamesWhatMatters(t *testing.T) {
	code, out, errs := conformance(t, "", "-help")
	flags := regexp.MustCompile(`(?m)^  -(\S+)`).FindAllStringSubmatch(out+errs, -1)
	for _, want := range []string{"url", "uuid-file", "timezone", "rule", "documented", "test.run", "test.v"} {
		if !slices.ContainsFunc(flags, func(f []string) bool { return f[1] == want }) {
			t.Errorf("it has no -%s", want)
		}
	}
	valuetest.Holds(t, code == exitOK && len(flags) <= 20 && !t.Failed(), "%d\n%s%s", code, out, errs)
}
