package walkthrough

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emersion/go-ical"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// title is the title of the concert. It has to be escaped in HTML and folded in a calendar.
const title = "Spring concert & tea <b>of the choir</b>, the orchestra and all their friends"

// The bodies of answers that hold only a status.
const (
	okBody       = `{"status":"OK"}`
	accessDenied = `{"status":"Access denied"}`
	forbidden    = `{"status":"Forbidden"}`
	notFound     = `{"status":"Not found"}`
)

// The statuses of a commitment.
const requested, confirmed, noted, uncontrolled = "requested", "confirmed", "noted", "uncontrolled"

// school holds what the walk has created so far.
type school struct {
	day time.Time // midnight of the concert's day, a Monday four weeks ahead

	admin, owner, keeper, pupil *person

	teacher, kip, room, choir, calendar int64 // elements
	category, webhook                   int64
	event, entry                        int64 // the concert, and its commitment to the calendar

	hookNotices []string // expected notices by webhook about the concert
	ownerMail   []string // expected items in mails to the owner
	keeperMail  []string // expected items in mails to the keeper
}

// fields are the fields of an object in a body.
type fields map[string]any

// sent returns ids as the contract's clients send them: strings.
func sent(ids ...int64) []string {
	return sequence.Map(ids, func(id int64) string { return strconv.FormatInt(id, 10) })
}

