package page_test

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/console/internal/page"
	"github.com/belfry-schools/belfry/services/console/internal/week"
)

func pages(t *testing.T) *page.Pages {
	t.Helper()
	zone, err := wiretime.LoadZone("Europe/London")
	errortest.None(t, err)
	p, err := page.New(page.Options{Zone: zone, School: `St Anne's & <b>`})
	errortest.None(t, err)
	return p
}

// catalogue returns a language's texts by their keys.
func catalogue(t *testing.T, language string) map[string]string {
	t.Helper()
	source, err := os.ReadFile("texts/" + language + ".txt")
	errortest.None(t, err)
	all := map[string]string{}
	for line := range strings.Lines(string(source)) {
		if key, text, found := strings.Cut(strings.TrimSpace(line), " = "); found && line[0] != '#' {
			all[key] = text
		}
	}
	return all
}

func TestTexts_BothLanguagesAreComplete(t *testing.T) {
	english, german := catalogue(t, "en"), catalogue(t, "de")
	verbs := regexp.MustCompile(`%[a-z]|\{[a-z]+\}`)
	for key, text := range english {
		other, found := german[key]
		if !found {
			t.Errorf("German has no %s", key)
			continue
		}
		a, b := verbs.FindAllString(text, -1), verbs.FindAllString(other, -1)
		if strings.HasPrefix(key, "day.") {
			slices.Sort(a)
			slices.Sort(b)
		}
		valuetest.List(t, a, b, "%s in English and in German", key)
	}
	for key := range german {
		if _, found := english[key]; !found {
			t.Errorf("English has no %s", key)
		}
	}
	for key, names := range map[string]int{"weekdays": 7, "weekdays.short": 7, "months": 12, "months.short": 12} {
		if len(strings.Fields(english[key])) != names || len(strings.Fields(german[key])) != names {
			t.Errorf("%s has not %d names", key, names)
		}
	}
}

// Keys that templates and handlers name are in the catalogue; a text that is missing would be shown as its key.
func TestTexts_EachKeyThatIsNamedIsThere(t *testing.T) {
	texts := catalogue(t, "en")
	named := regexp.MustCompile(`(?:\.T|\.N|texts\.T)[ (]"([a-z0-9.-]+)"`)
	for _, folder := range []string{"html", "../api"} {
		err := fs.WalkDir(os.DirFS(folder), ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(folder + "/" + path)
			for _, found := range named.FindAllStringSubmatch(string(source), -1) {
				key := found[1]
				_, plain := texts[key]
				_, counted := texts[key+".many"]
				if !plain && !counted && !strings.HasSuffix(key, ".") {
					t.Errorf("%s names %s", path, key)
				}
			}
			return err
		})
		errortest.None(t, err)
	}
}

// may is the present time of these tests.
var may = time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)

func TestTexts_TheLanguageThatABrowserAccepts(t *testing.T) {
	p := pages(t)
	for accept, want := range map[string]string{
		"": "en", "de": "de", "de-AT,de;q=0.8": "de", "fr": "en",
		"en-GB,de;q=0.5": "en", "fr,de;q=0.3": "de", "!": "en",
	} {
		valuetest.Same(t, p.Texts(accept, may).Language, want, "%q", accept)
	}
}

