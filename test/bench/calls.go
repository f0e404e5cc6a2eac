package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/cmd/belfryctl/demo"
)

// samples is how many different requests a call has: enough that no one record is all that is read.
const samples = 400

// parts are what names are searched by: each is in hundreds of names of a school.
var parts = []string{"an", "ar", "el", "en", "er", "in", "le", "on", "ma", "th"}

// titles are parts of the titles of events: some are of thousands, some of a few in each year.
var titles = []string{"careers", "carol", "concert", "exhib", "moderat", "prize", "briefing", "trip"}

// The calls by name.
const (
	whoami        = "whoami"
	elementDetail = "element"
	byName        = "by name"
	nameLike      = "name like"
	day           = "a pupil's day"
	week          = "a pupil's week with staff and locations"
	year          = "a pupil's year"
	freeBusy      = "free or busy of a teacher's day"
	calendar      = "calendar of a teacher"
	feed          = "calendar feed of a teacher"
	foundByTitle  = "events by a part of the title"
	foundInWeek   = "events of a teacher in a week"
	timetables    = "timetables of all locations on a day" // of a school's, where there are several
	free          = "locations that are free for an hour"  // of a school's, too
	nameOfSchool  = "name like, of a school"
	allUsers      = "users, listed by an admin"
	allPupils     = "pupils, listed by an admin"
	schoolUsers   = "users, listed by a school's administrator"
	schoolPupils  = "pupils, listed by a school's administrator"
	eventDetail   = "event"
	eventNotes    = "notes of an event"
	create        = "create an event with four elements"
	login         = "login"
)

// budgeted says where the budget of round trips has each call: how its row begins.
var budgeted = map[string]string{
	whoami:        "GET /sessions/{session}/whoami |",
	elementDetail: "GET /api/elements/{id} | a pupil",
	byName:        "GET /api/elements | by name",
	nameLike:      "GET /api/elements | by a part of the name",
	day:           "GET /api/elements/{id}/commitments | a pupil's day",
	week:          "GET /api/elements/{id}/commitments | a pupil's week with staff and locations",
	year:          "GET /api/elements/{id}/commitments | a pupil's year",
	freeBusy:      "GET /api/elements/{id}/freebusy |",
	calendar:      "GET /api/elements/{id}/calendar.ics |",
	feed:          "GET /ical/{file} |",
	foundByTitle:  "GET /api/events | by a part of the title",
	foundInWeek:   "GET /api/events | a teacher's on a day",
	timetables:    "GET /api/timetables | all locations, a day",
	free:          "GET /api/free | all locations, an hour",
	nameOfSchool:  "GET /api/elements | by a part of the name",
	allUsers:      "GET /api/admin/users | a page",
	allPupils:     "GET /api/admin/elements | a page",
	schoolUsers:   "GET /api/admin/users | a page",
	schoolPupils:  "GET /api/admin/elements | a page",
	eventDetail:   "GET /api/events/{id} | 5 elements",
	eventNotes:    "GET /api/events/{id}/notes | 3 notes or more",
	create:        "POST /api/events | 4 elements",
	login:         "GET /api/login |",
}

// feeds is how many feeds are made for a run.
const feeds = 10

// request is one request of a call.
type request struct {
	method, path, body string
	same               string    // a path whose answer shows what the floor has to read, where its own doesn't
	reads              floorRead // what the floor reads in its place
}

// call is a kind of request that is measured.
type call struct {
	name     string
	requests []request
	cookie   string // of the session that calls; empty until it is prepared: the first administrator's
}

// calls returns what is measured. The requests are the same in each run of a school of one size.
func (s *school) calls(ctx context.Context) ([]call, error) {
	dice := rand.New(rand.NewPCG(s.options.seed, 1))
	at := map[string][]element{}
	for _, kind := range []string{"Pupil", "Staff", "Location", "Group"} {
		listed, err := s.client.CurrentElements(ctx, kind)
		if err != nil {
			return nil, err
		}
		for _, e := range listed {
			at[kind] = append(at[kind], element{e.ID, e.Name, e.Key})
		}
		if len(at[kind]) == 0 {
			return nil, fmt.Errorf("the school has no %s", kind)
		}
	}
	p := picker{school: s, dice: dice, at: at}
	if err := p.findSchools(); err != nil {
		return nil, err
	}
	return p.calls(ctx)
}

