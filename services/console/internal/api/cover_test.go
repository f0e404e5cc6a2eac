package api

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestCover_ALessonIsGivenToSomebodyWhoIsFree(t *testing.T) {
	s := newBooker(t)
	staff := func(names ...string) (all []int64) {
		var rows []map[string]any
		for _, name := range names {
			rows = append(rows, map[string]any{"key": name + s.name, "forename": name, "surname": s.name,
				"initials": name[:2]})
		}
		made := s.admin.Import(t, "staff", rows...)
		for _, name := range names {
			all = append(all, made[name+s.name])
		}
		return all
	}
	ids := staff("Hugo", "Kim", "Doreen")
	hugo, kim, doreen := ids[0], ids[1], ids[2]
	pupil := s.admin.Import(t, "pupils", map[string]any{"key": s.name, "forename": "Ann", "surname": s.name})[s.name]
	s.admin.Import(t, "groups", map[string]any{"key": "maths" + s.name, "name": "Maths " + s.name})
	var members []map[string]any
	for _, member := range []string{"Staff:Hugo" + s.name, "Staff:Doreen" + s.name} {
		members = append(members, map[string]any{"key": "Group:maths" + s.name + "/" + member,
			"group": "maths" + s.name, "member": member, "spans": []any{map[string]any{"first_day": "2020-01-01"}}})
	}
	s.admin.Import(t, "memberships", members...)
	s.kind = s.admin.Import(t, "eventcategories", map[string]any{"key": "l" + s.name, "name": "Lesson " + s.name,
		"busy": true, "clash_check": true})["l"+s.name]
	book := func(title, from, to string, elements ...int64) int64 {
		var made servicetest.Booking
		s.admin.Post(t, "/api/events", map[string]any{"event": map[string]any{"body": title, "category": s.kind,
			"starts_at_text": "2033-02-01 " + from, "ends_at_text": "2033-02-01 " + to}, "elements": elements,
			"clashes": "allow"}).Must(t, http.StatusOK).Decode(t, &made)
		return made.Event.ID
	}
	s.event = book("Algebra", "09:00", "10:00", hugo, pupil)
	book("Museum", "09:30", "12:00", hugo, pupil)
	book("Drama", "09:00", "10:00", kim)
	s.admin.Post(t, "/api/admin/clashes", map[string]any{"start_date": "2033-02-01", "end_date": "2033-02-01"}).
		Must(t, http.StatusOK)

	day := "/cover?date=2033-02-01"
	page := s.open(day, 200, "Cover on Tuesday 1 February 2033", fmt.Sprintf("who=%d\">", hugo))
	valuetest.Lacks(t, page, fmt.Sprintf("who=%d", kim), "Kim is at one thing, and listed as at two")
	s.open(day, 200, "pupils=1")
	s.open(day+"&pupils=1", 200, fmt.Sprintf(`href="/events/%d">Algebra`, s.event), "1 of 1 pupils", "Museum")
	s.open("/cover?date=2033-02-02&pupils=1", 200, "All pupils are where they are expected.")
	page = s.open(fmt.Sprintf("%s&who=%d", day, hugo), 200, "Algebra", "also at Museum", "Ann "+s.name)
	offered := values(page, "in")
	if len(offered) == 0 || offered[0] != id(doreen) || strings.Contains(fmt.Sprint(offered), id(kim)) {
		t.Errorf("offered are %v, and not first Doreen, %d", offered, doreen)
	}
	swap := func(in int64) url.Values {
		return url.Values{"date": {"2033-02-01"}, "who": {id(hugo)}, "event": {id(s.event)}, "out": {id(hugo)},
			"in": {id(in)}}
	}
	before := s.rooms(t)
	s.send("/cover", swap(kim), 409, "booked in the meantime")
	valuetest.Same(t, s.rooms(t), before, "refused, it has")
	at := s.send("/cover", swap(doreen), 200, "The lesson is covered.")
	s.send("/cover", swap(doreen), 409, "changed meanwhile", "Museum") // of two clicks
	if got := s.rooms(t); strings.Contains(got, id(hugo)) || !strings.Contains(got, id(doreen)) {
		t.Errorf("covered, it has %s", got)
	}
	s.undo(t, at, 200)
	if got := s.rooms(t); !strings.Contains(got, id(hugo)) || strings.Contains(got, id(doreen)) {
		t.Errorf("undone, it has %s", got)
	}
	s.send("/cover", url.Values{"event": {"x"}, "out": {"1"}, "in": {"2"}}, 400)
	never := swap(doreen)
	never.Set("date", "never")
	s.send("/cover", never, 400)
	if got := s.rooms(t); !strings.Contains(got, id(hugo)) || strings.Contains(got, id(doreen)) {
		t.Errorf("refused for its date, it has %s", got)
	}

	// What reads Busy to the visitor keeps none of the other lessons from it.
	s.kind = s.admin.Import(t, "eventcategories", map[string]any{"key": "x" + s.name, "name": "Confidential " + s.name,
		"busy": true, "confidential": true})["x"+s.name]
	book("Interview", "14:00", "15:00", hugo)
	office := signedInAs(t, map[string]any{"edit_all_events": true})
	page = office.open(fmt.Sprintf("%s&who=%d", day, hugo), 200, "Algebra", "Museum", "Busy")
	valuetest.Lacks(t, page, "Interview", "the page has what is hidden")

	// Anyone who may not change the lesson was offered buttons that are refused.
	page = signedInAs(t, nil).open(fmt.Sprintf("%s&who=%d", day, hugo), 200, "Free then: Do - Doreen")
	valuetest.Lacks(t, page, `name="in"`, "the page of one who may not swap")

	// The page said that the lesson has someone else, of a person who was only requested.
	deciding := uuid.NewString()
	decider := s.admin.Import(t, "users", map[string]any{"key": s.name, "name": "Decides", "can_api": true,
		"uuid": deciding, "email": s.name + "@school.example"})[s.name]
	s.admin.Put(t, fmt.Sprintf("/api/admin/elements/%d/administrators/%d", doreen, decider), nil).Must(t, http.StatusOK)
	at = office.send("/cover", swap(doreen), 200, "covered once that is confirmed")

	// Undo took off what had been confirmed since, and came after a swap whose way back would lose a decision.
	entries := fmt.Sprintf("/api/elements/%d/commitments?start_date=2033-02-01", doreen)
	var listed struct{ Commitments []struct{ ID int64 } }
	s.admin.Get(t, entries).Must(t, http.StatusOK).Decode(t, &listed)
	shared.Get(t).Login(t, deciding).Patch(t, fmt.Sprintf("/api/commitments/%d", listed.Commitments[0].ID),
		map[string]any{"commitment": map[string]any{"status": "confirmed"}}).Must(t, http.StatusOK)
	before = s.rooms(t)
	office.undo(t, at, 409, "changed meanwhile")
	valuetest.Same(t, s.rooms(t), before, "decided on, it has")
	away := swap(staff("Zita")[0])
	away.Set("out", id(doreen))
	page = office.open(office.send("/cover", away, 200), 200, "The lesson is covered.")
	valuetest.Holds(t, !strings.Contains(page, ">Undo<"), "there is a way back")
	s.open("/cover?date=never", 400)
	s.open("/cover?date=2033-02-02&who=1", 200, "No one is.")

	// Lessons of someone who had left were on no page, so no one covered them.
	valuetest.Lacks(t, s.open(day, 200), "Have left", "everyone is current")
	s.admin.Delete(t, fmt.Sprintf("/api/admin/elements/%d", kim)).Must(t, http.StatusOK)
	link := fmt.Sprintf("who=%d\">", kim)
	s.open(day, 200, "Have left, but are still needed", link)
	valuetest.Lacks(t, office.open(day, 200), link, "only administrators list those who have left")
	s.open(fmt.Sprintf("%s&who=%d", day, kim), 200, "Drama", "Free then")

	// The page read the timetables of all who had ever left, and each read was recorded.
	left := staff("Una", "Vic")
	book("Latin", "09:00", "10:00", left[1])
	for _, person := range left {
		s.admin.Delete(t, fmt.Sprintf("/api/admin/elements/%d", person)).Must(t, http.StatusOK)
	}
	s.open(day, 200, fmt.Sprintf("who=%d\">", left[1]))
	reads := func(of int64) int {
		var log struct{ Entries []struct{} }
		s.admin.Get(t, fmt.Sprintf("/api/admin/access/elements?element=%d", of)).Must(t, http.StatusOK).Decode(t, &log)
		return len(log.Entries)
	}
	timetest.Eventually(t, "the read of a timetable is recorded", 30*time.Second,
		func() bool { return reads(left[1]) > 0 })
	valuetest.Same(t, reads(left[0]), 0, "reads of one who left without lessons on the day")
}

