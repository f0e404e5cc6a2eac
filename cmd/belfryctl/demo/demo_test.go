package demo_test

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/belfry-schools/belfry/cmd/belfryctl/demo"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func generate(t *testing.T, o demo.Options) (string, demo.Summary) {
	t.Helper()
	dir := t.TempDir()
	summary, err := demo.Generate(dir, o)
	errortest.None(t, err)
	return dir, summary
}

func options(pupils, years int, seed uint64) demo.Options {
	return demo.Options{Pupils: pupils, Years: years, Seed: seed, LastYear: demo.DefaultLastYear}
}

// digest is one hash over the names and bytes of all files.
func digest(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	entries, err := os.ReadDir(dir)
	errortest.None(t, err)
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		errortest.None(t, err)
		fmt.Fprintf(h, "%s %d\n%s", entry.Name(), len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func TestSameOptionsGiveTheSameBytes(t *testing.T) {
	for _, o := range []demo.Options{options(100, 2, 1), district(3, 30)} {
		first, _ := generate(t, o)
		again, _ := generate(t, o)
		o.Seed = 2
		other, _ := generate(t, o)
		if digest(t, first) != digest(t, again) || digest(t, first) == digest(t, other) {
			t.Errorf("%+v: the same options give other bytes, or another seed the same", o)
		}
	}
	alone, _ := generate(t, options(30, 1, 1))
	one, _ := generate(t, district(1, 30))
	valuetest.Same(t, digest(t, alone), digest(t, one), "one school of several differs from the only one")
}

func TestSizesAreThoseOfARealSchool(t *testing.T) {
	near := func(what string, got, want int) {
		t.Helper()
		if diff := got - want; diff*20 > want || -diff*20 > want {
			t.Errorf("%d %s, want %d within 5 %%", got, what, want)
		}
	}
	_, one := generate(t, options(1000, 1, 1))
	near("events", one.Events, 56000)
	near("lessons", one.Lessons, 47000)
	near("commitments", one.Commitments, 218000)
	near("groups", one.Groups, 690)
	near("staff", one.Staff, 300)
	near("locations", one.Locations, 160)
	valuetest.Holds(t, one.Pupils == 1000 && one.Requests != 0 && one.Notes != 0, "%+v", one)
	_, five := generate(t, options(1000, 5, 1))
	near("events in five years", five.Events, 280000)
	near("commitments in five years", five.Commitments, 1100000)
	near("memberships in five years", five.Memberships, 83000)
	// The page for users says the sizes to the digit.
	page, err := os.ReadFile("../../../docs/belfryctl.md")
	errortest.None(t, err)
	for years, sum := range map[int]demo.Summary{1: one, 5: five} {
		row := message.NewPrinter(language.BritishEnglish).Sprintf("| 1,000 | %d | %d | %d | %d | %d |", years,
			sum.Events, sum.Lessons, sum.Commitments, sum.Memberships)
		valuetest.Has(t, string(page), row, "docs/belfryctl.md")
	}
	near("people, places and groups in five years", five.Pupils+five.Staff+five.Locations+five.Groups, 5600)
}

func TestEveryBundlePassesTheChecker(t *testing.T) {
	zone := timetest.London(t)
	for _, o := range []demo.Options{options(10, 1, 1), options(37, 3, 7), options(150, 1, 1<<63), options(400, 2, 0),
		{Pupils: 30, Years: 20, Seed: 3, LastYear: 2009}, {Pupils: 30, Years: 20, Seed: 3, LastYear: 2090},
		options(2000, 1, 5), district(3, 30), {Pupils: 10, Years: 2, Schools: 25, Seed: 4, LastYear: 2026}} {
		t.Run(fmt.Sprintf("%+v", o), func(t *testing.T) {
			dir, summary := generate(t, o)
			b, err := bundle.Open(dir, bundle.Options{Zone: zone})
			if faults, ok := errors.AsType[*csvfile.FaultsError](err); ok {
				t.Fatalf("%d faults, the first: %s", faults.Total, faults.First[0])
			} else if err != nil {
				t.Fatal(err)
			}
			if b.Count(bundle.Events) != summary.Events || b.Count(bundle.Users) != summary.Users {
				t.Errorf("the summary does not count the records: %+v", summary)
			}
		})
	}
}

// A year of a large school has more tutor groups than there are letters.
func TestTutorGroupsOfALargeSchoolHaveNamesOfTheirOwn(t *testing.T) {
	dir, _ := generate(t, options(5000, 1, 1))
	groups := map[string]int{}
	for _, p := range read(t, dir, bundle.Pupils) {
		groups[p["tutor_group"]]++
	}
	for name, pupils := range groups {
		if !regexp.MustCompile(`^\d+[A-Z]{1,2}$`).MatchString(name) || pupils > 24 {
			t.Errorf("%q has %d pupils", name, pupils)
		}
	}
	if len(groups) < 7*26 || groups["9Z"] == 0 || groups["9AA"] == 0 {
		t.Errorf("%d groups: %v", len(groups), groups)
	}
}

// read returns the rows of a file as maps.
func read(t *testing.T, dir string, kind bundle.Kind) []map[string]string {
	t.Helper()
	file, err := os.Open(filepath.Join(dir, kind.File()))
	errortest.None(t, err)
	lines, err := csv.NewReader(file).ReadAll()
	errortest.None(t, errors.Join(err, file.Close()))
	var rows []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, cell := range line {
			row[lines[0][i]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

// No one is double-booked: checked lesson by lesson and pupil by pupil from the files alone.
func TestLessonsDoubleBookNoOne(t *testing.T) {
	for _, o := range []demo.Options{options(10, 1, 1), options(50, 2, 2), options(160, 2, 1), options(400, 1, 9),
		district(3, 40)} {
		t.Run(fmt.Sprintf("%d pupils", o.Pupils), func(t *testing.T) {
			dir, summary := generate(t, o)
			type span struct{ pupil, first, last string }
			members := map[string][]span{}
			for _, m := range read(t, dir, bundle.Memberships) {
				if strings.HasPrefix(m["member"], "Pupil:") {
					members["Group:"+m["group"]] = append(members["Group:"+m["group"]],
						span{m["member"], m["first_day"], m["last_day"]})
				}
			}
			taken, lessons := map[string]string{}, 0
			for _, e := range read(t, dir, bundle.Events) {
				if e["category"] != "lesson" {
					continue
				}
				lessons++
				elements := strings.Split(e["elements"], ";")
				day := e["starts_at"][:10]
				pupils := 0
				for _, m := range members[elements[0]] {
					if m.first <= day && day <= m.last {
						elements = append(elements, m.pupil)
						pupils++
					}
				}
				for _, element := range elements {
					if strings.HasPrefix(element, "Subject:") {
						continue
					}
					if other, ok := taken[element+e["starts_at"]]; ok {
						t.Fatalf("%s is in %s and in %s", element, other, e["key"])
					}
					taken[element+e["starts_at"]] = e["key"]
				}
				if pupils > 40 {
					t.Errorf("%s has %d pupils", e["key"], pupils)
				}
			}
			if lessons != summary.Lessons || lessons == 0 {
				t.Errorf("%d lessons, summary says %d", lessons, summary.Lessons)
			}
		})
	}
}

func TestNoLessonsInBreaksOrAtWeekends(t *testing.T) {
	dir, _ := generate(t, options(20, 3, 1))
	events := read(t, dir, bundle.Events)
	off := map[string]string{}
	for _, e := range events {
		if e["category"] != "holiday" && e["category"] != "inset" {
			continue
		}
		for day := e["starts_at"]; day < e["ends_at"]; {
			off[day] = e["body"]
			d, err := time.Parse(time.DateOnly, day)
			errortest.None(t, err)
			day = d.AddDate(0, 0, 1).Format(time.DateOnly)
		}
	}
	days := map[string]bool{}
	for _, e := range events {
		if e["category"] != "lesson" {
			continue
		}
		day := e["starts_at"][:10]
		d, err := time.Parse(time.DateOnly, day)
		errortest.None(t, err)
		if name, ok := off[day]; ok || d.Weekday() == time.Saturday || d.Weekday() == time.Sunday {
			t.Errorf("%s on a %s (%s)", e["key"], d.Weekday(), name)
		}
		days[day] = true
	}
	if n := len(days) / 3; n < 180 || n > 195 {
		t.Errorf("%d school days a year", n)
	}
}

// The documentation's examples must exist.
func TestLoginsCanTryWhatTheyMay(t *testing.T) {
	dir, summary := generate(t, options(100, 2, 1))
	users := map[string]map[string]string{}
	for _, u := range read(t, dir, bundle.Users) {
		users[u["uuid"]] = u
	}
	var got []string
	for _, login := range summary.Logins {
		u := users[login.UUID]
		valuetest.MustHold(t, u != nil, "%s is not a user", login.Name)
		var may []string
		for column, value := range u {
			if value == "true" && column != "active" {
				may = append(may, column)
			}
		}
		slices.Sort(may)
		got = append(got, fmt.Sprint(strings.SplitN(u["key"], "-", 2)[0], " ", login.Kind, " ", may))
	}
	want := []string{
		"admin staff [admin can_api]",
		"office staff [can_add_events can_add_notes can_api edit_all_events privileged]",
		"transport staff [can_add_events can_add_notes can_api]",
		"teacher staff [can_add_events can_add_notes can_api]",
		"pupil pupil [can_api]",
		"script staff [can_api can_su]",
		"guest guest [can_api]",
	}
	valuetest.Equal(t, want, got)
	teacher, pupil := summary.Logins[3].Element, summary.Logins[4].Element
	lessons := 0
	for _, e := range read(t, dir, bundle.Events) {
		if e["category"] == "lesson" && e["starts_at"] > "2026-09" &&
			slices.Contains(strings.Split(e["elements"], ";"), teacher) {
			lessons++
		}
	}
	if lessons == 0 || !strings.HasPrefix(pupil, "Pupil:") {
		t.Errorf("the teacher %s has %d lessons in the last year, the pupil is %s", teacher, lessons, pupil)
	}
}

func TestSchoolHasWhatTheProductIsFor(t *testing.T) {
	dir, _ := generate(t, options(100, 1, 1))
	count := map[string]int{}
	for _, e := range read(t, dir, bundle.Events) {
		count[e["category"]]++
		switch {
		case e["all_day"] == "true":
			count["all-day"]++
		case e["starts_at"] == e["ends_at"]:
			count["of no length"]++
		case e["starts_at"][:10] != e["ends_at"][:10]:
			count["over midnight"]++
		}
		if strings.Count(e["elements"], "Group:minibuses") == 2 {
			count["two minibuses"]++
		}
		if strings.Contains(e["elements"], "Property:calendar") {
			count["in the public calendar"]++
		}
	}
	for _, what := range []string{"lesson", "assembly", "fixture", "trip", "meeting", "duty", "exam", "evening",
		"holiday", "inset", "works", "all-day", "of no length", "over midnight", "two minibuses",
		"in the public calendar"} {
		valuetest.Holds(t, count[what] != 0, "no event is %s", what)
	}
	names := ""
	for _, p := range append(read(t, dir, bundle.Pupils), read(t, dir, bundle.Staff)...) {
		names += p["forename"] + p["surname"]
	}
	if !strings.ContainsAny(names, "éèøłñüçğışŞİ") || !strings.Contains(names, "'") {
		t.Error("no name has an accent or an apostrophe")
	}
	var administers []string
	for _, a := range read(t, dir, bundle.Administrators) {
		administers = append(administers, a["element"]+" "+a["user"])
	}
	diff := cmp.Diff([]string{"Property:calendar office", "Location:Theatre office", "Group:minibuses transport"},
		administers)
	valuetest.Holds(t, diff == "", diff)
}

func TestGenerateSaysWhatItCannotDo(t *testing.T) {
	for _, o := range []demo.Options{options(9, 1, 1), options(20001, 1, 1), options(10, 0, 1), options(10, 21, 1),
		{Pupils: 10, Years: 1, LastYear: 1989}, district(101, 10), district(-1, 10), district(3, 7000)} {
		errortest.Some(t, errortest.Of(demo.Generate(t.TempDir(), o)), "%+v is taken", o)
	}
	dir := t.TempDir()
	kept := filepath.Join(dir, "staff.csv")
	errortest.None(t, os.WriteFile(kept, []byte("a real school"), 0o600))
	errortest.Says(t, errortest.Of(demo.Generate(dir, options(10, 1, 1))), "is not empty", "folder in use")
	if text, err := os.ReadFile(kept); err != nil || string(text) != "a real school" {
		t.Errorf("%q, %v", text, err)
	}
}

// district are the options of several schools of one year.
func district(schools, pupils int) demo.Options {
	return demo.Options{Pupils: pupils, Years: 1, Schools: schools, Seed: 1, LastYear: demo.DefaultLastYear}
}

// The first school has the events of the only one, and the others have their own.
func TestDistrict_EachSchoolIsOneOfItsOwn(t *testing.T) {
	dir, sum := generate(t, district(3, 30))
	alone, only := generate(t, options(30, 1, 1))
	var events [4][]string
	for _, line := range lines(t, dir, bundle.Events) {
		for n := 1; n <= 3; n++ {
			if prefix := fmt.Sprintf("s%d-", n); strings.HasPrefix(line, prefix) {
				events[n] = append(events[n], strings.ReplaceAll(line, prefix, ""))
			}
		}
	}
	valuetest.List(t, events[1], lines(t, alone, bundle.Events)[1:],
		"the events of the first school, and of the only one")
	for n, same := range [][2][]string{{events[1], events[2]}, {events[1], events[3]}, {events[2], events[3]}} {
		if len(same[0]) == 0 || slices.Equal(same[0], same[1]) {
			t.Errorf("pair %d: %d events, the same in both schools", n, len(same[0]))
		}
	}
	if total := len(events[1]) + len(events[2]) + len(events[3]); total != sum.Events || sum.Pupils != 90 ||
		sum.Lessons <= only.Lessons || sum.Commitments <= only.Commitments || sum.Requests <= only.Requests {
		t.Errorf("%d events, and in the summary %+v", total, sum)
	}
}

// lines returns the lines of a file. No cell of an event has a line break.
func lines(t *testing.T, dir string, kind bundle.Kind) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, kind.File()))
	errortest.None(t, err)
	return strings.Split(strings.TrimSpace(string(text)), "\r\n")
}

// All that is current belongs to its school on a day of the last year, directly or through groups, and nothing
// belongs to two; no event has anything of another school.
func TestDistrict_EverythingBelongsToItsSchool(t *testing.T) {
	const today = "2026-11-23"
	o := district(3, 30)
	o.Years = 2
	dir, _ := generate(t, o)
	members := map[string][]string{}
	for _, m := range read(t, dir, bundle.Memberships) {
		if m["first_day"] <= today && (m["last_day"] == "" || today <= m["last_day"]) {
			group := "Group:" + m["group"]
			members[group] = append(members[group], m["member"])
		}
	}
	schools := map[string]int{}
	var groups []map[string]string
	for _, g := range read(t, dir, bundle.Groups) {
		if g["school"] == "true" {
			groups = append(groups, g)
		}
	}
	valuetest.MustHold(t, len(groups) == 3 && groups[0]["name"] != groups[1]["name"], "the schools are %v", groups)
	for n, g := range groups {
		valuetest.MustSame(t, g["key"], fmt.Sprintf("s%d-own", n+1), "school %d is %v", n+1, g)
		belongs := map[string]bool{}
		for open := []string{"Group:" + g["key"]}; len(open) > 0; open = open[1:] {
			if !belongs[open[0]] {
				belongs[open[0]] = true
				open = append(open, members[open[0]]...)
			}
		}
		for reference := range belongs {
			valuetest.Has(t, reference, fmt.Sprintf(":s%d-", n+1), "belongs to %s", g["name"])
			schools[reference]++
		}
	}
	count := 0
	for kind, of := range map[bundle.Kind]string{bundle.Staff: "Staff", bundle.Pupils: "Pupil",
		bundle.Locations: "Location", bundle.Groups: "Group", bundle.Properties: "Property",
		bundle.Services: "Service", bundle.Subjects: "Subject"} {
		for _, row := range read(t, dir, kind) {
			reference := of + ":" + row["key"]
			if current := row["current"] == "true"; current && schools[reference] != 1 {
				t.Errorf("%s (%s) belongs to %d schools", reference, row["name"], schools[reference])
			}
			count++
		}
	}
	valuetest.Holds(t, count >= 300, "%d elements were compared", count)
	for _, e := range read(t, dir, bundle.Events) {
		school, _, _ := strings.Cut(e["key"], "-")
		for _, reference := range strings.Split(e["elements"], ";") {
			valuetest.Has(t, reference, ":"+school+"-", "%s has", e["key"])
		}
	}
}

func TestDistrict_LoginsAreOfEachSchool(t *testing.T) {
	dir, sum := generate(t, district(3, 30))
	users := map[string]map[string]string{}
	emails := map[string]string{}
	for _, u := range read(t, dir, bundle.Users) {
		users[u["uuid"]] = u
		if other, found := emails[u["email"]]; found {
			t.Errorf("%s and %s have the same address", u["key"], other)
		}
		emails[u["email"]] = u["key"]
	}
	schools := map[string]int{}
	for i, login := range sum.Logins {
		u := users[login.UUID]
		valuetest.MustHold(t, u != nil && u["element"] == login.Element, "%+v is not a user of the bundle", login)
		if (u["admin"] == "true") != (i == 0) || (login.School == "") != (i == 0) {
			t.Errorf("%d: %+v, %v", i, login, u)
		}
		valuetest.Same(t, strings.HasSuffix(login.May, ", administer the school"), u["admin_of"] != "",
			"%+v administers %q", login, u["admin_of"])
		schools[login.School]++
	}
	administers := map[string]string{}
	for _, u := range users {
		if of := u["admin_of"]; of != "" {
			administers[u["key"]] = "Group:" + of
		}
	}
	for n := range 3 {
		group := fmt.Sprintf("Group:s%d-own", n+1)
		if administers[fmt.Sprintf("s%d-admin", n+1)] != group || len(administers) != 3 {
			t.Errorf("the head of school %d does not administer %s alone: %v", n+1, group, administers)
		}
	}
	valuetest.Holds(t, len(schools) == 4 && schools["Ashdown Park School"] == 7, "logins by school: %v", schools)
}
