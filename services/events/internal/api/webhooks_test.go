package api_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/receivers"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// webhookDistrict is two new schools, each with a hall that the keeper decides on, an administrator and a receiver; the
// third receiver is the deployment's.
type webhookDistrict struct {
	admin, keeper *servicetest.Client
	category      int64
	schools       map[string]*webhookSchool
	all           *receivers.Endpoint
	ofAll         int64 // the deployment's webhook
}

type webhookSchool struct {
	group, hall, user, webhook int64
	secret                     string // of the webhook
	head                       *servicetest.Client
	receiver                   *receivers.Endpoint
}

func hookOf(fields map[string]any) map[string]any { return map[string]any{"webhook": fields} }

func newWebhookDistrict(t *testing.T) *webhookDistrict {
	t.Helper()
	d := &webhookDistrict{schools: map[string]*webhookSchool{}, all: receivers.NewEndpoint(t)}
	d.category, d.admin = loadSchool(t).trip, system(t).Admin(t)
	user := func(fields map[string]any) (int64, *servicetest.Client) {
		fields["name"], fields["email"] = "Head", uuid.NewString()+"@school.example"
		fields["permissions"] = map[string]any{"can_api": true, "can_add_events": true}
		made := d.admin.Post(t, "/api/admin/users", map[string]any{"user": fields}).Must(t, 201)
		return made.Int(t, "user.id"), system(t).Login(t, made.Text(t, "user.uuid"))
	}
	var keeper int64
	keeper, d.keeper = user(map[string]any{})
	for _, name := range []string{"north", "south"} {
		s, key := &webhookSchool{receiver: receivers.NewEndpoint(t)}, uuid.NewString()
		s.group = d.admin.Import(t, "groups", map[string]any{"key": key, "name": key, "school": true})[key]
		s.hall = d.admin.Import(t, "locations", map[string]any{"key": key, "name": name + " hall"})[key]
		d.join(t, s.group, s.hall)
		d.admin.Put(t, path("/api/admin/elements/%d/administrators/%d", s.hall, keeper), nil).Must(t, 200)
		s.user, s.head = user(map[string]any{"admin_of": []int64{s.group}})
		made := s.head.Post(t, "/api/admin/webhooks", hookOf(map[string]any{"url": s.receiver.URL})).Must(t, 201)
		s.webhook, s.secret = made.Int(t, "webhook.id"), made.Text(t, "webhook.secret")
		d.schools[name] = s
	}
	d.ofAll = d.admin.Post(t, "/api/admin/webhooks", hookOf(map[string]any{"url": d.all.URL})).Must(t, 201).
		Int(t, "webhook.id")
	t.Cleanup(func() { d.admin.Delete(t, path("/api/admin/webhooks/%d", d.ofAll)) })
	return d
}

func (d *webhookDistrict) join(t *testing.T, group, member int64) {
	t.Helper()
	d.admin.Post(t, path("/api/admin/elements/%d/members", group), map[string]any{"members": []map[string]any{
		{"element_id": member}}}).Must(t, 201)
}

// book asks for halls, and waits until the deployment's webhook has the notice.
func (d *webhookDistrict) book(t *testing.T, title string, halls ...any) created {
	t.Helper()
	e := book(t, d.admin, map[string]any{"body": title, "event_category_id": d.category,
		"starts_at_text": "2026-09-07 19:00", "ends_at_text": "2026-09-07 21:00"}, halls...)
	d.await(t, e, 1)
	return e
}

// await waits until the deployment's webhook has so many notices of an event: those of the schools are made in the
// same step, and sent beside it.
func (d *webhookDistrict) await(t *testing.T, e created, notices int) {
	t.Helper()
	timetest.Eventually(t, fmt.Sprintf("%d notices of %d", notices, e.Event.ID), 30*time.Second, func() bool {
		return len(taken(t, d.all, e.Event.ID)) == notices
	})
}

