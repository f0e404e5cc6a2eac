package api_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// onlookers are users who don't see everything of a school, and an admin, who does.
type onlookers struct {
	pupil, guest, staff, admin *servicetest.Client

	own, other, public int64 // the pupil, another one, and a public property
	room               int64
	lesson, care, wide int64 // categories: of all, a confidential one, and a school-wide one
	wideToo            int64 // confidential and school-wide
}

func (s school) onlookers(t *testing.T) onlookers {
	t.Helper()
	admin, key := system(t).Admin(t), uuid.NewString()
	o := onlookers{admin: admin}
	pupils := admin.Import(t, "pupils", map[string]any{"key": key, "forename": "Ina", "surname": "Own"},
		map[string]any{"key": key + "2", "forename": "Joel", "surname": "Other"})
	o.own, o.other = pupils[key], pupils[key+"2"]
	o.public = admin.Import(t, "properties",
		map[string]any{"key": key, "name": "Public " + key, "make_public": true})[key]
	o.room = admin.Import(t, "locations", map[string]any{"key": key, "name": "Room " + key})[key]
	categories := admin.Import(t, "eventcategories",
		map[string]any{"key": key, "name": key, "busy": true},
		map[string]any{"key": key + "c", "name": key + "c", "confidential": true},
		map[string]any{"key": key + "w", "name": key + "w", "schoolwide": true},
		map[string]any{"key": key + "x", "name": key + "x", "schoolwide": true, "confidential": true})
	o.lesson, o.care = categories[key], categories[key+"c"]
	o.wide, o.wideToo = categories[key+"w"], categories[key+"x"]
	o.pupil = enter(t, "kind", "pupil", "element", "Pupil:"+key, "can_add_events", true)
	o.guest = enter(t, "kind", "guest", "can_add_events", true)
	o.staff = enter(t, "can_add_events", true)
	return o
}

func TestDecisionsPart9_ACursorHoldsForItsUserAndItsQuestionAlone(t *testing.T) {
	s := loadSchool(t)
	o := s.onlookers(t)
	owner := s.as(t, "owner")
	mark := uuid.NewString()
	for n := range 4 {
		book(t, owner, map[string]any{"body": mark, "event_category_id": o.wide,
			"starts_at_text": fmt.Sprintf("2033-05-0%d 09:00", n+1)})
	}
	query := "/api/events?text=" + mark + "&limit=1"
	cursor := o.pupil.Get(t, query).Must(t, 200).Text(t, "next")
	valuetest.Lacks(t, cursor, ".", "the cursor is")
	for _, taken := range []string{
		query + "&after=" + cursor, "/api/events?after=" + cursor + "&limit=3&text=" + mark + "&category=",
	} {
		o.pupil.Get(t, taken).Must(t, 200)
	}
	refused := map[string]*servicetest.Client{
		query + "&after=" + cursor: o.guest,
		"/api/events?after=" + cursor + "&text=" + mark + "&start_date=2033-05-01": o.pupil,
		"/api/events?after=" + cursor + "&start_date=2033-05-01":                   o.pupil,
		"/api/commitments?after=" + cursor:                                         o.pupil,
		query + "&after=1989900000.1989900000.1.604800":                            o.pupil,
		query + "&after=" + cursor[1:]:                                             o.pupil, // more in package sealed
	}
	for path, who := range refused {
		if a := who.Get(t, path); a.Code != 400 || a.Text(t, "message") != "invalid cursor" {
			t.Errorf("%s: %d %s", path, a.Code, a.Body)
		}
	}
}

