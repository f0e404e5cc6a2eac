package endtoend_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/cmd/belfryctl/demo"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// school is a bundle as plain lists, for a slow and simple model of each element's day.
type school struct {
	zone        wiretime.Zone
	names       map[string]string // of groups, by reference
	memberships []bundle.MembershipRecord
	events      []bundle.EventRecord
}

func readSchool(t *testing.T, b *bundle.Bundle, zone wiretime.Zone) school {
	t.Helper()
	s := school{zone: zone, names: map[string]string{}}
	for _, kind := range []bundle.Kind{bundle.Groups, bundle.Memberships, bundle.Events} {
		for row, err := range b.Rows(kind) {
			errortest.None(t, err)
			switch r := row.Record.(type) {
			case bundle.GroupRecord:
				s.names["Group:"+r.Key] = r.Name
			case bundle.MembershipRecord:
				s.memberships = append(s.memberships, r)
			case bundle.EventRecord:
				s.events = append(s.events, r)
			default:
				t.Fatalf("a %T among the %s", r, kind)
			}
		}
	}
	return s
}

// groups returns the groups that an element is in on a day, nested ones included.
func (s school) groups(element, day string) map[string]bool {
	found := map[string]bool{}
	for queue := []string{element}; len(queue) > 0; queue = queue[1:] {
		for _, m := range s.memberships {
			group := "Group:" + m.Group
			if m.Member != queue[0] || found[group] {
				continue
			}
			for _, span := range m.Spans {
				if (span.FirstDay == nil || *span.FirstDay <= day) && (span.LastDay == nil || *span.LastDay >= day) {
					found[group] = true
					queue = append(queue, group)
					break
				}
			}
		}
	}
	return found
}

// day returns the events of an element on a day, as "start title" and the group, in the order of the listing except
// for ids.
func (s school) day(element, day string) []string {
	groups := s.groups(element, day)
	var lines []string
	for _, e := range s.events {
		first, last := e.StartsAt[:10], e.EndsAt[:10]
		// the end is exclusive
		if e.EndsAt > e.StartsAt && (e.AllDay != nil && *e.AllDay || strings.HasSuffix(e.EndsAt, "00:00")) {
			last = before(last)
		}
		if first > day || last < day {
			continue
		}
		for _, reference := range e.Elements {
			switch {
			case reference == "Group:minibuses": // a request is no commitment
			case reference == element:
				lines = append(lines, line(e.StartsAt, e.Body, ""))
			case groups[reference]:
				lines = append(lines, line(e.StartsAt, e.Body, s.names[reference]))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func before(day string) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return err.Error()
	}
	return t.AddDate(0, 0, -1).Format(time.DateOnly)
}

func line(starts, body, through string) string {
	if len(starts) == 10 {
		starts += " 00:00"
	}
	return fmt.Sprintf("%s %s (%s)", starts, body, through)
}

func TestEverybodysDayIsComplete(t *testing.T) {
	t.Parallel()
	system := servicetest.Start(t, servicetest.Options{})
	zone := timetest.London(t)
	dir := filepath.Join(t.TempDir(), "school")
	errortest.None(t, errortest.Of(demo.Generate(dir, demo.Options{Pupils: 60, Years: 1, Seed: 3, LastYear: 2026})))
	b := loadAll(t, loggedIn(t, system.URL, system.AdminUUID), dir)
	model := readSchool(t, b, zone)
	admin := system.Admin(t)
	days := []string{"2026-09-07", "2026-10-25", "2026-11-11", "2026-11-25", "2026-12-01", "2027-01-20", "2027-03-28",
		"2027-05-20", "2027-06-15"}
	filled := map[string]int{}
	for _, entity := range []string{"Pupil", "Staff", "Location", "Service", "Property", "Group"} {
		for _, e := range elementsOf(t, admin, entity) {
			for _, day := range days {
				want := model.day(e.Key, day)
				got := listing(t, admin, e.ID, day)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (%s) on %s (-bundle +Belfry):\n%s", e.Key, e.Name, day, diff)
				}
				filled[entity] += len(want)
			}
		}
	}
	t.Logf("commitments compared: %v", filled)
	for _, entity := range []string{"Pupil", "Staff", "Location", "Service"} {
		if filled[entity] == 0 {
			t.Errorf("no %s has anything on any of the days: this proves nothing", entity)
		}
	}
}

type element struct {
	ID        int64
	Key, Name string
}

// elementsOf returns some elements of a type: the first ones, and every seventh.
func elementsOf(t *testing.T, admin *servicetest.Client, entity string) []element {
	t.Helper()
	var reply struct{ Elements []element }
	admin.Get(t, "/api/admin/elements?limit=1000&current=true&entity_type="+url.QueryEscape(entity)).Decode(t, &reply)
	var some []element
	for i, e := range reply.Elements {
		if i < 3 || i%7 == 0 {
			some = append(some, e)
		}
	}
	return some
}

func listing(t *testing.T, admin *servicetest.Client, id int64, day string) []string {
	t.Helper()
	var reply struct {
		Commitments []struct {
			Element *struct{ Name string }
			Event   struct {
				Body     string
				StartsAt string `json:"starts_at"`
			}
		}
	}
	answer := admin.Get(t, fmt.Sprintf("/api/elements/%d/commitments?start_date=%s", id, day))
	if err := json.Unmarshal([]byte(answer.Body), &reply); err != nil || answer.Code != 200 {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	var lines []string
	for _, c := range reply.Commitments {
		starts := strings.Replace(c.Event.StartsAt[:16], "T", " ", 1)
		through := ""
		if c.Element != nil {
			through = c.Element.Name
		}
		lines = append(lines, line(starts, c.Event.Body, through))
	}
	slices.Sort(lines)
	return lines
}
