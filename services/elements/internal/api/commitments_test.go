package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

const may4 = "?start_date=2026-05-04"

func TestPart4_1_Rule04_CommitmentsDefaultToToday(t *testing.T) {
	s := newSchool(t)
	staff := s.staff(t, "A")
	london, err := time.LoadLocation("Europe/London")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().In(london)
	for n := -1; n <= 1; n++ {
		day := now.AddDate(0, 0, n).Format(time.DateOnly)
		s.event(t, fmt.Sprintf("day%+d", n), day+" 10:00", day+" 11:00", staff)
	}
	if got := s.commitments(t, staff, "").bodies(); got != "day+0" {
		t.Errorf("%q", got)
	}
	tomorrow := now.AddDate(0, 0, 1).Format(time.DateOnly)
	if got := s.commitments(t, staff, "?end_date="+tomorrow).bodies(); got != "day+0 day+1" { // decisions, part 3: only an end
		t.Errorf("to tomorrow: %q", got)
	}
}

func TestPart4_1_Rule05_OnlyStartDateIsThatDay(t *testing.T) {
	s := newSchool(t)
	staff := s.staff(t, "A")
	for _, day := range []string{"03", "04", "05"} {
		s.event(t, day, "2026-05-"+day+" 10:00", "2026-05-"+day+" 11:00", staff)
	}
	if got := s.commitments(t, staff, may4).bodies(); got != "04" {
		t.Errorf("%q", got)
	}
}

func TestPart4_1_Rule06_EndDateIsInclusive(t *testing.T) {
	s := newSchool(t)
	staff := s.staff(t, "A")
	for _, day := range []string{"03", "04", "05", "06"} {
		s.event(t, day, "2026-05-"+day+" 23:00", "2026-05-"+day+" 23:30", staff)
	}
	if got := s.commitments(t, staff, may4+"&end_date=2026-05-05").bodies(); got != "04 05" {
		t.Errorf("%q", got)
	}
}

func TestPart4_1_Rule07_ThroughAGroupTheElementIsTheGroup(t *testing.T) {
	s := newSchool(t)
	ann, set := s.pupil(t, "Ann"), s.group(t, "set")
	s.member(t, set, ann, "", "")
	event := s.event(t, "lesson", "2026-05-04 09:00", "2026-05-04 10:00", set)
	a := s.Get(t, path("/api/elements/%d/commitments", ann)+may4)
	var reply struct {
		Commitments []struct {
			ID      int64
			Element struct {
				EntityID int64 `json:"entity_id"`
			}
		}
	}
	a.Decode(t, &reply)
	if len(reply.Commitments) != 1 {
		t.Fatal(a.Body)
	}
	a.Want(t, http.StatusOK, path(`{"status":"OK","commitments":[{"id":%d,"status":"uncontrolled","element":{"id":%d,"name":"%s set","entity_type":"Group","entity_id":%d,"valid":true},`+
		`"event":{"id":%d,"body":"lesson","starts_at":"2026-05-04T09:00:00.000+01:00","ends_at":"2026-05-04T10:00:00.000+01:00","all_day":false,"valid":true},"valid":true}]}`,
		reply.Commitments[0].ID, set, s.mark, reply.Commitments[0].Element.EntityID, event))
}

func TestPart4_1_Rule08_DirectCommitmentsHaveNoElement(t *testing.T) {
	s := newSchool(t)
	ann := s.pupil(t, "Ann")
	event := s.event(t, "exam", "2026-05-04 09:00", "2026-05-04 10:00", ann)
	commitment := s.commitments(t, ann, may4).Commitments[0].ID
	s.Get(t, path("/api/elements/%d/commitments", ann)+may4).Want(t, http.StatusOK, path(`{"status":"OK","commitments":[{"id":%d,"status":"uncontrolled",`+
		`"event":{"id":%d,"body":"exam","starts_at":"2026-05-04T09:00:00.000+01:00","ends_at":"2026-05-04T10:00:00.000+01:00","all_day":false,"valid":true},"valid":true}]}`, commitment, event))
}