// taken are the notices of an event that a receiver took: kind, and the elements of the entries.
func taken(t *testing.T, r *receivers.Endpoint, event int64) []string {
	t.Helper()
	var all []string
	seen := map[string]bool{}
	for _, got := range r.Taken() {
		if got.Subject != text(event) || seen[got.ID] {
			continue
		}
		seen[got.ID] = true
		var body struct {
			Data struct {
				Entries []struct{ Element struct{ Name string } }
			}
		}
		errortest.None(t, json.Unmarshal([]byte(got.Body), &body))
		told := strings.TrimPrefix(got.Type, "io.github.belfry-schools.")
		for _, e := range body.Data.Entries {
			told += ", " + e.Element.Name
		}
		all = append(all, told)
	}
	return all
}

// want compares the notices of an event that a school got. Where it is to get none, it waits until the log of its
// deliveries, which is written with that of the deployment, has none.
func (d *webhookDistrict) want(t *testing.T, name string, e created, want ...string) {
	t.Helper()
	s := d.schools[name]
	if len(want) > 0 {
		timetest.Eventually(t, fmt.Sprintf("%s to be told %q", name, want), 30*time.Second,
			func() bool { return slices.Equal(taken(t, s.receiver, e.Event.ID), want) })
		return
	}
	log := d.admin.Get(t, path("/api/admin/webhooks/%d/deliveries?limit=1000", s.webhook)).Must(t, 200)
	valuetest.Lacks(t, log.Body, fmt.Sprintf(`"event_id":%d,`, e.Event.ID), "%s is told of %d", name, e.Event.ID)
}

// TestNotice_OfASchool: a webhook of a school gets the entries of what belongs to the school on that day.
func TestNotice_OfASchool(t *testing.T) {
	t.Parallel()
	d := newWebhookDistrict(t)
	north, south := d.schools["north"], d.schools["south"]
	const asked = "commitment.requested, "
	both := d.book(t, "Both", north.hall, south.hall)
	d.want(t, "north", both, asked+"north hall")
	d.want(t, "south", both, asked+"south hall")
	valuetest.List(t, taken(t, d.all, both.Event.ID), []string{asked + "north hall, south hall"}, "the deployment")
	one := d.book(t, "One", north.hall)
	d.want(t, "north", one, asked+"north hall")
	d.want(t, "south", one)

	// It gets notices of halls that become free, also when the event was deleted.
	decide(t, d.keeper, one.Event.Commitments[0].ID, "confirmed").Must(t, 200)
	d.await(t, one, 2)
	d.admin.Delete(t, path("/api/events/%d", one.Event.ID)).Must(t, 200)
	d.await(t, one, 3)
	d.want(t, "north", one, asked+"north hall", "commitment.decided, north hall", "event.deleted, north hall")
	d.want(t, "south", one)

	// What moves is another school's from then on.
	d.join(t, south.group, north.hall)
	d.admin.Delete(t, path("/api/admin/elements/%d/members/%d", north.group, north.hall)).Must(t, 200)
	moved := d.book(t, "Moved", north.hall)
	d.want(t, "south", moved, asked+"north hall")
	d.want(t, "north", moved)

	// A group that is no longer a school gets nothing, and its administrator has no rights.
	d.admin.Patch(t, path("/api/admin/elements/%d", south.group),
		map[string]any{"element": map[string]any{"school": false}}).Must(t, 200)
	last := d.book(t, "Last", south.hall)
	d.want(t, "south", last)
	south.head.Get(t, path("/api/admin/webhooks/%d", south.webhook)).WantCode(t, 403)
	d.admin.Get(t, path("/api/admin/webhooks/%d", south.webhook)).Must(t, 200)
}