// The days that a series leaves out depend only on events that its maker sees. Before, a pupil learned by a dry run
// when the meetings about another pupil were.
func TestDecisionsPart9_ASeriesLooksOnlyAtEventsThatItsMakerSees(t *testing.T) {
	s := loadSchool(t)
	o := s.onlookers(t)
	owner := s.as(t, "owner")
	day := func(body string, category int64, date string, elements ...any) {
		book(t, owner, map[string]any{"body": body, "event_category_id": category, "starts_at_text": date + " 11:00",
			"ends_at_text": date + " 12:00"}, elements...)
	}
	day("Seen", o.lesson, "2027-01-05", o.own, o.public)
	day("Seen by all", o.wide, "2027-01-06")
	leaving := func(field string, category int64, body any) map[string]any {
		return s.ofSeries("Trial", []any{}, "rule", "FREQ=DAILY;COUNT=7", field,
			map[string]any{"event_category_id": category, "body": body})
	}
	const hidden = "Meeting about Joel"
	try := func() map[string]string {
		answers := map[string]string{}
		for name, who := range map[string]*servicetest.Client{"pupil": o.pupil, "guest": o.guest, "staff": o.staff} {
			for category, bodies := range map[int64][]any{
				o.lesson: {nil, hidden}, o.care: {nil, "Busy", hidden}, o.wideToo: {nil, "Busy"},
			} {
				if name == "staff" && category == o.lesson {
					continue // which it sees
				}
				for _, body := range bodies {
					for _, field := range []string{"during", "not_during"} {
						a := who.Post(t, "/api/events?dry_run=true", leaving(field, category, body))
						answers[fmt.Sprint(name, field, category, body)] = fmt.Sprint(a.Code, a.Body)
					}
				}
			}
		}
		return answers
	}
	before := try()
	for n, date := range []string{"2027-01-05", "2027-01-06", "2027-01-08"} {
		day(hidden, o.lesson, date, o.other, o.room)
		day(hidden, o.care, date, o.other, o.room)
		day(hidden, o.wideToo, date, o.public)
		day(fmt.Sprint("Other ", n), o.lesson, date)
	}
	valuetest.Equal(t, before, try())
	for _, of := range []int64{o.lesson, o.care} { // what was planted counts for who sees it
		made := o.admin.Post(t, "/api/events?dry_run=true", leaving("not_during", of, strings.ToLower(hidden)))
		valuetest.Same(t, made.Len(t, "series.left_out"), 3, "days that an admin's series leaves out: %s", made.Body)
	}
}

// A pupil that reads its own series is not shown the ids of the events for which days were left out, and staff are not
// shown which confidential events a series avoids: their title, or, of a whole category, their ids.
func TestDecisionsPart9_ASeriesTellsOfNoEventThatIsNotSeen(t *testing.T) {
	s := loadSchool(t)
	o := s.onlookers(t)
	owner := s.as(t, "owner")
	book(t, owner, map[string]any{"body": "Taken", "event_category_id": o.lesson, "starts_at_text": "2027-01-06 09:00",
		"ends_at_text": "2027-01-06 10:00"}, o.room)
	made := makeSeries(t, o.pupil, s.ofSeries("Own", []any{o.room}, "rule", "FREQ=DAILY;COUNT=3", "clashes", "skip"))
	a := o.pupil.Get(t, path("/api/series/%d", made.Series.ID)).Must(t, 200)
	if a.Len(t, "series.left_out") != 1 || a.At(t, "series.left_out.0.event_id") != "null" {
		t.Errorf("its maker reads %s", a.Body)
	}
	meeting := book(t, owner, map[string]any{"body": "Meeting about Joel", "event_category_id": o.care,
		"starts_at_text": "2027-01-06 11:00", "ends_at_text": "2027-01-06 12:00"}, o.other).Event.ID
	for _, calendar := range []map[string]any{
		{"event_category_id": o.care, "body": "Meeting about Joel"},
		{"event_category_id": o.care},
	} {
		made = makeSeries(t, o.admin, s.ofSeries("Club", []any{}, "rule", "FREQ=DAILY;COUNT=3",
			"not_during", calendar, "during", nil))
		for name, c := range map[string]*servicetest.Client{"staff": o.staff, "admin": o.admin} {
			a := c.Get(t, path("/api/series/%d", made.Series.ID)).Must(t, 200)
			if a.Has("series.not_during.0.eventcategory_id") != (name == "admin") || a.Len(t, "series.left_out") != 1 ||
				(a.At(t, "series.left_out.0.event_id") == fmt.Sprint(meeting)) != (name == "admin") {
				t.Errorf("%s reads %s", name, a.Body)
			}
		}
	}
}

