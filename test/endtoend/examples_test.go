package endtoend_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/belfry-schools/belfry/pkg/service/release"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// examples are the programs of docs/examples, built, behind a proxy that counts their calls.
type examples struct {
	dir, url string
	token    string // by which they act; "": they log in
	calls    atomic.Int64
}

func startExamples(t *testing.T, run *localRun) *examples {
	t.Helper()
	e := &examples{dir: t.TempDir()}
	root := checkout.Folder(t)
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", e.dir+"/", "./...")
	build.Dir = filepath.Join(root, "docs", "examples")
	build.Env = append(os.Environ(), "GOWORK=off") // they need no other module
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	address, err := url.Parse(run.URL)
	errortest.None(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(address) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.calls.Add(1)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	e.url = server.URL
	return e
}

// run runs a program as a user, and returns what it prints. It must make that many calls.
func (e *examples) run(t *testing.T, calls int64, uuid, name string, arguments ...string) (out, notes string) {
	t.Helper()
	out, notes, err := e.start(t, calls, uuid, name, arguments...)
	errortest.None(t, err, "%s\n%s", name, notes)
	return out, notes
}

// fails runs a program that must end with an error that says so.
func (e *examples) fails(t *testing.T, calls int64, uuid, want, name string, arguments ...string) {
	t.Helper()
	if _, notes, err := e.start(t, calls, uuid, name, arguments...); err == nil || !strings.Contains(notes, want) {
		t.Errorf("%s %q ends with %v and %q, want an error with %q", name, arguments, err, notes, want)
	}
}

func (e *examples) start(t *testing.T, calls int64, uuid, name string, arguments ...string) (out, notes string,
	err error) {
	t.Helper()
	before := e.calls.Load()
	command := exec.CommandContext(t.Context(), filepath.Join(e.dir, name), arguments...)
	command.Dir = e.dir
	command.Env = append(os.Environ(), "BELFRY_URL="+e.url, "BELFRY_UUID="+uuid, "BELFRY_TOKEN="+e.token)
	var faults strings.Builder
	command.Stderr = &faults
	text, err := command.Output()
	valuetest.Same(t, e.calls.Load()-before, calls, "calls that %s %q made", name, arguments)
	return string(text), faults.String(), err
}

func mustHave(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		valuetest.Has(t, text, want)
	}
}

// runExamples runs the clients of docs/examples. The calls that it wants are those that the page there tells.
func runExamples(t *testing.T, run *localRun) {
	t.Helper()
	mustHave(t, checkout.Read(t, "docs/examples/README.md"), "| 1, and 1 for each refresh |", "| 5 |",
		"| 5 at first; then 3 for each poll, and 2 more when something has changed |",
		"| 3, 2 for each decision, and 1 for each category of events that share a time |",
		"| 4, and 2 for each lesson |", "| 5, for up to 1,000 staff |", "less than 200 bytes")
	login := func(may string) string {
		found := regexp.MustCompile(`(?m) ([0-9a-f-]{36})  \(.*` + may).FindStringSubmatch(run.Output.String())
		valuetest.MustHold(t, found != nil, "no user may %s", may)
		return found[1]
	}
	office := login("decide on the public calendar")
	teacher := regexp.MustCompile(`TEACHER=(\S+)`).FindStringSubmatch(checkout.Read(t, "README.md"))[1]
	e := startExamples(t, run)

	asks := servicetest.NewClient(t, run.URL)
	asks.Get(t, "/api/login?uuid="+teacher).Must(t, 200)
	e.token = asks.Post(t, "/api/me/tokens",
		map[string]any{"token": map[string]any{"name": "Screen", "scope": "read"}}).Must(t, 201).Text(t, "token.token")
	shown, _ := e.run(t, 2, "", "sign", "-day", "2026-11-24", "-refreshes", "1", "-every", "1ms")
	mustHave(t, shown, "Great Hall\n", "  08:55–09:50  10 Mathematics 1  HGO\n")
	e.token = ""

	term := []string{"-room", "Sports Hall", "-first", "2027-01-12", "-last", "2027-03-23", "-from", "20:00",
		"-to", "21:00"}
	met, _ := e.run(t, 5, office, "club", term...)
	mustHave(t, met, "meets 2027-01-12 20:00", "meets 2027-03-16 20:00", "not on 2027-02-16 not_during")

	keep := []string{"-name", "HGO - Hannah Gordon", "-start", "2026-09-01", "-end", "2027-07-31"}
	copied, _ := e.run(t, 5, teacher, "calendar", keep...)
	mustHave(t, copied, "new 2026-11-")
	same, notes := e.run(t, 3, teacher, "calendar", keep...)
	poll := regexp.MustCompile(`0 changes in (\d+) bytes`).FindStringSubmatch(notes)
	valuetest.MustHold(t, same == "" && poll != nil, "a poll without changes prints %q and %q", same, notes)
	if size, _ := strconv.Atoi(poll[1]); size == 0 || size >= 200 {
		t.Errorf("the poll is answered in %d bytes", size)
	}

	morning := book(t, asks, "Meeting", "Open morning", "2026-09-05 09:30", "2026-09-05 10:30", "Public Calendar",
		"HGO - Hannah Gordon")
	const before, after = "2026-09-05T09:30:00+01:00 2026-09-05T10:30:00+01:00 Open morning\n",
		"2026-09-05T11:00:00+01:00 2026-09-05T12:00:00+01:00 Open morning\n"
	mustPrint := func(want string) {
		t.Helper()
		printed, _ := e.run(t, 5, teacher, "calendar", keep...)
		valuetest.Same(t, printed, want, "after a change the calendar prints")
	}
	mustPrint("new " + before)
	asks.Patch(t, morning, `{"event": {"starts_at_text": "2026-09-05 11:00", "ends_at_text": "2026-09-05 12:00"}}`).
		Must(t, 200)
	mustPrint("changed " + after)
	asks.Delete(t, morning).Must(t, 200)
	mustPrint("gone " + after)

	// These are before all that the demo school asks for, so they are decided first. Film wants what Play has, while
	// both wait; Day takes no one's time, and Set takes more days than /api/freebusy answers for.
	book(t, asks, "Meeting", "Play", "2025-07-01 10:00", "2025-07-01 11:00", "Theatre")
	book(t, asks, "Meeting", "Film", "2025-07-01 10:30", "2025-07-01 11:30", "Theatre")
	book(t, asks, "Meeting", "Set", "2025-01-07 08:00", "2025-05-07 18:00", "Theatre")
	book(t, asks, "Meeting", "Talk", "2025-07-01 11:00", "2025-07-01 11:30", "Theatre")
	book(t, asks, "Calendar Entry", "Day", "2025-07-01 10:45", "2025-07-01 11:15", "Theatre", "Public Calendar")
	decided, _ := e.run(t, 3+2*6+2, office, "bot", "-most", "6")
	valuetest.Same(t, decided, "confirmed Theatre Set \nconfirmed Theatre Play \n"+
		"rejected Theatre Film It is taken from 2025-07-01 10:00 to 2025-07-01 11:00.\n"+
		"confirmed Theatre Day \nconfirmed Public Calendar Day \nconfirmed Theatre Talk \n",
		"the bot prints")

	t.Run("cover", func(t *testing.T) { runCover(t, e, office) })
	t.Run("sync", func(t *testing.T) { runSync(t, e, run) })
}