// An all-day deadline of the department made every member wanted in two places, and an event counted once for each way
// in which a person is committed to it.
func TestCover_OnlyWhatMakesBusyClashesAndEachEventCountsOnce(t *testing.T) {
	commitment := func(event int64, from, to string, busy bool) api.ListedCommitment {
		at := func(clock string) string { return "2033-02-01T" + clock + ":00.000+00:00" }
		return api.ListedCommitment{Event: api.EventSummary{ID: event, StartsAt: at(from), EndsAt: at(to), Busy: busy}}
	}
	lesson, deadline := commitment(1, "09:00", "10:00", true), commitment(2, "00:00", "23:00", false)
	meeting, bell := commitment(3, "09:30", "11:00", true), commitment(4, "09:00", "09:00", true)
	at := timetable{Element: api.Element{ID: 7},
		Commitments: []api.ListedCommitment{lesson, deadline, meeting, meeting, bell}}
	for event, want := range map[*api.ListedCommitment][]int64{
		&lesson: {3, 4}, &deadline: nil, &meeting: {1}, &bell: {1},
	} {
		var got []int64
		for _, e := range at.also(event.Event) {
			got = append(got, e.ID)
		}
		valuetest.Holds(t, slices.Equal(got, want), "event %d clashes with %v, want %v", event.Event.ID, got, want)
	}
	valuetest.Same(t, coverBody{Staff: []timetable{at}}.AtWork(7), 4, "events of the day")
}