// TestDecisionsPart9_ASearchByAGroupEndsWithTheMembership: a school-wide event was found by a group of it that the
// pupil had left, though the event does not show it.
func TestDecisionsPart9_ASearchByAGroupEndsWithTheMembership(t *testing.T) {
	s := loadSchool(t)
	o := s.onlookers(t)
	set := group(t, o.own, "2026-09-01", "2027-07-31")
	on := func(day string) string {
		return fmt.Sprint(book(t, s.as(t, "owner"), map[string]any{"body": "Open day", "event_category_id": o.wide,
			"starts_at_text": day + " 09:00", "ends_at_text": day + " 10:00"}, set).Event.ID)
	}
	during, after := on("2027-07-31"), on("2027-08-01")
	for name, c := range map[string]*servicetest.Client{"pupil": o.pupil, "staff": o.staff} {
		a := c.Get(t, path("/api/events?element=%d&start_date=2027-07-01&end_date=2027-08-31", set)).Must(t, 200)
		valuetest.Same(t, a.At(t, "events.0.id"), during, "%s reads %s", name, a.Body)
		valuetest.Same(t, a.Has("events.1"), name == "staff", "%s finds the event %s: %s", name, after, a.Body)
	}
}

// A pupil may own an event that commits persons whom it does not see. It is refused because of them as anyone is, but
// is not told of them, and by their ids they are not on the event.
func TestDecisionsPart9_ClashesAndElementsOfAnOwnEventTellOfNoOneWhoIsNotSeen(t *testing.T) {
	s := loadSchool(t)
	o := s.onlookers(t)
	room, name := things(t, 1)[0], s.name(t, o.other)
	at := func(starts, ends string) map[string]any {
		return map[string]any{"body": "Own", "event_category_id": o.lesson, "starts_at": "2027-02-01 " + starts,
			"ends_at": "2027-02-01 " + ends}
	}
	own := book(t, o.pupil, at("11:00", "12:00"), room).Event.ID
	key := uuid.NewString()
	buses := o.admin.Import(t, "groups", map[string]any{"key": key, "name": "Buses " + key, "resource": true})[key]
	add(t, o.admin, own, o.other, buses)
	book(t, o.admin, at("13:00", "14:00"), o.other)
	of := path("/api/events/%d", own)
	for clashes, code := range map[string]int{"refuse": 409, "skip": 409, "report": 200} {
		a := o.pupil.Patch(t, of, map[string]any{"event": at("13:30", "14:30"), "clashes": clashes})
		if a.Code != code || a.At(t, "clashes") != "[]" || strings.Contains(a.Body, name) {
			t.Errorf("%s: %d %s", clashes, a.Code, a.Body)
		}
		o.pupil.Patch(t, of, map[string]any{"event": at("11:00", "12:00")}).Must(t, 200)
	}
	told := o.admin.Patch(t, of, map[string]any{"event": at("13:30", "14:30"), "clashes": "refuse"})
	if told.Code != 409 || told.Len(t, "clashes") != 1 || !strings.Contains(told.Text(t, "message"), name) {
		t.Errorf("an admin is told %d %s", told.Code, told.Body)
	}
	for _, element := range []int64{o.other, buses, s.colleague, 99999999} { // on the event, on none, and nothing
		for _, query := range []string{"", "?dry_run=true"} {
			a := o.pupil.Post(t, of+"/add"+query, map[string]any{"elements": []any{element}})
			a.Must(t, 200).Equal(t, "failures", path(
				`[{"index":0,"element_id":"%d","item_type":"Hash","item":{"status":"Not found"}}]`, element))
		}
		for want, body := range map[string]any{
			`"replace[0].element":["is not on the event"]`: replacing(nil, element, room),
			`"replace[0].with":["must exist"]`:             replacing(nil, room, element),
		} {
			if a := o.pupil.Post(t, of+"/replace", body); a.Code != 422 || !strings.Contains(a.Body, want) {
				t.Errorf("%d: %d %s, want %s", element, a.Code, a.Body, want)
			}
		}
	}
	valuetest.Len(t, get(t, o.admin, own).Event.Commitments, 2, "commitments")
}