func path(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// date is the day of the concert, as YYYY-MM-DD.
func (w *walk) date() string { return w.day.Format(time.DateOnly) }

// instant returns a clock time on that day, in the format of the API.
func (w *walk) instant(clock string) string {
	at, err := time.ParseInLocation("2006-01-02 15:04", w.date()+" "+clock, w.Zone)
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
}

func settingUp(w *walk) {
	w.category = w.call(w.admin, "POST", "/api/admin/eventcategories", fields{"eventcategory": fields{
		"name": "Concert", "busy": true, "publish": true, "visible": true}}, 201).id("eventcategory.id")
	element := func(entityType, name string, record fields) int64 {
		record["entity_type"] = entityType
		return w.call(w.admin, "POST", "/api/admin/elements", fields{"element": record}, 201, is("element.name", name),
			is("element.current", true)).id("element.id")
	}
	w.teacher = element("Staff", "HGO - Hannah Gordon",
		fields{"initials": "HGO", "forename": "Hannah", "surname": "Gordon", "email": "hgo@school.invalid"})
	w.kip = element("Pupil", "Kip Butler (9A)",
		fields{"forename": "Kai", "known_as": "Kip", "surname": "Butler", "tutor_group": "9A"})
	w.room = element("Location", "Music Room", fields{"name": "Music Room", "short_name": "MU1"})
	w.choir = element("Group", "Choir", fields{"name": "Choir"})
	w.calendar = element("Property", "Public calendar", fields{"name": "Public calendar", "make_public": true})
	w.call(w.admin, "POST", path("/api/admin/elements/%d/members", w.choir),
		fields{"members": []fields{{"element_id": w.kip}}}, 201)

	w.owner = w.user("Olive Owner", "olive@school.invalid", "staff", w.teacher, "can_api", "can_add_events")
	w.keeper = w.user("Kim Keeper", "kim@school.invalid", "staff", 0, "can_api")
	w.pupil = w.user("Kip Butler", "kip@school.invalid", "pupil", w.kip, "can_api")
	w.call(w.admin, "PUT", path("/api/admin/elements/%d/administrators/%d", w.calendar, w.keeper.id), nil, 200)
	w.call(w.admin, "GET", path("/api/admin/elements/%d", w.calendar), nil, 200, is("element.controlled", true))
	for _, p := range []*person{w.owner, w.keeper, w.pupil} {
		w.login(p)
	}
}

// user makes a user with those permissions.
func (w *walk) user(name, email, kind string, element int64, permissions ...string) *person {
	granted := fields{}
	for _, permission := range permissions {
		granted[permission] = true
	}
	record := fields{"name": name, "email": email, "kind": kind, "permissions": granted}
	if element != 0 {
		record["element_id"] = element
	}
	a := w.call(w.admin, "POST", "/api/admin/users", fields{"user": record}, 201, is("user.name", name),
		is("user.email", email), is("user.kind", kind), is("user.active", true))
	return &person{name: name, email: email, id: a.id("user.id"), uuid: a.text("user.uuid")}
}

func registering(w *walk) {
	if w.hook == nil {
		w.printf("     webhooks are not checked\n")
		return
	}
	const webhooks = "/api/admin/webhooks"
	made := w.call(w.admin, "POST", webhooks, fields{"webhook": fields{"url": w.hook.URL}}, 201,
		is("webhook.active", true))
	w.webhook = made.id("webhook.id")
	w.hook.Trust(made.text("webhook.secret"))
	w.call(w.admin, "POST", path("%s/%d/test", webhooks, w.webhook), nil, 201, is("delivery.state", "waiting"))
	w.await("the endpoint has", []string{"webhook.test"}, func() any {
		kinds := []string{}
		for _, d := range w.hook.Got() {
			kinds = append(kinds, d.Kind())
		}
		return kinds
	})
}

// awaitNotices waits until the webhook has delivered all notices about the concert, in order, and the owner and the
// keeper have all their mails.
func (w *walk) awaitNotices() {
	if w.hook != nil {
		w.await("the webhook has delivered, in order", w.hookNotices, func() any { return w.noticesOf(w.event) })
	}
	if w.mail != nil {
		w.await("the owner has mail", w.ownerMail, func() any { return items(w.mail, w.owner.email) })
		w.await("the administrator has mail", w.keeperMail, func() any { return items(w.mail, w.keeper.email) })
	}
}

// expectRequest records the notice and the mail about a request for the calendar.
func (w *walk) expectRequest() {
	w.hookNotices = append(w.hookNotices, "commitment.requested requested")
	w.keeperMail = append(w.keeperMail,
		"To decide: "+title+": Public calendar was asked for by Olive Owner and waits for a decision.")
}

// inbox expects that the keeper has to decide on those commitments.
func (w *walk) inbox(entries ...int64) {
	w.call(w.keeper, "GET", "/api/commitments?status=requested", nil, 200,
		is("commitments.*.id", append([]int64{}, entries...)), is("next", nil))
}

func booking(w *walk) {
	w.inbox()
	made := w.call(w.owner, "POST", "/api/events", fields{
		"event": fields{"body": title, "event_category_id": sent(w.category)[0],
			"starts_at_text": w.date() + " 19:00", "ends_at_text": w.date() + " 21:00"},
		"elements": sent(w.teacher, w.choir, w.room, w.calendar)}, 200,
		is("status", "Created"), is("failures", []any{}), is("event.starts_at", w.instant("19:00")),
		is("event.commitments.*.element.id", []int64{w.teacher, w.choir, w.room, w.calendar}),
		is("event.commitments.*.status", []string{uncontrolled, uncontrolled, uncontrolled, requested}))
	w.event, w.entry = made.id("event.id"), made.id("event.commitments.3.id")
	w.expectRequest()
	w.inbox(w.entry)
	w.awaitNotices()
	if w.mail == nil || w.err != nil {
		return
	}
	first := mailTo(w.mail, w.keeper.email)[0]
	w.check("the subject", "To decide: "+title, first.Subject)
	w.check("the HTML holds the title, escaped", true,
		strings.Contains(first.HTML, "Spring concert &amp; tea &lt;b&gt;of the choir"))
}

// decide changes the status of the calendar's entry.
func (w *walk) decide(as *person, status, reason string, code int, wants ...expectation) {
	w.call(as, "PATCH", path("/api/commitments/%d", w.entry),
		fields{"commitment": fields{"status": status, "reason": reason}}, code, wants...)
}

// decided makes the keeper decide, and records the expected notice and mail.
func (w *walk) decided(status, reason string) {
	w.decide(w.keeper, status, reason, 200, is("commitment.status", status), is("commitment.element.id", w.calendar))
	w.hookNotices = append(w.hookNotices, fmt.Sprintf("commitment.decided %s (%s)", status, reason))
	became := status
	if status == noted {
		became = "noted (seen, but not yet to be confirmed)"
	}
	w.ownerMail = append(w.ownerMail,
		fmt.Sprintf("Decided: %s: Public calendar was %s by Kim Keeper. Reason: %s", title, became, reason))
}

func deciding(w *walk) {
	w.decide(w.owner, confirmed, "", 403, exactly(forbidden))
	w.decide(w.keeper, uncontrolled, "never", 409, is("status", "Conflict"))
	w.decided(noted, "when the hall is free")
	w.decided(confirmed, "the hall is free")
	w.call(w.owner, "GET", path("/api/events/%d", w.event), nil, 200, is("event.commitments.3.status", confirmed))
	w.inbox()
	w.awaitNotices()
}

func retiming(w *walk) {
	change := func(record fields, status, starts string) {
		w.call(w.owner, "PATCH", path("/api/events/%d", w.event), fields{"event": record}, 200,
			is("event.commitments.*.status", []string{uncontrolled, uncontrolled, uncontrolled, status}),
			is("event.starts_at", w.instant(starts)))
	}
	change(fields{"organiser_id": sent(w.teacher)[0]}, confirmed, "19:00")
	change(fields{"starts_at_text": w.date() + " 19:30", "ends_at_text": w.date() + " 21:30"}, requested, "19:30")
	w.expectRequest()
	w.inbox(w.entry)
	w.awaitNotices()
}

// outage: while the endpoint is unavailable, a notice is repeated, byte for byte the same. When the endpoint
// answers again, the notice is delivered, and later ones after it.
func outage(w *walk) {
	if w.hook != nil {
		w.hook.Answer(http.StatusServiceUnavailable)
	}
	w.decided(noted, "one moment")
	w.decided(confirmed, "after all")
	if w.hook == nil {
		w.awaitNotices()
		return
	}
	refused := func() (bodies, signatures []string) {
		for _, d := range w.hook.Got() {
			if !d.Taken() {
				bodies, signatures = append(bodies, d.Body), append(signatures, d.Header.Get("webhook-signature"))
			}
		}
		return bodies, signatures
	}
	w.await("the endpoint was tried twice", true, func() any { bodies, _ := refused(); return len(bodies) >= 2 })
	bodies, signatures := refused()
	w.check("different bodies among these", 1, len(slices.Compact(bodies)))
	w.check("each has a signature of its own", len(signatures), len(slices.Compact(signatures)))
	w.hook.Answer(http.StatusNoContent)
	w.awaitNotices()
	w.await("states in the delivery log", []string{"delivered"}, w.states)
}

// calendars reads calendars with a parser of another library than the one that wrote them.
func calendars(w *walk) {
	concert := fmt.Sprintf("%s: %s 19:30 to 21:30", title, w.date())
	read := func(as *person, address string) answer {
		a := w.call(as, "GET", address, nil, 200)
		got := []string{}
		c, err := ical.NewDecoder(strings.NewReader(a.Body)).Decode()
		for err == nil && w.err == nil && len(got) < len(c.Events()) {
			got = append(got, w.shownEntry(c.Events()[len(got)]))
		}
		w.check("its type", "text/calendar; charset=utf-8", a.Header.Get("Content-Type"))
		w.check("another parser reads", []string{concert}, got)
		return a
	}
	read(w.owner, path("/api/elements/%d/calendar.ics", w.calendar))
	tagged := read(w.owner, path("/api/elements/%d/calendar.ics", w.kip)) // as a member of the choir
	w.callWith(w.owner, "GET", path("/api/elements/%d/calendar.ics", w.kip), nil,
		[]string{"If-None-Match", tagged.Header.Get("ETag")}, 304, exactly(""))

	feeds := path("/api/elements/%d/feeds", w.kip)
	feed := w.call(w.pupil, "POST", feeds, nil, 201)
	first := feed.text("feed.path")
	read(nil, first)
	renewal := fmt.Sprintf("%s/%d/address", feeds, feed.id("feed.id"))
	second := w.call(w.pupil, "POST", renewal, nil, 200).text("feed.path")
	w.call(nil, "GET", first, nil, 404, exactly(notFound))
	read(nil, second)
}

// shownEntry returns the text of a calendar's event as the parser reads it.
func (w *walk) shownEntry(e ical.Event) string {
	summary, err := e.Props.Text(ical.PropSummary)
	starts, startFault := e.DateTimeStart(w.Zone)
	ends, endFault := e.DateTimeEnd(w.Zone)
	if err != nil || startFault != nil || endFault != nil {
		return fmt.Sprint(err, startFault, endFault)
	}
	return fmt.Sprintf("%s: %s to %s", summary, starts.In(w.Zone).Format("2006-01-02 15:04"),
		ends.In(w.Zone).Format("15:04"))
}

func deleting(w *walk) {
	w.call(w.keeper, "DELETE", path("/api/events/%d", w.event), nil, 403, exactly(forbidden))
	w.call(w.owner, "DELETE", path("/api/events/%d", w.event), nil, 200, exactly(okBody))
	w.hookNotices = append(w.hookNotices, "event.deleted confirmed (after all)")
	w.keeperMail = append(w.keeperMail,
		"Deleted: "+title+": Public calendar, which was confirmed, is free again: "+
			"the event was deleted by Olive Owner. Reason: after all")
	w.call(w.owner, "GET", path("/api/events/%d", w.event), nil, 404, is("exception", "RecordNotFound"))
	w.call(w.owner, "GET", path("/api/elements/%d/commitments?start_date=%s", w.calendar, w.date()), nil, 200,
		is("commitments", []any{}))
	w.awaitNotices()
}

// audit reads the audit of each service, the newest entries first.
func audit(w *walk) {
	entries := func(service, record string, actions ...string) {
		w.call(w.admin, "GET", path("/api/admin/audit/%s?record=%s", service, record), nil, 200,
			is("entries.*.action", actions))
	}
	entries("identity", path("User:%d", w.keeper.id), "login", "create")
	entries("elements", path("Element:%d", w.calendar), "update", "create")
	entries("events", path("Commitment:%d", w.entry), "delete", "decide", "decide", "update", "decide",
		"decide", "create")
	w.call(w.owner, "GET", "/api/admin/audit/events", nil, 403, is("status", "Forbidden"),
		is("message", "needs admin or admin_of"))
}

func leaving(w *walk) {
	if w.hook != nil {
		w.allDelivered()
		w.call(w.admin, "DELETE", path("/api/admin/webhooks/%d", w.webhook), nil, 200, exactly(okBody))
	}
	for _, p := range []*person{w.owner, w.keeper, w.pupil, w.admin} {
		former := *p
		former.name += ", by the old cookie"
		former.client = w.clientOf(p).Copy()
		w.call(p, "GET", "/api/logout", nil, 200, exactly(okBody))
		w.call(&former, "GET", "/sessions/1/whoami", nil, 401, exactly(accessDenied))
	}
}
