package api

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// shared is all services behind the front door, the console without the race detector.
var shared = servicetest.Share(servicetest.Options{Console: true, NoRace: true})

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

// browser is a visitor without a script.
type browser struct {
	t     *testing.T
	http  *http.Client
	base  string
	token string // of the last page
}

func visitor(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	errortest.None(t, err)
	return &browser{t: t, http: &http.Client{Jar: jar}, base: shared.Get(t).URL}
}

// signedIn is a visitor who has signed in by a key.
func signedIn(t *testing.T, key string) *browser {
	t.Helper()
	b := visitor(t)
	b.send("/sign-in", url.Values{"uuid": {key}}, 200)
	return b
}

// signedInAs is a visitor who has signed in as a new user with these fields besides can_api.
func signedInAs(t *testing.T, fields map[string]any) *browser {
	t.Helper()
	key := uuid.NewString()
	user := map[string]any{"key": key, "name": key, "uuid": key, "email": key + "@school.example", "can_api": true}
	maps.Copy(user, fields)
	shared.Get(t).Admin(t).Import(t, "users", user)
	return signedIn(t, key)
}

var (
	tokens     = regexp.MustCompile(`name="token" value="([^"]+)"`)
	describers = regexp.MustCompile(`aria-describedby="([^"]+)"`)
)

func (b *browser) do(method, path string, form url.Values) (code int, at, page string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.base+path, strings.NewReader(form.Encode()))
	errortest.None(b.t, err)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return b.answered(r)
}

// answered sends a request, and checks what every page has.
func (b *browser) answered(r *http.Request) (code int, at, page string) {
	b.t.Helper()
	path := r.URL.Path
	r.Header.Set("Accept", "text/html")
	a, err := b.http.Do(r)
	errortest.None(b.t, err)
	defer func() { _ = a.Body.Close() }()
	text, err := io.ReadAll(a.Body)
	errortest.None(b.t, err)
	policy := a.Header.Get("Content-Security-Policy")
	if strings.Contains(policy, "unsafe") || !strings.Contains(a.Header.Get("Cache-Control"), "no-store") ||
		len(text) > 100_000 {
		b.t.Errorf("%s: policy %q, cache %q, %d bytes", path, policy, a.Header.Get("Cache-Control"), len(text))
	}
	for _, id := range describers.FindAllSubmatch(text, -1) {
		if !strings.Contains(string(text), ` id="`+string(id[1])+`"`) {
			b.t.Errorf("%s: nothing is described by %s", path, id[1])
		}
	}
	if found := tokens.FindSubmatch(text); found != nil {
		b.token = string(found[1])
	}
	return a.StatusCode, a.Request.URL.RequestURI(), string(text)
}

func (b *browser) open(path string, want int, texts ...string) string {
	b.t.Helper()
	code, _, page := b.do(http.MethodGet, path, nil)
	b.check(path, code, want, page, texts)
	return page
}

func (b *browser) send(path string, form url.Values, want int, texts ...string) string {
	b.t.Helper()
	form.Set("token", b.token)
	code, at, page := b.do(http.MethodPost, path, form)
	b.check(path, code, want, page, texts)
	return at
}

func (b *browser) check(path string, code, want int, page string, texts []string) {
	b.t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			b.t.Errorf("%s: no %q in %s", path, text, page)
		}
	}
	if code != want {
		b.t.Errorf("%s: %d, want %d", path, code, want)
	}
}