// Of more than 1,000 clashes the first were taken before those with hidden events were left out.
func TestClashes_HiddenOnesLeaveNoSeenOneOut(t *testing.T) {
	s := loadSchool(t)
	o := s.onlookers(t)
	const each = 501
	var rows []map[string]any
	mark := uuid.NewString()
	for i := range each {
		rows = append(rows, map[string]any{"key": path("%s-%d", mark, i), "name": path("Room %d %s", i, mark)})
	}
	rooms := slices.Sorted(maps.Values(o.admin.Import(t, "locations", rows...)))
	at := func(elements ...int64) map[string]any {
		event := s.at("2026-11-18", "09:00", "10:00")
		event["event_category_id"] = o.lesson
		return map[string]any{"event": event, "elements": elements}
	}
	for range 2 {
		o.admin.Post(t, "/api/events", at(rooms...)).Must(t, 200)
	}
	own := o.pupil.Post(t, "/api/events", at(rooms[each-1])).Must(t, 200).Int(t, "event.id")
	body := at(rooms...)
	for _, repeat := range []any{nil, map[string]any{"rule": "FREQ=DAILY;COUNT=1"}} {
		body["repeat"] = repeat
		for clashes, code := range map[string]int{"refuse": 409, "report": 200} {
			body["clashes"] = clashes
			a := o.pupil.Post(t, "/api/events?dry_run=true", body).Must(t, code)
			if a.Len(t, "clashes") != 1 || a.Int(t, "clashes.0.event.id") != own {
				t.Errorf("%s %v: %.2000s", clashes, repeat, a.Body)
			}
		}
	}
	delete(body, "repeat")
	body["clashes"] = "report"
	reported := extending(t, o.pupil.Post(t, "/api/events", body))
	valuetest.Same(t, reported.pairs(), pair(rooms[each-1], own), "reported")
}