// element is what the requests need of one.
type element struct {
	id   int64
	name string
	key  string // Type:key
}

// picker picks records at random, from one seed.
type picker struct {
	school *school
	dice   *rand.Rand
	at     map[string][]element
	// own and rooms are the groups of each of several schools; none where there is one.
	own, rooms []element
}

// one returns any element of a type.
func (p picker) one(kind string) element { return p.at[kind][p.dice.IntN(len(p.at[kind]))] }

// weekday returns a day of lessons in the last school year.
func (p picker) weekday() time.Time {
	day := time.Date(demo.DefaultLastYear, time.September, 14, 0, 0, 0, 0, time.UTC).AddDate(0, 0, p.dice.IntN(30))
	for day.Weekday() == time.Saturday || day.Weekday() == time.Sunday {
		day = day.AddDate(0, 0, 1)
	}
	return day
}

// get returns a call of n requests that only read.
func get(name string, n int, make func() request) call {
	c := call{name: name}
	for range n {
		r := make()
		r.method = http.MethodGet
		c.requests = append(c.requests, r)
	}
	return c
}

func (p picker) calls(ctx context.Context) ([]call, error) {
	calls := []call{
		get(whoami, 1, func() request { return request{path: "/sessions/1/whoami"} }),
		get(elementDetail, samples, func() request {
			e := p.one("Pupil")
			return request{path: elementPath(e.id), reads: floorRead{elements: []int64{e.id}}}
		}),
		get(byName, samples, func() request {
			e := p.one("Pupil")
			return request{path: "/api/elements?name=" + url.QueryEscape(e.name),
				reads: floorRead{elements: []int64{e.id}}}
		}),
		get(nameLike, samples, func() request {
			return request{path: "/api/elements?namelike=" + parts[p.dice.IntN(len(parts))]}
		}),
		get(day, samples, func() request { return p.timetable("Pupil", 0, "") }),
		get(week, samples, func() request { return p.timetable("Pupil", 6, "&include=staff,locations") }),
		get(year, 40, func() request { return p.year() }),
		get(freeBusy, samples, func() request {
			r := p.timetable("Staff", 0, "")
			return request{path: strings.Replace(r.path, "/commitments?", "/freebusy?", 1), same: r.path}
		}),
		get(calendar, 40, func() request {
			return request{path: elementPath(p.one("Staff").id) + "/calendar.ics"}
		}),
	}
	calls = append(calls, p.searches()...)
	lists, err := p.lists(ctx)
	if err != nil {
		return nil, err
	}
	calls = append(calls, lists...)
	addresses, err := p.school.makeFeeds(ctx, p)
	if err != nil {
		return nil, err
	}
	n := 0
	calls = append(calls, get(feed, len(addresses), func() request { n++; return request{path: addresses[n-1]} }))
	more, err := p.eventCalls(ctx, calls[4].requests)
	if err != nil {
		return nil, err
	}
	calls = append(calls, more...)
	user, err := p.school.client.WhoAmI(ctx)
	if err != nil {
		return nil, err
	}
	calls = append(calls, get(login, 1, func() request {
		return request{path: "/api/login?uuid=" + p.school.admin, reads: floorRead{users: []int64{user}}}
	}))
	calls = slices.DeleteFunc(calls, func(c call) bool { return !p.measured(c) })
	for i := range calls {
		if err := p.school.prepare(ctx, &calls[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", calls[i].name, err)
		}
	}
	return calls, nil
}

// mostTimetables is of how many elements of a type Belfry answers with timetables, and mostFree among how many it looks
// for free ones; a school of 20,000 pupils has more locations. Of several schools each is asked for by itself.
const (
	mostTimetables = 1000
	mostFree       = 2000
)

// measured says whether a call is asked for, and can be answered.
func (p picker) measured(c call) bool {
	locations := len(p.at["Location"])
	if len(p.rooms) > 0 {
		locations = 0
	}
	return p.school.options.calls.MatchString(c.name) && (c.name != timetables || locations <= mostTimetables) &&
		(c.name != free || locations <= mostFree)
}

// timetable asks for the commitments of an element on a day and so many more.
func (p picker) timetable(kind string, more int, also string) request {
	day := p.weekday()
	return request{path: fmt.Sprintf("%s/commitments?start_date=%s&end_date=%s%s", elementPath(p.one(kind).id),
		day.Format(time.DateOnly), day.AddDate(0, 0, more).Format(time.DateOnly), also)}
}

// year asks for all commitments of a pupil in the last school year.
func (p picker) year() request {
	return request{path: fmt.Sprintf("%s/commitments?start_date=%d-09-01&end_date=%d-08-31",
		elementPath(p.one("Pupil").id), demo.DefaultLastYear, demo.DefaultLastYear+1)}
}

// searches returns the calls that find events and what is free, and many timetables.
func (p picker) searches() []call {
	n := 0
	return []call{
		get(foundByTitle, len(titles), func() request { n++; return request{path: "/api/events?text=" + titles[n-1]} }),
		get(foundInWeek, samples, func() request { return p.found() }),
		get(timetables, 40, func() request {
			of := "type=Location"
			if len(p.rooms) > 0 {
				of = fmt.Sprintf("group=%d", p.rooms[p.dice.IntN(len(p.rooms))].id)
			}
			return request{path: "/api/timetables?" + of + "&start_date=" + p.weekday().Format(time.DateOnly)}
		}),
		get(free, samples, func() request { return p.free() }),
	}
}

// found asks for the events of a teacher in a week.
func (p picker) found() request {
	day := p.weekday()
	return request{path: fmt.Sprintf("/api/events?element=%d&start_date=%s&end_date=%s", p.one("Staff").id,
		day.Format(time.DateOnly), day.AddDate(0, 0, 6).Format(time.DateOnly))}
}

// free asks for the locations that nothing holds for an hour of a morning.
func (p picker) free() request {
	day, hour := p.weekday().Format(time.DateOnly), 8+p.dice.IntN(4)
	path := fmt.Sprintf("/api/free?type=Location&starts_at=%sT%02d:00&ends_at=%sT%02d:00", day, hour, day, hour+1)
	if len(p.rooms) > 0 {
		path += fmt.Sprintf("&group=%d", p.rooms[p.dice.IntN(len(p.rooms))].id)
	}
	return request{path: path}
}

// eventCalls returns the calls about events: those of the days, and new ones in a year without lessons.
func (p picker) eventCalls(ctx context.Context, days []request) ([]call, error) {
	var ids []int64
	for _, r := range days {
		found, err := p.school.eventsIn(ctx, r)
		if err != nil {
			return nil, err
		}
		ids = append(ids, found...)
		if len(ids) >= samples {
			break
		}
	}
	if len(ids) == 0 {
		return nil, errors.New("no day has an event")
	}
	event, notes := call{name: eventDetail}, call{name: eventNotes}
	for _, id := range ids {
		path := "/api/events/" + strconv.FormatInt(id, 10)
		event.requests = append(event.requests,
			request{method: http.MethodGet, path: path, reads: floorRead{events: []int64{id}}})
		notes.requests = append(notes.requests,
			request{method: http.MethodGet, path: path + "/notes", reads: floorRead{notesOf: []int64{id}}})
	}
	var category int64
	for record, err := range p.school.client.List(ctx, "/api/admin/eventcategories", "eventcategories", nil) {
		if err != nil {
			return nil, err
		}
		if record["current"] != false && record["privileged"] != true {
			category = record.ID("id")
			break
		}
	}
	creation := call{name: create}
	for range samples {
		starts := time.Date(demo.DefaultLastYear+3, time.January, 1, 8, 0, 0, 0, time.UTC).
			Add(time.Duration(p.dice.IntN(365*24)) * time.Hour)
		body, err := json.Marshal(map[string]any{
			"elements": []int64{p.one("Staff").id, p.one("Location").id, p.one("Pupil").id, p.one("Pupil").id},
			"event": map[string]any{
				"body": "Rehearsal", "eventcategory_id": category,
				"starts_at": starts.Format(time.RFC3339), "ends_at": starts.Add(time.Hour).Format(time.RFC3339),
			},
		})
		if err != nil {
			return nil, err
		}
		creation.requests = append(creation.requests,
			request{method: http.MethodPost, path: "/api/events", body: string(body), reads: floorRead{writes: true}})
	}
	return []call{event, notes, creation}, nil
}

func elementPath(id int64) string { return "/api/elements/" + strconv.FormatInt(id, 10) }

// prepare makes the requests of a call that only reads once, which warms up, fails when one is refused, and finds what
// the floor has to read.
func (s *school) prepare(ctx context.Context, c *call) error {
	c.cookie = cmp.Or(c.cookie, s.cookie)
	for i := range c.requests {
		r := &c.requests[i]
		if r.method != http.MethodGet || c.name == login {
			continue
		}
		body, err := s.send(ctx, c.cookie, http.MethodGet, r.path)
		if err != nil {
			return err
		}
		if r.same != "" {
			if body, err = s.send(ctx, c.cookie, http.MethodGet, r.same); err != nil {
				return err
			}
		}
		if !r.reads.any() {
			r.reads = readIDs(body)
		}
	}
	return nil
}

// eventsIn returns the ids of the events of a listing of commitments, and none of another answer.
func (s *school) eventsIn(ctx context.Context, r request) ([]int64, error) {
	body, err := s.send(ctx, s.cookie, http.MethodGet, r.path)
	if err != nil {
		return nil, err
	}
	return readIDs(body).events, nil
}

// uid is how a calendar names an event.
var uid = regexp.MustCompile(`(?m)^UID:event-(\d+)@`)

// readIDs returns what an answer shows: elements, events, or those of commitments, of timetables or of a calendar.
func readIDs(body []byte) floorRead {
	type commitments []struct{ Event struct{ ID int64 } }
	var answer struct {
		Elements, Events []struct{ ID int64 }
		Users            []struct{ ID int64 }
		Commitments      commitments
		Timetables       []struct{ Commitments commitments }
	}
	var reads floorRead
	if json.Unmarshal(body, &answer) == nil {
		for _, e := range answer.Elements {
			reads.elements = append(reads.elements, e.ID)
		}
		for _, u := range answer.Users {
			reads.users = append(reads.users, u.ID)
		}
		for _, e := range answer.Events {
			reads.events = append(reads.events, e.ID)
		}
		for _, t := range answer.Timetables {
			answer.Commitments = append(answer.Commitments, t.Commitments...)
		}
		for _, c := range answer.Commitments {
			reads.events = append(reads.events, c.Event.ID)
		}
		return reads
	}
	for _, found := range uid.FindAllSubmatch(body, -1) {
		if id, err := strconv.ParseInt(string(found[1]), 10, 64); err == nil {
			reads.events = append(reads.events, id)
		}
	}
	return reads
}

// makeFeeds makes calendar feeds of teachers, and returns their addresses. The feeds of earlier runs of the school
// end, so that they don't pile up.
func (s *school) makeFeeds(ctx context.Context, p picker) ([]string, error) {
	var addresses []string
	staff := p.at["Staff"]
	for i := range min(feeds, len(staff)) { // of all kinds: the first that were hired teach least
		path := elementPath(staff[i*len(staff)/min(feeds, len(staff))].id) + "/feeds"
		var listed struct{ Feeds []struct{ ID json.Number } }
		if err := s.ask(ctx, http.MethodGet, path, &listed); err != nil {
			return nil, err
		}
		for _, f := range listed.Feeds {
			if err := s.ask(ctx, http.MethodDelete, path+"/"+f.ID.String(), nil); err != nil {
				return nil, err
			}
		}
		var made struct{ Feed struct{ Path string } }
		if err := s.ask(ctx, http.MethodPost, path, &made); err != nil {
			return nil, err
		}
		addresses = append(addresses, made.Feed.Path)
	}
	return addresses, nil
}

// ask makes a request, and reads its answer unless into is nil.
func (s *school) ask(ctx context.Context, method, path string, into any) error {
	body, err := s.send(ctx, s.cookie, method, path)
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// send returns the body of an answer, which has to be a success. The error doesn't have the path: a feed's is secret.
func (s *school) send(ctx context.Context, cookie, method, path string) ([]byte, error) {
	asked, err := http.NewRequestWithContext(ctx, method, s.local.URL+path, nil)
	if err != nil {
		return nil, err
	}
	asked.Header.Set("Cookie", cookie)
	answer, err := http.DefaultClient.Do(asked)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("a request was answered with %d", answer.StatusCode)
	}
	return body, err
}