// runCover covers a day on which the demo school's teacher has five lessons: first it only shows by whom.
func runCover(t *testing.T, e *examples, office string) {
	absent := []string{"-for", "HGO - Hannah Gordon", "-day", "2027-03-16"}
	would, _ := e.run(t, 4+2*5, office, "cover", append(absent, "-try")...)
	done, _ := e.run(t, 4+2*5, office, "cover", absent...)
	if lines := regexp.MustCompile(`(?m)^\d\d:\d\d .+ → .+$`).FindAllString(done, -1); len(lines) != 5 || done != would {
		t.Errorf("cover prints\n%sand would have\n%s", done, would)
	}
	again, _ := e.run(t, 4, office, "cover", absent...)
	valuetest.Same(t, again, "", "lessons that are covered are covered again")
}

// runSync brings the demo school's staff in step with a file that lacks one, has a new one, and renames a third.
func runSync(t *testing.T, e *examples, run *localRun) {
	admin := servicetest.NewClient(t, run.URL)
	admin.Get(t, "/api/login?uuid="+run.adminUUID).Must(t, 200)
	var staff struct {
		Elements []struct{ Key, Initials, Forename, Surname, Title, Email string }
	}
	admin.Get(t, "/api/admin/elements?type=Staff&current=true&limit=1000").Must(t, 200).Decode(t, &staff)
	write := func(name string, records [][]string) string {
		var text bytes.Buffer
		header := []string{"key", "initials", "forename", "surname", "title", "email"}
		errortest.None(t, csv.NewWriter(&text).WriteAll(append([][]string{header}, records...)))
		path := filepath.Join(t.TempDir(), name)
		errortest.None(t, os.WriteFile(path, text.Bytes(), 0o600))
		return path
	}
	var records [][]string
	for _, s := range staff.Elements {
		key := strings.TrimPrefix(s.Key, "Staff:")
		records = append(records, []string{key, s.Initials, s.Forename, s.Surname, s.Title, s.Email})
	}
	last := len(records) - 1
	changed := slices.Clone(records[:last])
	changed = append(changed, []string{"new", "ZNE", "Zoe", "Newman", "Dr", "zne@school.example"})
	changed[0] = slices.Clone(changed[0])
	changed[0][3] = "Married"

	e.run(t, 5, run.adminUUID, "sync", "-file", write("first.csv", records), "-most", "1000")
	file := write("changed.csv", changed)
	e.fails(t, 4, run.adminUUID, "3 records would change, and at most 2 may: nothing was written",
		"sync", "-file", file, "-most", "2")
	for _, want := range []string{"created 1 updated 2 ", "created 0 updated 0 "} {
		printed, _ := e.run(t, 5, run.adminUUID, "sync", "-file", file)
		mustHave(t, printed, want)
	}
	printed, _ := e.run(t, 5, run.adminUUID, "sync", "-file", write("before.csv", records))
	mustHave(t, printed, "created 0 updated 3 ")
}