// Deleting by id took off what deleting by element, replacing and changing the quantity did not find.
func TestDecisionsPart9_WhatAnEventHidesIsNotTakenOffIt(t *testing.T) {
	s := loadSchool(t)
	o := s.onlookers(t)
	room, key := things(t, 1)[0], uuid.NewString()
	buses := o.admin.Import(t, "groups", map[string]any{"key": key, "name": "Buses " + key, "resource": true})[key]
	other := o.admin.Import(t, "properties", map[string]any{"key": key, "name": key, "make_public": true})[key]
	fields := func(body string) map[string]any { return s.fields("body", body, "event_category_id", o.lesson) }
	for name, who := range map[string]struct{ client, makes *servicetest.Client }{
		"a pupil who edits all": {enter(t, "kind", "pupil", "edit_all_events", true), s.as(t, "owner")},
		"a guest who edits all": {enter(t, "kind", "guest", "edit_all_events", true), s.as(t, "owner")},
		"a pupil, its own":      {o.pupil, o.pupil},
		"a guest, its own":      {o.guest, o.guest},
	} {
		c := who.client
		id := book(t, who.makes, fields("Fair"), o.public).Event.ID
		of := path("/api/events/%d", id)
		e := add(t, o.admin, id, o.other, buses, room).Event
		entry := map[int64]int64{}
		for _, of := range e.Commitments {
			entry[of.Element.ID] = of.ID
		}
		hidden, request := path("/api/commitments/%d", entry[o.other]), path("/api/requests/%d", e.Requests[0].ID)
		missing := map[string]servicetest.Answer{
			path("%s/elements/%d", of, o.other):     c.Delete(t, of+"/elements/99999999"),
			path("%s/elements/%d", of, buses):       c.Delete(t, of+"/elements/99999999"),
			path("%s/elements/%d", of, s.colleague): c.Delete(t, of+"/elements/99999999"), // on no event
		}
		for _, word := range []string{"", "?dry_run=true"} {
			if c == who.makes { // its owner may delete each entry by its id
				c.Delete(t, hidden+"?dry_run=true").WantCode(t, 200)
				c.Delete(t, request+"?dry_run=true").WantCode(t, 200)
				continue
			}
			missing[hidden+word] = c.Delete(t, "/api/commitments/99999999")
			missing[request+word] = c.Delete(t, "/api/requests/99999999")
		}
		for call, want := range missing {
			a := c.Delete(t, call)
			said, _, _ := strings.Cut(a.Body, "=")
			if as, _, _ := strings.Cut(want.Body, "="); a.Code != want.Code || a.Code == 200 || said != as {
				t.Errorf("%s, DELETE %s: %d %s, of a missing one %s", name, call, a.Code, a.Body, want.Body)
			}
		}
		for _, quantity := range []any{2, 0, nil} {
			a := c.Patch(t, request, map[string]any{"request": map[string]any{"quantity": quantity}})
			a.WantCode(t, 404)
			valuetest.Lacks(t, a.Body, key, name)
		}
		if got := get(t, o.admin, id).Event; len(got.Commitments) != 3 || len(got.Requests) != 1 {
			t.Errorf("%s: there is left %+v", name, got)
		}
		// What it sees, and what it has added itself, it takes off.
		c.Delete(t, path("/api/commitments/%d?dry_run=true", entry[room])).WantCode(t, 200)
		c.Delete(t, path("%s/elements/%d", of, room)).WantCode(t, 200)
		if c == who.makes {
			c.Delete(t, path("/api/commitments/%d?dry_run=true", entry[o.public])).WantCode(t, 200)
			c.Post(t, of+"/replace?dry_run=true", replacing(nil, o.public, other)).WantCode(t, 200)
			c.Delete(t, path("%s/elements/%d", of, o.public)).WantCode(t, 200)
		}
	}
}

// Who decides on a group takes back what was allocated, whatever it sees of the event.
func TestDecisionsPart9_WhoDecidesOnAGroupTakesBackWhatItHasNotAllocatedItself(t *testing.T) {
	s := loadSchool(t)
	o := s.onlookers(t)
	group, items := stock(t)
	administers(t, o.guest, group)
	administers(t, o.staff, group)
	made := book(t, s.as(t, "owner"), s.fields("event_category_id", o.lesson), group)
	request := path("/api/requests/%d", made.Event.Requests[0].ID)
	o.staff.Patch(t, request, map[string]any{"request": map[string]any{"quantity": 2}}).Must(t, 200)
	got := allocate(t, o.staff, made.Event.Requests[0].ID, items[0], items[1]).Event
	valuetest.Same(t, len(got.Commitments), 2, "allocations")
	o.guest.Delete(t, path("/api/commitments/%d", got.Commitments[0].ID)).WantCode(t, 200)
	o.guest.Delete(t, path("/api/events/%d/elements/%d", made.Event.ID, got.Commitments[1].Element.ID)).WantCode(t, 200)
	o.guest.Patch(t, request, map[string]any{"request": map[string]any{"quantity": 1}}).WantCode(t, 200)
	o.guest.Delete(t, request).WantCode(t, 200)
}