// In a district of more than 1,000 staff, the pages for cover and rooms were errors.
func TestCover_ALargeDistrictSeesItsOwnSchool(t *testing.T) {
	s := servicetest.Start(t, servicetest.Options{Console: true, NoRace: true})
	admin := s.Admin(t)
	ids := map[string]int64{}
	for first := range 4 {
		var rows []map[string]any
		for n := first * 300; n < first*300+300; n++ {
			rows = append(rows, map[string]any{"key": id(int64(n)), "initials": fmt.Sprint("T", n), "forename": "Una",
				"surname": fmt.Sprint("No", n)})
		}
		maps.Copy(ids, admin.Import(t, "staff", rows...))
	}
	admin.Import(t, "groups", map[string]any{"key": "north", "name": "North", "school": true})
	for _, member := range []string{"Staff:1", "Staff:2"} {
		admin.Import(t, "memberships", map[string]any{"key": "Group:north/" + member, "group": "north",
			"member": member, "spans": []any{map[string]any{"first_day": "2020-01-01"}}})
	}
	kind := admin.Import(t, "eventcategories", map[string]any{"key": "l", "name": "Lesson", "busy": true})["l"]
	admin.Post(t, "/api/events", map[string]any{"event": map[string]any{"body": "Algebra", "category": kind,
		"starts_at_text": "2033-02-01 09:00", "ends_at_text": "2033-02-01 10:00"},
		"elements": []int64{ids["2"], ids["900"]}}).Must(t, http.StatusOK)
	for element, code := range map[any]int{"Staff:1": 200, nil: 400} {
		key, b := uuid.NewString(), visitor(t)
		admin.Import(t, "users", map[string]any{"key": key, "name": "Cover", "email": key + "@school.example",
			"uuid": key, "element": element, "can_api": true, "edit_all_events": true})
		b.base = s.URL
		b.send("/sign-in", url.Values{"uuid": {key}}, 200)
		for _, path := range []string{"/cover?date=2033-02-01", "/rooms?type=Staff&date=2033-02-01"} {
			page := b.open(path, code)
			valuetest.Same(t, strings.Contains(page, "No2"), code == 200, "%s has the visitor's school", path)
			valuetest.Lacks(t, page, "No900", path+" has another school's")
			if code != 200 {
				valuetest.Has(t, page, "Ask your administrator to give your account its person")
			}
		}
	}

	// They were errors to the district's administrator, who belongs to no school.
	b, school := visitor(t), fmt.Sprintf("school=%d", admin.Import(t, "groups",
		map[string]any{"key": "north", "name": "North", "school": true})["north"])
	b.base = s.URL
	b.send("/sign-in", url.Values{"uuid": {s.AdminUUID}}, 200)
	for _, path := range []string{"/cover?date=2033-02-01", "/rooms?type=Staff&date=2033-02-01"} {
		b.open(path, 200, ">North</option>", `name="date" value="2033-02-01"`)
		page := b.open(path+"&"+school, 200, "No2", "date=2033-02-02&amp;"+school)
		valuetest.Lacks(t, page, "No900", path+" has another school's")
	}
	page := b.open(fmt.Sprintf("/cover?date=2033-02-01&who=%d&%s", ids["2"], school), 200)
	valuetest.MustHold(t, len(values(page, "in")) > 0, "no one is free in %s", page)
	at := b.send("/cover", url.Values{"date": {"2033-02-01"}, "who": {id(ids["2"])}, "out": {id(ids["2"])},
		"event": values(page, "event")[:1], "in": values(page, "in")[:1], "school": values(page, "school")[:1]}, 200,
		"The lesson is covered.")
	valuetest.Has(t, at, "&"+school)
	b.undo(t, at, 200, "No2")
}