func TestConsole_FindsBooksChangesAndDeletes(t *testing.T) {
	s := shared.Get(t)
	admin := s.Admin(t)
	kind := admin.Import(t, "eventcategories", map[string]any{"key": "c", "name": "Lesson", "busy": true})["c"]
	hall := admin.Import(t, "locations", map[string]any{"key": "h", "name": "Hall <script>x</script>"})["h"]
	b := visitor(t)
	if _, at, _ := b.do(http.MethodGet, "/search?q=hall", nil); at != "/sign-in?to=%2Fsearch%3Fq%3Dhall" {
		t.Errorf("without a session it shows %s", at)
	}
	b.send("/sign-in", url.Values{"uuid": {"00000000-0000-4000-8000-00000000dead"}}, 401, `role="alert"`)
	key := url.Values{"uuid": {s.AdminUUID}, "to": {"/search?q=hall"}}
	valuetest.Same(t, b.send("/sign-in", key, 200), "/search?q=hall", "after the login it shows")
	valuetest.Lacks(t, b.open("/search?q=hall", 200, "Hall &lt;script&gt;"), "<script>", "a name is markup")
	b.open(fmt.Sprintf("/week/%d?date=2026-11-24", hall), 200, "Nothing on these days")
	booking := func(do, from, to, repeat string) url.Values {
		return url.Values{"title": {"Chess"}, "kind": {fmt.Sprint(kind)}, "date": {"2026-11-24"}, "from": {from},
			"to": {to}, "repeat": {repeat}, "until": {"2026-12-31"}, "who": {fmt.Sprintf("%d:Hall", hall)},
			"do": {do}, "key": {do + from}}
	}
	b.open("/book", 200, "Book it")
	at := b.send("/book", booking("book", "09:00", "10:00", "0"), 200, "This is booked", "Tue 24 Nov", ", 09:00–10:00")
	valuetest.Same(t, b.send("/book", booking("book", "09:00", "10:00", "0"), 200), at,
		"sent twice, it books %s and", at)
	b.open("/book", 200)
	b.send("/book", booking("book", "09:30", "10:30", "0"), 409, "⚠", "Chess", "Book anyway")
	b.send("/book", booking("check", "09:30", "10:30", "2"), 200, "<s>Tue 24 Nov", "Tuesday 8 December 2026")
	b.send("/book", booking("check", "11:00", "10:00", "0"), 422, "after the start")
	b.open(fmt.Sprintf("/week/%d?date=2026-11-24", hall), 200, "Chess", "09:00–10:00")
	event, _, _ := strings.Cut(at, "?")
	b.open(event+"/edit", 200, `value="09:00"`)
	b.send(event+"/edit", url.Values{"title": {"Go"}, "kind": {fmt.Sprint(kind)}, "date": {"2026-11-24"},
		"from": {"11:00"}, "to": {"12:00"}}, 200, "Go", "11:00–12:00")
	b.send(event+"/notes", url.Values{"contents": {"Bring *pens*."}, "pupils": {"1"}, "preview": {"1"}}, 200,
		"<em>pens</em>", "not been added yet", ">Bring *pens*.</textarea>", `name="pupils" value="1" checked`,
		"There are no notes")
	valuetest.Lacks(t, b.open(fmt.Sprintf("/week/%d?date=2026-11-24", hall), 200), "✎ note",
		"the week shows a note before there is one")
	for range 2 { // of two clicks
		b.send(event+"/notes", url.Values{"contents": {"Bring *boards*."}, "key": {"once"}}, 200, "<em>boards</em>")
	}
	b.open(fmt.Sprintf("/week/%d?date=2026-11-24", hall), 200, "✎ note")
	b.token = "stale"
	b.send(event+"/notes", url.Values{"contents": {"precious"}}, 403, "precious", "<dt>Note</dt>")
	b.open(event+"/cancel", 200, "1 note")
	b.send(event+"/cancel", url.Values{"which": {"one"}}, 200, "“Go” was deleted", `href="/?date=2026-11-24"`)
	b.open(event, 404, "There is nothing here")
	b.open("/?date=never", 200) // an administrator without a timetable
	b.open(fmt.Sprintf("/week/%d?date=never", hall), 400)
	b.open("/week/x", 404)
	b.open("/nowhere", 404, `<nav class="pages"`)
	visitor(t).open("/nowhere", 404, "There is nothing here")
	b.open("/api/logout/oidc", 200, "Sign in")
	if _, at, _ := b.do(http.MethodGet, "/", nil); at != "/sign-in" {
		t.Errorf("after signing out it shows %s", at)
	}
	b.send("/book", url.Values{"who": {"12:HGO"}}, 401, "no longer signed in", `href="/sign-in"`, "<dd>HGO</dd>",
		`value="12:HGO"`)
	// The button of an import's page sent no files, and was answered with JSON.
	b.open("/sign-in", 200)
	_, _, page := b.do(http.MethodPost, "/look-after/import", nil)
	valuetest.Lacks(t, page, "<form", "an import after its session is sent again")
}

// The page of a search failed for a text that the interface does not look for in titles.
func TestSearch_TextsThatNoTitleIsSearchedFor(t *testing.T) {
	b := signedIn(t, shared.Get(t).AdminUUID)
	for _, q := range []string{"---", "e\u0301a", "ab"} {
		b.open("/search?q="+url.QueryEscape(q), 200, "Type at least three letters")
	}
}

// TestSignIn_TakesTheLongestKey: browsers cut what is longer than its field without a word, and 255 characters are
// allowed.
func TestSignIn_TakesTheLongestKey(t *testing.T) {
	b, key := visitor(t), strings.Repeat(uuid.NewString(), 8)[:255]
	long := map[string]any{"name": "Long", "uuid": key, "email": uuid.NewString() + "@school.example",
		"permissions": map[string]any{"can_api": true}}
	shared.Get(t).Admin(t).Post(t, "/api/admin/users", map[string]any{"user": long}).Must(t, 201)
	most := regexp.MustCompile(`name="uuid"[^>]* maxlength="(\d+)"`).FindStringSubmatch(b.open("/sign-in", 200))
	valuetest.MustSame(t, len(most), 2, "the field has no bound")
	bound, err := strconv.Atoi(most[1])
	errortest.None(t, err)
	b.send("/sign-in", url.Values{"uuid": {key[:min(bound, len(key))]}}, 200)
}

// A service that is away gives a page, which has what was typed.
func TestConsole_ANeighbourIsAway(t *testing.T) {
	s := servicetest.Start(t, servicetest.Options{Console: true, NoRace: true})
	b := visitor(t)
	b.base = s.URL
	b.send("/sign-in", url.Values{"uuid": {s.AdminUUID}}, 200)
	b.open("/account", 200) // whose forms have a token
	admin := s.Admin(t)
	hall := admin.Import(t, "locations", map[string]any{"key": "h", "name": "Hall"})["h"]
	kind := admin.Import(t, "eventcategories", map[string]any{"key": "c", "name": "Lesson"})["c"]
	admin.Post(t, "/api/events", map[string]any{"event": map[string]any{"body": "Chess", "category": kind,
		"starts_at_text": "2026-11-24 09:00", "ends_at_text": "2026-11-24 10:00"}, "elements": []int64{hall}}).
		Must(t, http.StatusOK)
	s.Kill(t, "notes")
	b.open(fmt.Sprintf("/week/%d?date=2026-11-24", hall), 200, "Chess") // without the marks of events with notes
	s.Kill(t, "events")
	b.open("/events/1", 503, "Try again")
	b.send("/events/1/notes", url.Values{"contents": {"precious"}}, 503, "precious")
	s.Client(t).Get(t, "/api/nowhere").Want(t, 404, `{"status":"Not found"}`, "an unknown path of the interface")
	s.Kill(t, "identity")
	if code, _, page := b.do(http.MethodPost, "/sign-in", url.Values{"uuid": {s.AdminUUID}}); code != 503 ||
		strings.Contains(page, "<form") { // which would have no uuid
		t.Errorf("signing in: %d %s", code, page)
	}
}