// The ETag of an event had a higher version after changes of it that its reader is not shown.
func TestDecisionsPart9_NoETagTellsOfAHiddenChange(t *testing.T) {
	s := loadSchool(t)
	o := s.onlookers(t)
	owner := s.as(t, "owner")
	own := book(t, o.pupil, s.fields("body", "Own", "event_category_id", o.lesson)).Event.ID
	fair := book(t, owner, s.fields("body", "Fair", "event_category_id", o.lesson), o.public).Event.ID
	care := book(t, owner, s.fields("body", "Meeting", "event_category_id", o.care)).Event.ID
	sealed := regexp.MustCompile(`\.[\w-]+\.`)
	for _, c := range []struct {
		who  *servicetest.Client
		id   int64
		hide func(id int64)
	}{
		{o.pupil, own, func(id int64) { add(t, o.admin, id, o.other) }},
		{o.guest, fair, func(id int64) { add(t, owner, id, o.other, s.calendar) }},
		{o.staff, care, func(id int64) {
			owner.Patch(t, path("/api/events/%d", id), change(map[string]any{"body": "Else"})).WantCode(t, 200)
		}},
	} {
		of := path("/api/events/%d", c.id)
		first, again := c.who.Get(t, of).Must(t, 200), c.who.Get(t, of)
		tag := first.Header.Get("ETag")
		valuetest.Holds(t, tag != again.Header.Get("ETag"), "%s: the tag %s shows that nothing has changed", of, tag)
		c.hide(c.id)
		after := c.who.Get(t, of)
		if after.Body != first.Body || sealed.ReplaceAllString(after.Header.Get("ETag"), "") !=
			sealed.ReplaceAllString(tag, "") {
			t.Errorf("%s: %s %s, was %s %s", of, after.Body, after.Header.Get("ETag"), first.Body, tag)
		}
		if a := c.who.Do(t, "GET", of, nil, "If-None-Match", tag); a.Code != 304 || a.Body != "" {
			t.Errorf("%s: %d %s", of, a.Code, a.Body)
		}
	}
	// The owner overwrites nothing that it has not read.
	of := path("/api/events/%d", own)
	read := o.pupil.Get(t, of).Header.Get("ETag")
	o.admin.Patch(t, of, change(map[string]any{"body": "Other's"})).WantCode(t, 200)
	title := change(map[string]any{"body": "Mine"})
	o.pupil.Do(t, "PATCH", of, title, "If-Match", read).WantCode(t, 412)
	o.pupil.Do(t, "GET", of, nil, "If-None-Match", read).WantCode(t, 200)
	o.pupil.Do(t, "PATCH", of, title, "If-Match", o.pupil.Get(t, of).Header.Get("ETag")).WantCode(t, 200)
}

// Staff and locations were empty in answers about one event whose commitments named them: for a guest, who sees it by a
// public property that is not shown, and for users who see it only to decide.
func TestDecisionsPart9_StaffAndLocationsOfOneEventAreThoseThatItShows(t *testing.T) {
	s := loadSchool(t)
	o := s.onlookers(t)
	court := o.court(t, o.guest)
	owner, fields := s.as(t, "owner"), s.fields("event_category_id", o.lesson)
	fair := book(t, owner, fields, o.public, s.teacher, s.room, o.other).Event.ID
	asked := book(t, owner, fields, court, s.teacher, o.other).Event.ID
	for id, want := range map[int64][2]string{fair: {"ABC", "R1"}, asked: {"ABC", "Court"}} {
		a := o.guest.Get(t, path("/api/events/%d?include=staff,locations", id)).Must(t, 200)
		valuetest.Same(t, [2]string{a.Text(t, "event.staff"), a.Text(t, "event.locations")}, want,
			"staff and locations of %s", a.Body)
	}
}

// court is a location that a user administers.
func (o onlookers) court(t *testing.T, who *servicetest.Client) int64 {
	t.Helper()
	key := uuid.NewString()
	court := o.admin.Import(t, "locations",
		map[string]any{"key": key, "name": "Court " + key, "short_name": "Court"})[key]
	administers(t, who, court)
	return court
}