// TestAdministration_ASchoolInASchoolIsItsAdministratorsToo: its webhooks and categories, as its elements are, and only
// while it is in there.
func TestAdministration_ASchoolInASchoolIsItsAdministratorsToo(t *testing.T) {
	t.Parallel()
	d := newWebhookDistrict(t)
	outer, inner := d.schools["north"], d.schools["south"]
	made := inner.head.Post(t, "/api/admin/eventcategories",
		map[string]any{"eventcategory": map[string]any{"name": "Club"}}).Must(t, 201)
	category := path("/api/admin/eventcategories/%d", made.Int(t, "eventcategory.id"))
	webhook := path("/api/admin/webhooks/%d", inner.webhook)
	want := func(when string, code int, listed bool) {
		t.Helper()
		for url, body := range map[string]any{
			webhook:  hookOf(map[string]any{"active": true}),
			category: map[string]any{"eventcategory": map[string]any{"publish": true}},
		} {
			outer.head.Patch(t, url, body).WantCode(t, code, "%s: PATCH %s", when, url)
		}
		outer.head.Get(t, webhook).WantCode(t, code, "%s: GET %s", when, webhook)
		of := regexp.MustCompile(fmt.Sprintf(`"school_id":%d\b`, inner.group))
		for _, url := range []string{"/api/admin/webhooks", "/api/admin/eventcategories"} {
			all := outer.head.Get(t, url+"?limit=1000").Must(t, 200).Body
			valuetest.Same(t, of.MatchString(all), listed, "%s: %s: %s", when, url, all)
		}
		for _, c := range []struct {
			url  string
			body map[string]any
		}{
			{"/api/admin/webhooks", hookOf(map[string]any{"url": outer.receiver.URL, "school_id": inner.group})},
			{"/api/admin/eventcategories", map[string]any{"eventcategory": map[string]any{
				"name": "Club " + when, "school_id": inner.group}}},
		} {
			made := 201
			if code != 200 {
				made = code
			}
			outer.head.Post(t, c.url, c.body).WantCode(t, made, "%s: POST %s", when, c.url)
		}
	}
	want("before", 403, false)
	d.join(t, outer.group, inner.group)
	want("within", 200, true)
	inner.head.Get(t, path("/api/admin/webhooks/%d", outer.webhook)).WantCode(t, 403)
	d.admin.Delete(t, path("/api/admin/elements/%d/members/%d", outer.group, inner.group)).Must(t, 200)
	want("after", 403, false)
}

// TestNotice_WebhooksOfASchoolAreItsAdministrators: no administrator of a school has another's, or the deployment's.
func TestNotice_WebhooksOfASchoolAreItsAdministrators(t *testing.T) {
	t.Parallel()
	d := newWebhookDistrict(t)
	north, south := d.schools["north"], d.schools["south"]
	list := func(c *servicetest.Client) (ids []int64) {
		var reply struct{ Webhooks []struct{ ID int64 } }
		c.Get(t, "/api/admin/webhooks").Must(t, 200).Decode(t, &reply)
		for _, w := range reply.Webhooks {
			ids = append(ids, w.ID)
		}
		return ids
	}
	valuetest.List(t, list(north.head), []int64{north.webhook}, "of north")
	for _, id := range []int64{north.webhook, south.webhook, d.ofAll} {
		valuetest.Holds(t, slices.Contains(list(d.admin), id), "an admin is not shown %d", id)
	}
	own := path("/api/admin/webhooks/%d", north.webhook)
	if a := north.head.Get(t, own); a.Code != 200 || !strings.Contains(a.Body,
		fmt.Sprintf(`"school_id":%d,`, north.group)) {
		t.Errorf("its own: %d %s", a.Code, a.Body)
	}
	for _, c := range []struct{ method, rest string }{
		{"GET", ""}, {"PATCH", ""}, {"GET", "/deliveries"}, {"POST", "/secret"}, {"POST", "/test"}, {"DELETE", ""},
	} {
		body := any(nil)
		if c.method == "PATCH" {
			body = hookOf(map[string]any{"active": true})
		}
		for _, other := range []int64{south.webhook, d.ofAll} {
			north.head.Do(t, c.method, path("/api/admin/webhooks/%d", other)+c.rest, body).WantCode(t, 403)
		}
	}
	url := north.receiver.URL
	for _, c := range []struct {
		by     *servicetest.Client
		school any
		code   int
		want   string
	}{
		{north.head, south.group, 403, ""},
		{north.head, int64(1e15), 403, ""},
		{north.head, "x", 422, `"school_id":["must exist"]`},
		{d.admin, north.hall, 422, `"school_id":["is not a school"]`},
		{d.admin, int64(1e15), 422, `"school_id":["must exist"]`},
		{d.admin, south.group, 201, fmt.Sprintf(`"school_id":%d,`, south.group)},
	} {
		a := c.by.Post(t, "/api/admin/webhooks", hookOf(map[string]any{"url": url, "school_id": c.school}))
		if a.Code != c.code || !strings.Contains(a.Body, c.want) {
			t.Errorf("school_id %v: %d %s", c.school, a.Code, a.Body)
		}
	}
	for value, code := range map[any]int{nil: 200, north.group: 200, south.group: 422} {
		d.admin.Patch(t, own, hookOf(map[string]any{"school_id": value})).WantCode(t, code, "PATCH to %v", value)
	}
	for n := 2; n <= 11; n++ {
		want := 201
		if n == 11 {
			want = 409
		}
		north.head.Post(t, "/api/admin/webhooks", hookOf(map[string]any{"url": url})).WantCode(t, want,
			"number %d of a school", n)
	}
	// With two schools it has to say which; without any, the webhooks stay, and are an admin's.
	right := func(schools ...int64) {
		d.admin.Patch(t, path("/api/admin/users/%d", south.user),
			map[string]any{"user": map[string]any{"admin_of": schools}}).Must(t, 200)
	}
	right(north.group, south.group)
	if a := south.head.Post(t, "/api/admin/webhooks", hookOf(map[string]any{"url": url})); a.Code != 422 ||
		!strings.Contains(a.Body, `"school_id":["can't be blank"]`) {
		t.Errorf("of two schools: %d %s", a.Code, a.Body)
	}
	right()
	south.head.Get(t, "/api/admin/webhooks").Must(t, 403)
	d.admin.Get(t, path("/api/admin/webhooks/%d", south.webhook)).Must(t, 200)
}