// book makes an event of a category for elements by their names, and returns its path.
func book(t *testing.T, client *servicetest.Client, category, body, starts, ends string, names ...string) string {
	t.Helper()
	var ids []int64
	for _, name := range names {
		found := client.Get(t, "/api/elements?name="+url.QueryEscape(name)).Must(t, 200)
		ids = append(ids, found.Int(t, "elements.0.id"))
	}
	categories := client.Get(t, "/api/eventcategories").Must(t, 200)
	event := map[string]any{"body": body, "starts_at_text": starts, "ends_at_text": ends,
		"event_category_id": categories.Int(t, `eventcategories.#(name="`+category+`").id`)}
	made := client.Post(t, "/api/events", map[string]any{"event": event, "elements": ids}).Must(t, 200)
	return "/api/events/" + made.At(t, "event.id")
}

// runClient runs the program of the Go client's README, which shows what it prints. It is built as others build it:
// from the client's module alone, fetched as the page says.
func runClient(t *testing.T, run *localRun) {
	t.Helper()
	page := checkout.Read(t, "client/README.md")
	blocks := regexp.MustCompile("(?ms)^```(go|sh)?\n(.*?)^```$").FindAllStringSubmatch(page, -1)
	if len(blocks) != 3 || blocks[0][1] != "sh" || blocks[1][1] != "go" {
		t.Fatalf("the page has %d blocks, not how to get the client, a program and what it prints", len(blocks))
	}
	folder := t.TempDir()
	environment := published(t, "client")
	outside := func(name string, args ...string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), name, args...)
		command.Dir, command.Env = folder, environment
		out, err := command.CombinedOutput()
		errortest.None(t, err, "%s %s\n%s", name, strings.Join(args, " "), out)
	}
	for name, text := range map[string]string{
		"go.mod":  "module club.example/booking\n\ngo 1.26.0\n",
		"go.sum":  checkout.Read(t, "client/go.sum"),
		"main.go": blocks[1][2],
	} {
		errortest.None(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	outside("bash", "-euc", blocks[0][2])
	outside("go", "build", "-o", "book")
	needed, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	errortest.None(t, err)
	valuetest.Same(t, len(regexp.MustCompile(`(?m)^(?:require|\t)\s*(\S+) v`).FindAllSubmatch(needed, -1)), 2,
		"modules that the program needs, want the client and backoff:\n%s", needed)
	teacher := regexp.MustCompile(`TEACHER=(\S+)`).FindStringSubmatch(checkout.Read(t, "README.md"))[1]
	command := exec.CommandContext(t.Context(), filepath.Join(folder, "book"))
	command.Env = append(os.Environ(), "BELFRY_URL="+run.URL, "BELFRY_UUID="+teacher)
	printed, err := command.CombinedOutput()
	if err != nil || string(printed) != blocks[2][2] {
		t.Errorf("it prints\n%s%v; the page shows\n%s", printed, err, blocks[2][2])
	}
}

// published serves a module of the checkout as a release of it would be, in the folders of Go's module proxies, and
// returns the environment of a machine that gets it from there. Everything else comes from what go has fetched for the
// checkout.
func published(t *testing.T, folder string) []string {
	t.Helper()
	root := checkout.Folder(t)
	released := module.Version{Path: "github.com/belfry-schools/belfry/" + folder, Version: "v" + release.Version()}
	proxy := t.TempDir()
	versions := filepath.Join(proxy, released.Path, "@v")
	var packed bytes.Buffer
	err := errors.Join(zip.CreateFromDir(&packed, released, filepath.Join(root, folder)), os.MkdirAll(versions, 0o755))
	for name, text := range map[string]string{
		"list":                     released.Version + "\n",
		released.Version + ".info": `{"Version":"` + released.Version + `"}`,
		released.Version + ".mod":  checkout.Read(t, folder+"/go.mod"),
		released.Version + ".zip":  packed.String(),
	} {
		err = errors.Join(err, os.WriteFile(filepath.Join(versions, name), []byte(text), 0o600))
	}
	cache, asked := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	errortest.None(t, errors.Join(err, asked))
	fetched := filepath.Join(strings.TrimSpace(string(cache)), "cache", "download")
	return append(os.Environ(), "GOWORK=off", "GOFLAGS=-modcacherw", "GOTOOLCHAIN=local", "GOMODCACHE="+t.TempDir(),
		"GOPROXY=file://"+proxy+",file://"+fetched, "GONOSUMDB=github.com/belfry-schools/*")
}
