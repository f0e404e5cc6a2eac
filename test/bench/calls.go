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
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/cmd/belfryctl/demo"
)

const (
	// samples is how many different requests a call has: enough that no one record is all that is read.
	samples = 400
	// longSamples is that of calls whose answers are long.
	longSamples = 40
	// feeds is how many feeds are made for a run.
	feeds = 10
	// mostTimetables is of how many elements of a type Belfry answers with timetables, and mostFree among how many it
	// finds free ones. A school of 20,000 pupils has more locations.
	mostTimetables, mostFree = 1000, 2000
)

// parts are what names are searched by: each is in hundreds of names of a school.
var parts = []string{"an", "ar", "el", "en", "er", "in", "le", "on", "ma", "th"}

// titles are parts of the titles of events: some are of thousands, some of a few in each year.
var titles = []string{"careers", "carol", "concert", "exhib", "moderat", "prize", "briefing", "trip"}

// The calls by name. Of several schools, timetables, free and nameOfSchool ask for one.
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
	timetables    = "timetables of all locations on a day"
	free          = "locations that are free for an hour"
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

// request is one request of a call.
type request struct{ method, path, body string }

// call is a kind of request that is measured.
type call struct {
	name     string
	requests []request
	cookie   string // of the session that calls; empty: the first administrator's
}

// picker picks records at random, from one seed.
type picker struct {
	*school
	dice *rand.Rand
	at   map[string][]client.Element // by type
	// own and rooms are the groups of each of several schools; none where there is one.
	own, rooms []int64
}