func TestNotice_AWebhookIsChangedTestedAndDeleted(t *testing.T) {
	t.Parallel()
	d := newWebhookDistrict(t)
	s := d.schools["north"]
	one := path("/api/admin/webhooks/%d", s.webhook)
	const kinds = `["commitment.requested","commitment.decided","commitment.deleted","request.allocated",` +
		`"event.deleted"]`
	a := s.head.Get(t, one)
	webhook := path(`{"id":%d,"url":"%s","kinds":%s,"active":true,"school_id":%d,"created_at":"%s","valid":true}`,
		s.webhook, s.receiver.URL, kinds, s.group, a.Text(t, "webhook.created_at"))
	a.Want(t, 200, `{"status":"OK","webhook":`+webhook+`}`)
	s.head.Get(t, "/api/admin/webhooks").Want(t, 200, `{"status":"OK","webhooks":[`+webhook+`],"next":null}`)
	change := func(field string, value any) servicetest.Answer {
		return s.head.Patch(t, one, hookOf(map[string]any{field: value}))
	}
	for _, c := range []struct {
		field   string
		value   any
		message string
	}{
		{"url", "https://192.168.0.1/", "is at an address that is not allowed"}, {"url", "", "can't be blank"},
		{"url", 5, "is not a string"},
		{"kinds", []string{"all"}, `"all" is not included in the list`}, {"kinds", []string{}, "can't be blank"},
		{"kinds", "all", "is not an array of kinds"},
		{"active", "perhaps", "is not true or false"},
	} {
		wantInvalid(t, change(c.field, c.value), "webhook", c.field, c.message)
	}
	wantInvalid(t, s.head.Post(t, "/api/admin/webhooks", hookOf(map[string]any{})), "webhook", "url", "can't be blank")
	for _, field := range []string{"url", "kinds", "active"} { // null counts as not given
		change(field, nil).Want(t, 200, `{"status":"OK","webhook":`+webhook+`}`)
	}
	valuetest.Has(t, change("active", false).Must(t, 200).Body, `"active":false`)

	made := s.head.Post(t, "/api/admin/webhooks", hookOf(map[string]any{"url": s.receiver.URL, "active": false}))
	second := path("/api/admin/webhooks/%d", made.Must(t, 201).Int(t, "webhook.id"))
	valuetest.Same(t, made.Header.Get("Location"), second, "the second is at")
	page := s.head.Get(t, "/api/admin/webhooks?limit=1").Must(t, 200)
	last := s.head.Get(t, "/api/admin/webhooks?limit=1&after="+page.Text(t, "next")).Must(t, 200)
	ids := []int64{page.Int(t, "webhooks.0.id"), last.Int(t, "webhooks.0.id")}
	valuetest.Holds(t, slices.Contains(ids, s.webhook) && ids[0] != ids[1] && last.At(t, "next") == "null",
		"the pages have %d", ids)
	s.head.Delete(t, second).WantCode(t, 200)

	for code, state := range map[int]string{204: "delivered", 500: "failed"} { // of an inactive one
		s.receiver.Answer(code)
		made := s.head.Post(t, one+"/test", nil).Must(t, 201)
		valuetest.Has(t, made.Body, `"kind":"webhook.test","event_id":null,"state":"waiting","attempts":0,`)
		timetest.Eventually(t, "the test to be "+state, 30*time.Second, func() bool {
			log := s.head.Get(t, one+"/deliveries?limit=1").Body
			return strings.Contains(log, path(`{"id":%d,`, made.Int(t, "delivery.id"))) &&
				strings.Contains(log, path(`"state":"%s","attempts":1,`, state)) &&
				strings.Contains(log, path(`"next_attempt_at":null,"code":%d,`, code))
		})
	}
	s.receiver.Answer(204)

	loadSchool(t).as(t, "stranger").Post(t, one+"/secret", nil).
		Want(t, 403, `{"status":"Forbidden","message":"needs admin or admin_of"}`)
	renewed := s.head.Post(t, one+"/secret", nil).Must(t, 201).Text(t, "webhook.secret")
	valuetest.Holds(t, strings.HasPrefix(renewed, "whsec_") && renewed != s.secret, "the new secret is %s", renewed)
	valuetest.Lacks(t, s.head.Get(t, one).Body, "whsec_", "a secret is shown again")
	before := len(s.receiver.Got())
	s.head.Post(t, one+"/test", nil).Must(t, 201)
	timetest.Eventually(t, "a test", 30*time.Second, func() bool { return len(s.receiver.Got()) > before })
	for _, secret := range []string{s.secret, renewed} { // the previous one also signs
		errortest.Report(t, receivers.Verify(secret, s.receiver.Got()[before]))
	}

	page = s.head.Get(t, one+"/deliveries?limit=2").Must(t, 200)
	newest := page.Ints(t, "deliveries.#.id")
	valuetest.MustHold(t, len(newest) == 2 && newest[0] > newest[1], "the newest are %d", newest)
	older := s.head.Get(t, one+"/deliveries?limit=2&after="+page.Text(t, "next"))
	valuetest.Holds(t, older.Int(t, "deliveries.0.id") < newest[1], "after %d: %s", newest, older.Body)
	s.head.Delete(t, one).Must(t, 200)
	s.head.Get(t, one).WantCode(t, 404)
	deliveries, err := system(t).DB.Collection("webhook_deliveries").CountDocuments(t.Context(),
		bson.D{{Key: "webhook_id", Value: s.webhook}})
	errortest.None(t, err)
	valuetest.Same(t, deliveries, 0, "deliveries of a deleted webhook")

	// The audit shows neither the address nor the secret.
	log := d.admin.Get(t, path("/api/admin/audit/events?record=Webhook:%d", s.webhook))
	valuetest.List(t, log.Texts(t, "entries.#.action"), []string{"delete", "update", "update", "create"}, "the audit")
	valuetest.Has(t, log.Body, `{"field":"secret","from":null,"to":null}`)
	for _, hidden := range []string{"whsec_", s.receiver.URL, s.secret} {
		valuetest.Lacks(t, log.Body, hidden)
	}
}