func TestTexts_WhenInTheSchoolsZone(t *testing.T) {
	p := pages(t)
	for _, c := range []struct {
		starts, ends string
		allDay       bool
		en, de       string
	}{
		{"2026-06-02T08:00:00Z", "2026-06-02T08:50:00Z", false, "Tue 2 Jun, 09:00–09:50", "Di 2. Juni, 09:00–09:50"},
		{"2026-06-02T08:00:00Z", "2026-06-02T08:00:00Z", false, "Tue 2 Jun, 09:00", "Di 2. Juni, 09:00"},
		{"2026-06-01T23:00:00Z", "2026-06-02T23:00:00Z", true, "Tue 2 Jun, all day", "Di 2. Juni, ganztägig"},
		{"2026-06-01T23:00:00Z", "2026-06-04T23:00:00Z", true, "Tue 2 Jun to Thu 4 Jun, all day",
			"Di 2. Juni bis Do 4. Juni, ganztägig"},
		{"2026-12-01T22:00:00Z", "2026-12-02T02:00:00Z", false, "Tue 1 Dec 22:00 to Wed 2 Dec 02:00",
			"Di 1. Dez. 22:00 bis Mi 2. Dez. 02:00"},
		{"2027-01-04T09:00:00Z", "2027-01-04T09:00:00Z", false, "Mon 4 Jan 2027, 09:00", "Mo 4. Jan. 2027, 09:00"},
	} {
		for accept, want := range map[string]string{"en": c.en, "de": c.de} {
			if got, err := p.Texts(accept, may).WhenText(c.starts, c.ends, c.allDay); err != nil || got != want {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		}
	}
	errortest.Some(t, errortest.Of(p.Texts("", may).WhenText("today", "", false)), "a time that is none has no error")
}

// body is what the page of a week takes, as package api has it.
type body struct {
	Grid                             week.Grid
	Names                            []api.Element
	Own, Empty, One, Past            bool
	Day, Today, Last, Earlier, Later wiretime.Day
	At, IDs, With, Instead           string
	Next                             []api.EventSummary
}

func (b body) On(day wiretime.Day) string { return b.At + "?date=" + day.String() }

// A page of 40 events at once with long names that look like markup: nothing of them is markup, and the page weighs
// 100 KB at most with its style.
func TestPages_FortyEventsThatLookLikeMarkup(t *testing.T) {
	p := pages(t)
	zone, _ := wiretime.LoadZone("Europe/London")
	long := strings.Repeat("Æ", 103) + "<script>alert(1)</script>"
	starts := time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)
	w := week.Want{Day: zone.DayOf(starts), Element: 1, Name: long}
	for i := range int64(40) {
		w.Items = append(w.Items, week.Item{Event: i + 1, Title: long, Starts: starts, Ends: starts.Add(time.Hour),
			Status: "requested", Place: long, Category: i})
	}
	b := body{Grid: week.Lay(zone, []week.Want{w, w, w, w, w, w, w}, starts), Names: []api.Element{{ID: 1, Name: long}},
		Day: w.Day, Today: w.Day, Last: w.Day, Earlier: w.Day, Later: w.Day, At: "/week/1", IDs: "1"}
	b.Grid.Columns = b.Grid.Columns[:1]
	text, err := p.Render("week", page.Frame{Texts: p.Texts("de", may), Title: long, Nonce: "abc", Now: starts,
		Me: &page.Me{User: api.User{Name: long}}, Path: "/week/1", Body: b})
	errortest.None(t, err)
	if strings.Contains(string(text), "<script>") || strings.Contains(string(text), " style=") {
		t.Error("the page has a script of an event, or a style that its policy refuses")
	}
	if size := len(text) + len(page.Style()); size > 100_000 {
		t.Errorf("the page weighs %d bytes", size)
	}
	valuetest.Same(t, strings.Count(string(text), "◌ angefragt"), 40, "not every event says that it is requested")
	if len(page.Style()) > 20_000 {
		t.Errorf("the stylesheet has %d bytes", len(page.Style()))
	}
}

func TestReadHours_AsPeopleTypeThem(t *testing.T) {
	for typed, want := range map[string]string{
		"09:50": "09:50", "9:50": "09:50", "9.50": "09:50", "950": "09:50", "0950": "09:50", " 9 ": "09:00",
		"0": "00:00", "23:59": "23:59", "2000": "20:00", "200": "02:00", "24:00": "24:00", "9:5": "9:5",
		"9 am": "9 am", "": "",
		"9:50\n": "09:50", "x9:50": "x9:50", "9:505": "9:505",
	} {
		valuetest.Same(t, page.ReadHours(typed), want, "%q is read as", typed)
	}
}

func TestFrame_Here(t *testing.T) {
	for path, want := range map[string]bool{"/": true, "/?date=2026-11-24": true, "/week/5": false} {
		valuetest.Same(t, (page.Frame{Path: path}).Here("/"), want, path)
	}
	if !(page.Frame{Path: "/book/1?x=/"}).Here("/book") || (page.Frame{Path: "/books"}).Here("/book") {
		t.Error("a page is below another by its segments")
	}
}

// TestTexts_NameEveryFieldOfTheAudit: the history shows no name of the interface's fields. It reads which fields there
// are from the sources, as the services share no list.
func TestTexts_NameEveryFieldOfTheAudit(t *testing.T) {
	texts := pages(t).Texts("en", may)
	value := regexp.MustCompile(`audit\.(?:Text|ID|IDs|Int|Bool|Time|Secret)\(` +
		`(?:(commitment|request)Field\(.*?, )?"(\w+)"|audit\.Change\{Field: ()"(\w+)"`)
	described := regexp.MustCompile(`json:"()(\w+)(?:,omitempty)?"`)
	found := 0
	name := func(path string, of *regexp.Regexp) {
		source, err := os.ReadFile(path)
		errortest.None(t, err)
		for _, match := range of.FindAllStringSubmatch(string(source), -1) {
			found++
			field := strings.Join(match[2:], "")
			if match[1] != "" {
				field = match[1] + "s.17." + field
			}
			if texts.Label("look.field.", field) == field {
				t.Errorf("%s: the field %s has no name", path, field)
			}
		}
	}
	services := "../../../"
	for _, path := range []string{
		services + "identity/internal/store/audit.go", services + "elements/internal/store/audit.go",
		services + "events/internal/store/audit.go", services + "notes/internal/store/audit.go",
		services + "events/internal/absence/check.go", services + "../pkg/journal/audit/auditlog/batch.go",
	} {
		name(path, value)
	}
	name(services+"elements/internal/element/element.go", described)
	name(services+"events/internal/event/texts.go", described)
	name(services+"events/internal/category/category.go", described)
	if found < 60 {
		t.Errorf("only %d fields are found", found)
	}
}