// Pupils and guests who administer an element were not told who asked for it.
func TestDecisionsPart9_AdministratorsOfAnElementAreToldWhoAsked(t *testing.T) {
	s := loadSchool(t)
	o := s.onlookers(t)
	owner := s.as(t, "owner")
	group, _ := stock(t)
	for name, who := range map[string]*servicetest.Client{"pupil": o.pupil, "guest": o.guest} {
		court := o.court(t, who)
		administers(t, who, group)
		made := book(t, owner, s.fields("event_category_id", o.lesson), court, group, s.teacher).Event
		want := path(`"decision":{"asked_by":{"id":%d,"name":"owner","email":"hidden@belfry.invalid","valid":true},`+
			`"decided_by":null`, s.users["owner"])
		for _, list := range []string{
			"/api/commitments?limit=1000&include=decisions", "/api/requests?limit=1000&include=decisions",
		} {
			valuetest.Has(t, who.Get(t, list).Must(t, 200).Body, want, name+" is told in "+list)
		}
		a := who.Get(t, path("/api/events/%d?include=decisions", made.ID)).Must(t, 200)
		valuetest.Same(t, strings.Count(a.Body, want), 2, "%s is told %s", name, a.Body)
		valuetest.Same(t, strings.Count(a.Body, `"asked_by"`), 2, "%s is told of what it decides on: %s", name, a.Body)
	}
}

// A change of a series told its pupil of an element that an admin had put on one of the events.
func TestDecisionsPart9_WhatAChangeOfASeriesLeavesOutNamesNoElementThatIsNotSeen(t *testing.T) {
	s := loadSchool(t)
	o := s.onlookers(t)
	made := makeSeries(t, o.pupil, s.ofSeries("Own", []any{o.room}, "rule", "FREQ=DAILY;COUNT=3"))
	add(t, o.admin, made.Series.Events[1].ID, o.other)
	at := func(day, starts, ends string) map[string]any {
		return map[string]any{"starts_at": day + " " + starts, "ends_at": day + " " + ends}
	}
	taken := at("2027-01-06", "12:30", "13:30")
	taken["body"], taken["event_category_id"] = "Taken", o.lesson
	book(t, o.admin, taken, o.other)
	taken["starts_at"], taken["ends_at"] = "2027-01-07 12:30", "2027-01-07 13:30"
	book(t, o.admin, taken, o.room)
	of := made.of(1, "?scope=all&dry_run=true")
	move := change(at("2027-01-05", "12:00", "13:00"), "clashes", "skip")
	for name, c := range map[string]*servicetest.Client{"pupil": o.pupil, "admin": o.admin} {
		a := c.Patch(t, of, move).Must(t, 200)
		want := map[string]string{"pupil": "null", "admin": text(o.other)}[name]
		if a.Len(t, "series.left_out") != 2 || a.At(t, "series.left_out.0.element_id") != want ||
			a.Int(t, "series.left_out.1.element_id") != o.room {
			t.Errorf("%s is told %s", name, a.Body)
		}
	}
}

// A pupil or a guest may administer a resource group. By ids it learned the names of all elements.
func TestDecisionsPart9_AnAllocationNamesOnlyItemsAndWhatIsSeen(t *testing.T) {
	s := loadSchool(t)
	o := s.onlookers(t)
	group, items := stock(t)
	for name, who := range map[string]*servicetest.Client{"pupil": o.pupil, "guest": o.guest} {
		administers(t, who, group)
		made := book(t, s.as(t, "owner"), s.fields(), group, s.teacher)
		allocations := path("/api/requests/%d/allocations", made.Event.Requests[0].ID)
		types := map[int64]string{
			items[0]: "", o.public: "Commitment", s.teacher: "Commitment", group: "Commitment",
			o.other: "Hash", s.colleague: "Hash", 99999999: "Hash",
		}
		for element, want := range types {
			a := who.Post(t, allocations+"?dry_run=true", map[string]any{"elements": []any{element}})
			got := decoded[created](t, a)
			if n := len(got.Failures); n > 1 || (n == 0) != (want == "") || n == 1 && got.Failures[0].ItemType != want {
				t.Errorf("%s, %d: %+v, want %q", name, element, got.Failures, want)
			}
		}
	}
}