func TestDecisionsPart3_DirectAndThroughAGroupAreBothListed(t *testing.T) {
	s := newSchool(t)
	ann, set := s.pupil(t, "Ann"), s.group(t, "set")
	s.member(t, set, ann, "", "")
	s.event(t, "trip", "2026-05-04 09:00", "2026-05-04 10:00", set, ann)
	if got, want := s.commitments(t, ann, may4).bodies(), fmt.Sprintf("trip@%d trip", set); got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestPart4_1_Rule09_IncludeAddsStaffAndLocations(t *testing.T) {
	s := newSchool(t)
	ann, set := s.pupil(t, "Ann"), s.group(t, "set")
	jrs, xyz, inside := s.staff(t, "JRS"), s.staff(t, "XYZ"), s.staff(t, "IN")
	hall := s.add(t, "locations", "H", fields{"name": "Hall", "short_name": "H1"})
	field := s.add(t, "locations", "F", fields{"name": "Field"})
	s.member(t, set, ann, "", "")
	s.member(t, set, inside, "", "") // not directly committed
	s.event(t, "lesson", "2026-05-04 09:00", "2026-05-04 10:00", xyz, field, set, hall, jrs)
	s.event(t, "alone", "2026-05-04 11:00", "2026-05-04 12:00", set)

	for query, want := range map[string]string{
		"&include=staff":                      `XYZ,JRS -| -`,
		"&include=locations":                  "- " + s.mark + " Field,H1|- ",
		"&include=staff,locations":            "XYZ,JRS " + s.mark + " Field,H1| ",
		"&include=locations,unknown,%20staff": "XYZ,JRS " + s.mark + " Field,H1| ",
		"&include=unknown":                    "- -|- -",
		"&include=":                           "- -|- -",
		"":                                    "- -|- -",
	} {
		var got []string
		for _, c := range s.commitments(t, ann, may4+query).Commitments {
			text := func(p *string) string {
				if p == nil {
					return "-"
				}
				return *p
			}
			got = append(got, text(c.Event.Staff)+" "+text(c.Event.Locations))
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q, not %q", query, strings.Join(got, "|"), want)
		}
	}
	a := s.Get(t, path("/api/elements/%d/commitments", ann)+may4+"&include=locations,staff")
	if !strings.Contains(a.Body, `"all_day":false,"staff":"XYZ,JRS","locations":"`+s.mark+` Field,H1","valid":true`) {
		t.Errorf("order of keys: %s", a.Body)
	}
}

func TestPart4_1_Rule10_RequestsAreOfResourceGroupsOnly(t *testing.T) {
	s := newSchool(t)
	buses := s.add(t, "groups", "B", fields{"name": "Minibuses", "resource": true})
	event := s.event(t, "fixture", "2026-05-04 09:00", "2026-05-04 10:00", buses, buses)
	s.event(t, "another day", "2026-05-05 09:00", "2026-05-05 10:00", buses)
	a := s.Get(t, path("/api/elements/%d/requests", buses)+may4)
	var reply struct{ Requests []struct{ ID int64 } }
	a.Decode(t, &reply)
	if len(reply.Requests) != 1 {
		t.Fatal(a.Body)
	}
	a.Want(t, http.StatusOK, path(`{"status":"OK","requests":[{"id":%d,"quantity":2,"num_allocated":0,"event":{"id":%d,"body":"fixture","starts_at":"2026-05-04T09:00:00.000+01:00",`+
		`"ends_at":"2026-05-04T10:00:00.000+01:00","all_day":false,"valid":true},"valid":true}]}`, reply.Requests[0].ID, event))
	s.Get(t, path("/api/elements/%d/requests", buses)).Want(t, http.StatusOK, `{"status":"OK","requests":[]}`)

	for _, other := range []int64{s.group(t, "set"), s.staff(t, "A")} {
		a := s.Get(t, path("/api/elements/%d/requests", other))
		if a.Code != http.StatusMethodNotAllowed || a.Header.Get("Allow") == "" || !strings.HasPrefix(a.Body, `{"status":"Method not allowed"`) {
			t.Errorf("%d %v %s", a.Code, a.Header, a.Body)
		}
	}
}

func TestDecisionsPart3_BadDatesAreBadRequests(t *testing.T) {
	s := newSchool(t)
	buses := s.add(t, "groups", "B", fields{"name": "Minibuses", "resource": true})
	for _, query := range []string{
		"start_date=2026-02-30", "start_date=04-05-2026", "start_date=2026-5-4", "start_date=today", "start_date=2026-05-04T10:00",
		"end_date=2026-13-01", "start_date=2026-05-04&end_date=2026-05-03", "end_date=2000-01-01", "start_date=2026-05-04&end_date=x",
	} {
		for _, listing := range []string{"commitments", "requests"} {
			a := s.Get(t, path("/api/elements/%d/%s?%s", buses, listing, query))
			if a.Code != http.StatusBadRequest || !strings.HasPrefix(a.Body, `{"status":"Bad request"`) {
				t.Errorf("%s?%s: %d %s", listing, query, a.Code, a.Body)
			}
		}
	}
}

func TestDecisionsPart3_MembershipCountsOnTheDaysOfTheEvent(t *testing.T) {
	s := newSchool(t)
	ann, set, year := s.pupil(t, "Ann"), s.group(t, "set"), s.group(t, "year")
	s.member(t, set, ann, "2026-05-04", "2026-05-06")
	s.member(t, year, set, "2026-05-06", "")
	for _, day := range []string{"03", "04", "06", "07"} {
		s.event(t, "s"+day, "2026-05-"+day+" 10:00", "2026-05-"+day+" 11:00", set)
		s.event(t, "y"+day, "2026-05-"+day+" 12:00", "2026-05-"+day+" 13:00", year)
	}
	s.event(t, "camp", "2026-05-02 12:00", "2026-05-04 09:00", set) // reaches the first day
	s.event(t, "late", "2026-05-03 12:00", "2026-05-04 00:00", set) // ends at the midnight before it

	want := path("camp@%d s04@%d s06@%d y06@%d", set, set, set, year)
	if got := s.commitments(t, ann, "?start_date=2026-05-01&end_date=2026-05-10").bodies(); got != want {
		t.Errorf("%q, not %q", got, want)
	}
	if got := s.commitments(t, ann, "?start_date=2026-05-03").bodies(); got != "" { // the camp is on, but Ann is no member yet
		t.Errorf("on the day before: %q", got)
	}
	if got, want := s.commitments(t, set, "?start_date=2026-05-07").bodies(), path("s07 y07@%d", year); got != want {
		t.Errorf("of the set: %q, not %q", got, want)
	}
}

func TestDecisionsPart3_GroupsNestToAnyDepthAndCyclesAreHarmless(t *testing.T) {
	s := newSchool(t)
	ann := s.pupil(t, "Ann")
	inner := ann
	var chain []int64
	for i := range 8 {
		outer := s.group(t, fmt.Sprint("g", i))
		s.member(t, outer, inner, "", "")
		chain = append(chain, outer)
		inner = outer
	}
	s.member(t, chain[0], inner, "", "") // the innermost group has the outermost in it
	s.event(t, "assembly", "2026-05-04 10:00", "2026-05-04 11:00", inner)
	for _, query := range []string{may4, "?start_date=2026-01-01&end_date=2026-12-31"} {
		if got, want := s.commitments(t, ann, query).bodies(), path("assembly@%d", inner); got != want {
			t.Errorf("%s: %q, not %q", query, got, want)
		}
	}
	if got, want := s.commitments(t, chain[3], may4).bodies(), path("assembly@%d", inner); got != want {
		t.Errorf("of a group in the cycle: %q, not %q", got, want)
	}
	if got := s.commitments(t, inner, may4).bodies(); got != "assembly" {
		t.Errorf("of the outermost group itself: %q", got)
	}
}

func TestDecisionsPart3_OrderIsStartThenEndThenCommitment(t *testing.T) {
	s := newSchool(t)
	ann, set := s.pupil(t, "Ann"), s.group(t, "set")
	s.member(t, set, ann, "", "")
	s.event(t, "late", "2026-05-04 11:00", "2026-05-04 12:00", ann)
	s.event(t, "long", "2026-05-04 09:00", "2026-05-04 12:00", set)
	s.event(t, "short", "2026-05-04 09:00", "2026-05-04 10:00", ann)
	s.event(t, "again", "2026-05-04 09:00", "2026-05-04 10:00", set)
	if got, want := s.commitments(t, ann, may4).bodies(), path("short again@%d long@%d late", set, set); got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestDecisionsPart3_AnEventOfNoLengthIsInTheRangeFromMidnightToMidnight(t *testing.T) {
	s := newSchool(t)
	ann := s.pupil(t, "Ann")
	s.event(t, "start", "2026-05-04 00:00", "2026-05-04 00:00", ann)
	s.event(t, "end", "2026-05-05 00:00", "2026-05-05 00:00", ann)
	if got := s.commitments(t, ann, may4).bodies(); got != "start" {
		t.Errorf("%q", got)
	}
}

func TestDecisionsPart1_EventsAwayIsUnavailableAndNeverHalfAnAnswer(t *testing.T) {
	alone := servicetest.Start(t, servicetest.Options{Services: []string{"identity", "elements"}, Env: map[string]string{"BELFRY_EVENTS_URL": "http://127.0.0.1:1"}})
	admin := alone.Admin(t)
	ann := admin.Import(t, "pupils", fields{"key": "1", "forename": "Ann", "surname": "Lee"})["1"]
	a := admin.Get(t, path("/api/elements/%d/commitments", ann))
	if a.Code != http.StatusServiceUnavailable || !strings.HasPrefix(a.Body, `{"status":"Service unavailable"`) {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	alone.Stop(t, "identity")
	if a := admin.Get(t, path("/api/elements/%d", ann)); a.Code != http.StatusOK { // sessions are in Redis
		t.Errorf("a detail without identity: %d %s", a.Code, a.Body)
	}
	if a := admin.Put(t, path("/api/admin/elements/%d/administrators/1", ann), nil); a.Code != http.StatusServiceUnavailable {
		t.Errorf("an administrator without identity: %d %s", a.Code, a.Body)
	}
}
