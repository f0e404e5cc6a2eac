package api_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/receivers"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// webhookDistrict is two schools in a system of its own, each with a hall that the keeper decides on, an administrator
// and a receiver; the third receiver is the deployment's.
type webhookDistrict struct {
	*servicetest.System
	admin, keeper *servicetest.Client
	category      int64
	schools       map[string]*webhookSchool
	all           *receivers.Endpoint
	ofAll         int64 // the deployment's webhook
}

type webhookSchool struct {
	group, hall, user, webhook int64
	head                       *servicetest.Client
	receiver                   *receivers.Endpoint
}

func hookOf(fields map[string]any) map[string]any { return map[string]any{"webhook": fields} }

func startWebhookDistrict(t *testing.T) *webhookDistrict {
	t.Helper()
	d := &webhookDistrict{schools: map[string]*webhookSchool{}, all: receivers.NewEndpoint(t)}
	d.System = servicetest.Start(t, servicetest.Options{Replicas: 2, Env: map[string]string{
		"BELFRY_WEBHOOK_NETWORKS": "127.0.0.0/8"}})
	d.admin = d.Admin(t)
	d.category = d.admin.Import(t, "eventcategories", map[string]any{"key": "1", "name": "Concert"})["1"]
	heads := 0
	user := func(fields map[string]any) (int64, *servicetest.Client) {
		heads++
		fields["name"], fields["email"] = "Head", fmt.Sprintf("head%d@school.example", heads)
		fields["permissions"] = map[string]any{"can_api": true, "can_add_events": true}
		made := d.admin.Post(t, "/api/admin/users", map[string]any{"user": fields}).Must(t, 201)
		return made.Int(t, "user.id"), d.Login(t, made.Text(t, "user.uuid"))
	}
	var keeper int64
	keeper, d.keeper = user(map[string]any{})
	for _, name := range []string{"north", "south"} {
		s := &webhookSchool{receiver: receivers.NewEndpoint(t)}
		s.group = d.admin.Import(t, "groups", map[string]any{"key": name, "name": name, "school": true})[name]
		s.hall = d.admin.Import(t, "locations", map[string]any{"key": name, "name": name + " hall"})[name]
		d.join(t, s.group, s.hall)
		d.admin.Put(t, path("/api/admin/elements/%d/administrators/%d", s.hall, keeper), nil).Must(t, 200)
		s.user, s.head = user(map[string]any{"admin_of": []int64{s.group}})
		s.webhook = s.head.Post(t, "/api/admin/webhooks", hookOf(map[string]any{"url": s.receiver.URL})).Must(t,
			201).Int(t, "webhook.id")
		d.schools[name] = s
	}
	d.ofAll = d.admin.Post(t, "/api/admin/webhooks", hookOf(map[string]any{"url": d.all.URL})).Must(t, 201).
		Int(t, "webhook.id")
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
	d := startWebhookDistrict(t)
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
	d := startWebhookDistrict(t)
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
			all := outer.head.Get(t, url).Must(t, 200).Body
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
	d := startWebhookDistrict(t)
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
	valuetest.Len(t, list(d.admin), 3, "of all")
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
		north.head.Do(t, c.method, path("/api/admin/webhooks/%d", int64(1e15))+c.rest, body).WantCode(t, 404)
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
