package demo_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/cmd/belfryctl/demo"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

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
	if len(groups) != 3 || groups[0]["name"] == groups[1]["name"] {
		t.Fatalf("the schools are %v", groups)
	}
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
	if count < 300 {
		t.Errorf("%d elements were compared", count)
	}
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
		if u == nil || u["element"] != login.Element {
			t.Fatalf("%+v is not a user of the bundle", login)
		}
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
	if len(schools) != 4 || schools["Ashdown Park School"] != 7 {
		t.Errorf("logins by school: %v", schools)
	}
}