// calls returns the calls that are measured. The requests are the same in each run of a school of one size.
func (s *school) calls(ctx context.Context) ([]call, error) {
	p := picker{school: s, dice: rand.New(rand.NewPCG(s.options.seed, 1)), at: map[string][]client.Element{}}
	var err error
	for _, kind := range []string{"Pupil", "Staff", "Location", "Group"} {
		if p.at[kind], err = s.client.CurrentElements(ctx, kind); err != nil {
			return nil, err
		}
		if len(p.at[kind]) == 0 {
			return nil, fmt.Errorf("the school has no %s", kind)
		}
	}
	for _, group := range p.at["Group"] {
		switch key, _ := strings.CutPrefix(group.Key, "Group:s"); {
		case s.options.Schools < 2:
		case strings.HasSuffix(key, "-own"):
			p.own = append(p.own, group.ID)
		case strings.HasSuffix(key, "-rooms"):
			p.rooms = append(p.rooms, group.ID)
		}
	}
	calls := p.reads()
	for _, more := range []func(context.Context) ([]call, error){p.lists, p.feeds, p.events} {
		some, err := more(ctx)
		if err != nil {
			return nil, err
		}
		calls = append(calls, some...)
	}
	// last: a user has a limited number of sessions, so that of the other calls ends
	calls = append(calls, get(login, 1, func(int) string { return "/api/login?uuid=" + s.admin }))
	calls = slices.DeleteFunc(calls, func(c call) bool { return !s.options.calls.MatchString(c.name) })
	for i := range calls {
		if err := s.warmUp(ctx, &calls[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", calls[i].name, err)
		}
	}
	return calls, nil
}

// get returns a call of n requests that only read.
func get(name string, n int, path func(i int) string) call {
	c := call{name: name}
	for i := range n {
		c.requests = append(c.requests, request{method: http.MethodGet, path: path(i)})
	}
	return c
}

func (p picker) one(kind string) client.Element { return pick(p.dice, p.at[kind]) }

func pick[T any](dice *rand.Rand, list []T) T { return list[dice.IntN(len(list))] }

// weekday returns a day of lessons in the last school year.
func (p picker) weekday() time.Time {
	day := time.Date(demo.DefaultLastYear, time.September, 14, 0, 0, 0, 0, time.UTC).AddDate(0, 0, p.dice.IntN(30))
	for day.Weekday() == time.Saturday || day.Weekday() == time.Sunday {
		day = day.AddDate(0, 0, 1)
	}
	return day
}

// days are the parameters of a day with lessons and that many more.
func (p picker) days(more int) string {
	day := p.weekday()
	return fmt.Sprintf("start_date=%s&end_date=%s", day.Format(time.DateOnly),
		day.AddDate(0, 0, more).Format(time.DateOnly))
}

// in is the parameter of one of several schools; "" where there is one.
func (p picker) in(name string, groups []int64) string {
	if len(groups) == 0 {
		return ""
	}
	return fmt.Sprintf("&%s=%d", name, pick(p.dice, groups))
}

func elementPath(id int64) string { return "/api/elements/" + strconv.FormatInt(id, 10) }

// reads are the calls that need nothing made before.
func (p picker) reads() []call {
	of := func(kind, format string, more ...func() string) func(int) string {
		return func(int) string {
			values := []any{p.one(kind).ID}
			for _, value := range more {
				values = append(values, value())
			}
			return fmt.Sprintf("/api/elements/%d"+format, values...)
		}
	}
	days := func(more int) func() string { return func() string { return p.days(more) } }
	calls := []call{
		get(whoami, 1, func(int) string { return "/sessions/1/whoami" }),
		get(elementDetail, samples, of("Pupil", "")),
		get(byName, samples, func(int) string { return "/api/elements?name=" + url.QueryEscape(p.one("Pupil").Name) }),
		get(nameLike, samples, func(int) string { return "/api/elements?namelike=" + pick(p.dice, parts) }),
		get(day, samples, of("Pupil", "/commitments?%s", days(0))),
		get(week, samples, of("Pupil", "/commitments?%s&include=staff,locations", days(6))),
		get(year, longSamples, of("Pupil", fmt.Sprintf("/commitments?start_date=%d-09-01&end_date=%d-08-31",
			demo.DefaultLastYear, demo.DefaultLastYear+1))),
		get(freeBusy, samples, of("Staff", "/freebusy?%s", days(0))),
		get(calendar, longSamples, of("Staff", "/calendar.ics")),
		get(foundByTitle, len(titles), func(i int) string { return "/api/events?text=" + titles[i] }),
		get(foundInWeek, samples, func(int) string {
			return fmt.Sprintf("/api/events?element=%d&%s", p.one("Staff").ID, p.days(6))
		}),
		get(nameOfSchool, samples, func(int) string {
			return "/api/elements?namelike=" + pick(p.dice, parts) + p.in("school", p.own)
		}),
	}
	locations := len(p.at["Location"])
	if len(p.rooms) > 0 {
		locations = 0 // each school is asked for by itself
	}
	if locations <= mostTimetables {
		calls = append(calls, get(timetables, longSamples, func(int) string {
			of := cmp.Or(p.in("group", p.rooms), "&type=Location")
			return "/api/timetables?start_date=" + p.weekday().Format(time.DateOnly) + of
		}))
	}
	if locations <= mostFree {
		calls = append(calls, get(free, samples, func(int) string {
			day, hour := p.weekday().Format(time.DateOnly), 8+p.dice.IntN(4)
			return fmt.Sprintf("/api/free?type=Location&starts_at=%sT%02d:00&ends_at=%sT%02d:00", day, hour, day,
				hour+1) + p.in("group", p.rooms)
		}))
	}
	return calls
}

// lists returns the calls that list records for administrators. The only school's administrator is an admin.
func (p picker) lists(ctx context.Context) ([]call, error) {
	users := func(int) string { return "/api/admin/users?limit=100" }
	pupils := func(int) string { return "/api/admin/elements?entity_type=Pupil&current=true&limit=100" }
	calls := []call{get(allUsers, 1, users), get(allPupils, 1, pupils), get(schoolUsers, 1, users),
		get(schoolPupils, 1, pupils)}
	if len(p.own) == 0 {
		return calls, nil
	}
	head := slices.IndexFunc(p.loaded.Logins, func(l demo.Login) bool { return l.School != "" })
	as, err := client.New(p.local.URL, client.Options{UserAgent: userAgent})
	if err == nil {
		err = as.Login(ctx, p.loaded.Logins[head].UUID) // the first of a school's is its head
	}
	if err != nil {
		return nil, fmt.Errorf("the administrator of a school: %w", err)
	}
	cookie, err := as.Cookie()
	calls[2].cookie, calls[3].cookie = cookie, cookie
	return calls, err
}

// feeds makes calendar feeds of teachers. The feeds of earlier runs of the school end, so that they don't pile up.
func (p picker) feeds(ctx context.Context) ([]call, error) {
	var addresses []string
	staff := p.at["Staff"]
	for i := range min(feeds, len(staff)) { // of all kinds: the first that were hired teach least
		path := elementPath(staff[i*len(staff)/min(feeds, len(staff))].ID) + "/feeds"
		var listed struct{ Feeds []struct{ ID json.Number } }
		if err := p.ask(ctx, http.MethodGet, path, &listed); err != nil {
			return nil, err
		}
		for _, f := range listed.Feeds {
			if err := p.client.Delete(ctx, path+"/"+f.ID.String(), nil); err != nil {
				return nil, err
			}
		}
		var made struct{ Feed struct{ Path string } }
		if err := p.ask(ctx, http.MethodPost, path, &made); err != nil {
			return nil, err
		}
		addresses = append(addresses, made.Feed.Path)
	}
	return []call{get(feed, len(addresses), func(i int) string { return addresses[i] })}, nil
}

// events returns the calls about events: those of some pupils' days, and new ones in a year without lessons.
func (p picker) events(ctx context.Context) ([]call, error) {
	var ids []int64
	for range samples {
		var listed struct {
			Commitments []struct{ Event struct{ ID int64 } }
		}
		path := elementPath(p.one("Pupil").ID) + "/commitments?" + p.days(0)
		if err := p.ask(ctx, http.MethodGet, path, &listed); err != nil {
			return nil, err
		}
		for _, c := range listed.Commitments {
			ids = append(ids, c.Event.ID)
		}
		if len(ids) >= samples {
			break
		}
	}
	if len(ids) == 0 {
		return nil, errors.New("no day has an event")
	}
	path := func(i int) string { return "/api/events/" + strconv.FormatInt(ids[i], 10) }
	creation, err := p.creations(ctx)
	return []call{get(eventDetail, len(ids), path),
		get(eventNotes, len(ids), func(i int) string { return path(i) + "/notes" }), creation}, err
}

func (p picker) creations(ctx context.Context) (call, error) {
	creation := call{name: create}
	var category int64
	for record, err := range p.client.List(ctx, "/api/admin/eventcategories", "eventcategories", nil) {
		if err != nil {
			return call{}, err
		}
		if record["current"] != false && record["privileged"] != true {
			category = record.ID("id")
			break
		}
	}
	for range samples {
		starts := time.Date(demo.DefaultLastYear+3, time.January, 1, 8, 0, 0, 0, time.UTC).
			Add(time.Duration(p.dice.IntN(365*24)) * time.Hour)
		body, err := json.Marshal(map[string]any{
			"elements": []int64{p.one("Staff").ID, p.one("Location").ID, p.one("Pupil").ID, p.one("Pupil").ID},
			"event": map[string]any{
				"body": "Rehearsal", "eventcategory_id": category,
				"starts_at": starts.Format(time.RFC3339), "ends_at": starts.Add(time.Hour).Format(time.RFC3339),
			},
		})
		if err != nil {
			return call{}, err
		}
		creation.requests = append(creation.requests, request{http.MethodPost, "/api/events", string(body)})
	}
	return creation, nil
}

// warmUp makes each request of a call that only reads once. It fails when one is refused.
func (s *school) warmUp(ctx context.Context, c *call) error {
	c.cookie = cmp.Or(c.cookie, s.cookie)
	for _, r := range c.requests {
		if r.method != http.MethodGet || c.name == login {
			continue
		}
		if _, err := s.send(ctx, c.cookie, r.method, r.path); err != nil {
			return err
		}
	}
	return nil
}

// ask makes a request of the first administrator's, and reads its answer.
func (s *school) ask(ctx context.Context, method, path string, into any) error {
	body, err := s.send(ctx, s.cookie, method, path)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// send returns the body of an answer, which has to be a success. The error leaves out the path: a feed's is secret.
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
