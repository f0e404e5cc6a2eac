package walkthrough

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// school holds what the walk has created so far.
type school struct {
	day time.Time // midnight of the concert's day, a Monday four weeks ahead

	admin, owner, keeper, deputy, driver, script, pupil *person

	lesson, concert                                           int64 // categories
	teacher, kai, hall, room, choir, buses, calendar, subject int64 // elements
	minibuses                                                 []int64
	webhook, event, entry                                     int64 // the concert, and its commitment to the calendar

	hookNotices []string // expected notices by webhook about the concert
	ownerMail   []string // expected items in mails to the owner
	keeperMail  []string // expected items in mails to the keeper
}

// The bodies of answers that hold only a status.
const (
	okBody       = `{"status":"OK"}`
	accessDenied = `{"status":"Access denied"}`
	forbidden    = `{"status":"Forbidden"}`
	notFound     = `{"status":"Not found"}`
)

// fields are the fields of an object in a body.
type fields map[string]any

// sent returns ids as the contract's clients send them: strings.
func sent(ids ...int64) []string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatInt(id, 10)
	}
	return texts
}

func path(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// date returns the day that many days after the concert, as YYYY-MM-DD.
func (w *walk) date(days int) string { return w.day.AddDate(0, 0, days).Format(time.DateOnly) }

// moment returns a clock time on such a day, in the format of the API.
func (w *walk) moment(days int, clock string) string {
	if clock == "24:00" {
		days, clock = days+1, "00:00"
	}
	at, err := time.ParseInLocation("2006-01-02 15:04", w.date(days)+" "+clock, w.Zone)
	if err != nil {
		w.fail(err)
	}
	return at.Format("2006-01-02T15:04:05.000-07:00")
}

func (w *walk) login(p *person) {
	w.call(p, "GET", "/api/login?uuid="+url.QueryEscape(p.uuid), nil, 200, exactly(okBody))
	if w.err == nil && p.client.SessionCookie() == nil {
		w.differ("the login of "+p.name, "a session cookie", "none")
	}
}

func emptyDeployment(w *walk) {
	now := time.Now().In(w.Zone)
	w.day = time.Date(now.Year(), now.Month(), now.Day()+28+(8-int(now.Weekday()))%7, 0, 0, 0, 0, w.Zone)
	w.hookNotices, w.ownerMail, w.keeperMail = []string{}, []string{}, []string{}
	w.admin = &person{name: "First administrator", uuid: w.AdminUUID}
	w.call(nil, "GET", "/api/admin/users", nil, 401, exactly(accessDenied))
	w.login(w.admin)
	users := w.call(w.admin, "GET", "/api/admin/users", nil, 200)
	w.admin.id = users.id("users.0.id")
	if n := users.at("users.#"); w.err == nil && n != 1 {
		w.fail(ErrNotEmpty)
	}
	w.call(w.admin, "GET", "/sessions/1/whoami", nil, 200, is("user_id", w.admin.id))
	w.call(w.admin, "GET", "/api/admin/elements", nil, 200, exactly(`{"status":"OK","elements":[],"next":null}`))
	w.call(w.admin, "GET", "/api/admin/eventcategories", nil, 200,
		exactly(`{"status":"OK","eventcategories":[],"next":null}`))
}

// category makes an event category with those flags.
func (w *walk) category(name string, order int, flags ...string) int64 {
	record := fields{"name": name, "pecking_order": order}
	for _, flag := range flags {
		record[flag] = true
	}
	a := w.call(w.admin, "POST", "/api/admin/eventcategories", fields{"eventcategory": record}, 201,
		is("status", "Created"), is("eventcategory.name", name))
	return a.id("eventcategory.id")
}

// element makes an element and checks that it has that name.
func (w *walk) element(entityType, name string, record fields) int64 {
	record["entity_type"] = entityType
	a := w.call(w.admin, "POST", "/api/admin/elements", fields{"element": record}, 201, is("element.name", name),
		is("element.entity_type", entityType), is("element.current", true))
	return a.id("element.id")
}

func elements(w *walk) {
	w.lesson = w.category("Lesson", 10, "busy", "timetable")
	w.concert = w.category("Concert", 20, "busy", "publish", "visible")
	w.call(w.admin, "POST", "/api/admin/eventcategories", fields{"eventcategory": fields{"name": "Lesson"}}, 422,
		is("eventcategory.errors.name.#", 1))
	w.call(w.admin, "PATCH", path("/api/admin/eventcategories/%d", w.lesson),
		fields{"eventcategory": fields{"clash_check": true}}, 200,
		is("eventcategory.clash_check", true), is("eventcategory.pecking_order", 10))

	w.teacher = w.element("Staff", "HGO - Hannah Gordon",
		fields{"initials": "HGO", "forename": "Hannah", "surname": "Gordon", "email": "hgo@school.invalid"})
	w.kai = w.element("Pupil", "Kai Butler", fields{"forename": "Kai", "surname": "Butler"})
	w.hall = w.element("Location", "Great Hall", fields{"name": "Great Hall", "short_name": "Hall"})
	w.room = w.element("Location", "Music Room", fields{"name": "Music Room", "short_name": "MU1"})
	w.choir = w.element("Group", "Choir", fields{"name": "Choir"})
	w.buses = w.element("Group", "Minibuses", fields{"name": "Minibuses", "resource": true})
	w.calendar = w.element("Property", "Public calendar", fields{"name": "Public calendar", "make_public": true})
	w.subject = w.element("Subject", "Music", fields{"name": "Music"})
	for n := range 4 {
		name := fmt.Sprintf("Minibus %d", n+1)
		w.minibuses = append(w.minibuses, w.element("Service", name, fields{"name": name}))
	}
	gym := w.element("Location", "Old gym", fields{"name": "Old gym"})

	w.call(w.admin, "POST", "/api/admin/elements", fields{"element": fields{"entity_type": "Ghost", "name": "Nick"}},
		422, is("element.id", nil), is("element.valid", false))
	w.call(w.admin, "PATCH", path("/api/admin/elements/%d", w.kai),
		fields{"element": fields{"known_as": "Kip", "tutor_group": "9A"}}, 200, is("element.name", "Kip Butler (9A)"))
	w.call(w.admin, "DELETE", path("/api/admin/elements/%d", gym), nil, 200, exactly(okBody))
	w.call(w.admin, "GET", "/api/elements?name=Old%20gym", nil, 404, exactly(`{"status":"Not found","elements":[]}`))
	w.call(w.admin, "GET", "/api/elements?namelike=mini", nil, 200,
		is("elements.*.name", []string{"Minibus 1", "Minibus 2", "Minibus 3", "Minibus 4", "Minibuses"}))
	w.call(w.admin, "GET", path("/api/elements/%d", w.teacher), nil, 200, is("element.initials", "HGO"),
		is("element.email", "hgo@school.invalid"))
}

// batch sends records of a kind.
func (w *walk) batch(query string, records []fields, wants ...expectation) {
	lines := ""
	for _, record := range records {
		line, err := json.Marshal(record)
		if err != nil {
			w.fail(err)
		}
		lines += string(line) + "\n"
	}
	w.callWith(w.admin, "POST", "/api/admin/import/pupils"+query, lines,
		http.Header{"Content-Type": {"application/x-ndjson"}}, 200, wants...)
}

func importing(w *walk) {
	records := []fields{{"key": "1", "forename": "Ann", "surname": "Archer", "tutor_group": "9A"},
		{"key": "2", "forename": "Ben", "surname": "Bishop"}, {"key": "3", "forename": "nameless"}}
	results := func(all ...string) expectation { return is("records.*.result", all) }
	w.batch("?dry_run=true", records, results("created", "created", "failed"))
	w.call(w.admin, "GET", "/api/admin/elements?key=Pupil:1", nil, 200, is("elements", []any{}))
	w.batch("", records, results("created", "created", "failed"),
		is("records.2.errors", fields{"surname": []string{"can't be blank"}}))
	w.batch("", records[:2], results("unchanged", "unchanged"), is("unchanged", 2))
	records[1]["tutor_group"] = "9B"
	w.batch("", records[:2], results("unchanged", "updated"))
	w.call(w.admin, "GET", "/api/admin/elements?key=Pupil:2", nil, 200,
		is("elements.*.name", []string{"Ben Bishop (9B)"}))
}

func members(w *walk) {
	list := func(group int64, query string, wants ...expectation) {
		w.call(w.admin, "GET", path("/api/admin/elements/%d/members%s", group, query), nil, 200, wants...)
	}
	put := func(group, member int64, first, last any, code int, wants ...expectation) {
		w.call(w.admin, "POST", path("/api/admin/elements/%d/members", group),
			fields{"members": []fields{{"element_id": member, "first_day": first, "last_day": last}}}, code, wants...)
	}
	put(w.choir, w.kai, w.date(-7), w.date(0), 201)
	put(w.choir, w.kai, w.date(-1), w.date(2), 201)
	list(w.choir, "", is("members.*.first_day", []string{w.date(-7)}), is("members.*.last_day", []string{w.date(2)}))
	year := w.element("Group", "Year 9", fields{"name": "Year 9"})
	put(year, w.choir, nil, nil, 201)
	list(year, "?nested=true&on="+w.date(2), is("members.*.element.name", []string{"Kip Butler (9A)"}))
	list(year, "?nested=true&on="+w.date(3), is("members", []any{}))
	put(year, year, nil, nil, 422, is("members.0.errors", fields{"element_id": []string{"is the group itself"}}))
	put(year, w.kai, w.date(1), w.date(0), 422,
		is("members.0.errors", fields{"last_day": []string{"is before first_day"}}))
	put(year, w.room, w.date(0), w.date(9), 201)
	w.call(w.admin, "DELETE", path("/api/admin/elements/%d/members/%d?from=%s", year, w.room, w.date(5)), nil, 200,
		exactly(okBody))
	list(year, "?on="+w.date(4), is("members.#", 2))
	list(year, "?on="+w.date(5), is("members.#", 1))
	for i, bus := range w.minibuses {
		var first any
		if i == 2 { // too late for the concert
			first = w.date(1)
		}
		put(w.buses, bus, first, nil, 201)
	}
}