// allPages are the answers of a list, page by page, with their codes.
func allPages(t *testing.T, c *servicetest.Client, list string) (answers []string) {
	t.Helper()
	for after := ""; ; {
		a := c.Get(t, list+after)
		answers = append(answers, fmt.Sprint(a.Code, a.Body))
		if a.Code != 200 || a.At(t, "next") == "null" {
			return answers
		}
		after = "&after=" + a.Text(t, "next")
	}
}

// How many events of a kind there were that a user does not see showed in the cursors and in the lengths of pages.
func TestDecisionsPart9_NoPageTellsOfWhatIsHidden(t *testing.T) {
	s := loadSchool(t)
	o := s.onlookers(t)
	owner := s.as(t, "owner")
	row := func(n int, body string, category int64, elements ...any) map[string]any {
		at := time.Date(2033, 1, 3+n/4, 8+n%4, 0, 0, 0, time.UTC)
		return map[string]any{"elements": elements, "event": map[string]any{"body": body,
			"event_category_id": category, "starts_at": at.Format(time.RFC3339),
			"ends_at": at.Add(30 * time.Minute).Format(time.RFC3339)}}
	}
	mark := uuid.NewString()
	for n := range 12 {
		owner.Post(t, "/api/events", row(n, fmt.Sprint("Seen ", mark), o.lesson, o.own, o.public)).Must(t, 200)
		owner.Post(t, "/api/events", row(n, fmt.Sprint("Seen by all ", mark), o.wide, o.room)).Must(t, 200)
	}
	o.pupil.Post(t, "/api/events", row(3, "Own "+mark, o.lesson)).Must(t, 200)
	days := "start_date=2033-01-01&end_date=2033-02-28"
	var lists []string
	confidential := []string{}
	for _, limit := range []int{1, 5, 200} {
		of := path("/api/events?limit=%d&", limit)
		for _, query := range []string{
			"", "&status=noted", "&status=requested", "&status=uncontrolled", path("&owner=%d", s.users["owner"]),
			path("&category=%d", o.lesson), path("&element=%d&text=%s", o.public, mark),
		} {
			lists = append(lists, of+days+query)
		}
		lists = append(lists, of+"text="+mark, of+"text=joel",
			path("/api/commitments?status=requested,noted&limit=%d", limit),
			path("/api/requests?status=outstanding&limit=%d", limit))
		confidential = append(confidential, of+"text="+mark, of+"text=about%20joel",
			of+days+path("&category=%d", o.care))
	}
	type asked struct {
		who  *servicetest.Client
		name string
		list string
		was  []string
	}
	var all []asked
	for name, who := range map[string]*servicetest.Client{"pupil": o.pupil, "guest": o.guest} {
		for _, list := range lists {
			all = append(all, asked{who, name, list, allPages(t, who, list)})
		}
	}
	for _, list := range confidential {
		all = append(all, asked{o.staff, "staff", list, allPages(t, o.staff, list)})
	}
	planted := 0
	for n := range 48 {
		if n%4 == 0 { // others', in the middle of what is seen
			for range 4 {
				owner.Post(t, "/api/events", row(n, "Other's", o.lesson, o.other, o.room)).Must(t, 200)
			}
		}
		owner.Post(t, "/api/events", row(n, "Meeting about Joel "+mark, o.care, o.other)).Must(t, 200)
		planted++
	}
	for _, one := range all {
		got := allPages(t, one.who, one.list)
		for i := range one.was {
			if i >= len(got) || got[i] != one.was[i] {
				t.Errorf("%s: %s, page %d:\n got %.300s\nwant %.300s", one.name, one.list, i+1, got[min(i, len(got)-1)],
					one.was[i])
				break
			}
		}
		valuetest.Same(t, len(got), len(one.was),
			"%s: %s has %d pages, want %d", one.name, one.list, len(got), len(one.was))
	}
	valuetest.Same(t, len(bodies(t, o.admin, "text=joel%20"+mark+"&limit=200")), planted, "an admin finds")
}
