package api_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/receivers"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// notified is a system of its own, two replicas of each service, with both channels of notice on.
type notified struct {
	*servicetest.System
	mail        *receivers.MailServer
	certificate tls.Certificate
	receiver    *receivers.Endpoint
	secret      string // of the webhook to the receiver
	webhook     int64

	calendar, category int64
	minibuses, minibus int64
	owner, keeper      *servicetest.Client
}

const (
	keeperMail = "keeper@school.example"
	ownerMail  = "owner@school.example"
)

func startNotified(t *testing.T) *notified {
	t.Helper()
	n := &notified{receiver: receivers.NewEndpoint(t)}
	authority, certificate, err := receivers.Authority(t.TempDir())
	errortest.None(t, err)
	n.certificate = certificate
	n.mail, err = receivers.StartMailServer(receivers.MailOptions{Certificate: &certificate, Login: true})
	errortest.None(t, err)
	t.Cleanup(n.mail.Stop)
	n.System = servicetest.Start(t, servicetest.Options{Replicas: 2, Env: map[string]string{
		"SSL_CERT_FILE": authority, "BELFRY_SMTP_HOST": n.mail.Host, "BELFRY_SMTP_PORT": strconv.Itoa(n.mail.Port),
		"BELFRY_MAIL_FROM":     "Belfry <belfry@school.example>",
		"BELFRY_SMTP_USERNAME": receivers.Username, "BELFRY_SMTP_PASSWORD": receivers.Password,
		"BELFRY_WEBHOOK_NETWORKS": "127.0.0.0/8", "BELFRY_PUBLIC_URL": "https://belfry.school.example",
	}})
	admin := n.Admin(t)
	n.calendar = admin.Import(t, "properties", map[string]any{"key": "1", "name": "Public calendar"})["1"]
	n.category = admin.Import(t, "eventcategories", map[string]any{"key": "1", "name": "Concert"})["1"]
	n.minibuses = admin.Import(t, "groups",
		map[string]any{"key": "buses", "name": "Minibuses", "resource": true})["buses"]
	n.minibus = admin.Import(t, "services", map[string]any{"key": "1", "name": "Minibus 1"})["1"]
	admin.Import(t, "memberships",
		map[string]any{"key": "Group:buses/Service:1", "group": "buses", "member": "Service:1",
			"spans": []map[string]any{{"first_day": nil, "last_day": nil}}})
	ids := map[string]string{"owner": uuid.NewString(), "keeper": uuid.NewString()}
	for name, id := range ids {
		admin.Import(t, "users", map[string]any{"key": name, "name": name, "email": name + "@school.example",
			"uuid": id, "can_api": true, "can_add_events": true})
	}
	admin.Import(t, "administrators",
		map[string]any{"key": "Property:1/keeper", "element": "Property:1", "user": "keeper"},
		map[string]any{"key": "Group:buses/keeper", "element": "Group:buses", "user": "keeper"})
	n.owner, n.keeper = n.Login(t, ids["owner"]), n.Login(t, ids["keeper"])

	a := admin.Post(t, "/api/admin/webhooks", map[string]any{"webhook": map[string]any{"url": n.receiver.URL}})
	var made struct {
		Webhook struct {
			ID     int64
			Secret string
		}
	}
	a.Decode(t, &made)
	if a.Code != 201 || made.Webhook.Secret == "" {
		t.Fatalf("create a webhook: %d %s", a.Code, a.Body)
	}
	n.webhook, n.secret = made.Webhook.ID, made.Webhook.Secret
	return n
}

// book has the owner ask for the calendar.
func (n *notified) book(t *testing.T, title string) created {
	t.Helper()
	return book(t, n.owner, map[string]any{"body": title, "event_category_id": n.category,
		"starts_at_text": "2026-09-07 19:00", "ends_at_text": "2026-09-07 21:00"}, n.calendar)
}

// decide has the keeper decide.
func (n *notified) decide(t *testing.T, e created, status string) {
	t.Helper()
	a := decide(t, n.keeper, e.Event.Commitments[0].ID, status, "reason", "because")
	a.Must(t, 200)
}

// types are the kinds of what the receiver took of an event, each notice once, in the order of its first coming.
func (n *notified) types(id int64) string {
	var types []string
	seen := map[string]bool{}
	for _, got := range n.receiver.Taken() {
		if got.Subject == text(id) && !seen[got.ID] {
			seen[got.ID] = true
			types = append(types, strings.TrimPrefix(got.Type, "io.github.belfry-schools."))
		}
	}
	return strings.Join(types, " ")
}

// subjects are those of the mails to an address, those sent again left out.
func (n *notified) subjects(address string) []string {
	var subjects []string
	seen := map[string]bool{}
	for _, m := range n.mail.To(address) {
		if id := m.Header.Get("Message-ID"); !seen[id] {
			seen[id] = true
			subjects = append(subjects, m.Header.Get("Subject"))
		}
	}
	return subjects
}

func TestNotice_FromABookingToMailAndWebhook(t *testing.T) {
	t.Parallel()
	n := startNotified(t)
	e := n.book(t, "Concert")
	id := e.Event.ID
	timetest.Eventually(t, "the administrator to be told", 30*time.Second,
		func() bool { return slices.Contains(n.subjects(keeperMail), "To decide: Concert") })
	n.decide(t, e, "confirmed")
	timetest.Eventually(t, "the owner to be told", 30*time.Second,
		func() bool { return slices.Contains(n.subjects(ownerMail), "Decided: Concert") })
	asked := add(t, n.owner, id, n.minibuses)
	n.keeper.Post(t, path("/api/requests/%d/allocations", asked.Event.Requests[0].ID),
		map[string]any{"elements": []int64{n.minibus}}).Must(t, 200)
	timetest.Eventually(t, "the owner to be told of the minibus", 30*time.Second,
		func() bool { return slices.Contains(n.subjects(ownerMail), "Allocated: Concert") })
	n.owner.Delete(t, path("/api/events/%d", id)).Must(t, 200)
	timetest.Eventually(t, "the administrator to be told again", 30*time.Second,
		func() bool { return slices.Contains(n.subjects(keeperMail), "Deleted: Concert") })
	const all = "commitment.requested commitment.decided request.allocated event.deleted"
	timetest.Eventually(t, "the webhook to be told all, in order", 30*time.Second,
		func() bool { return n.types(id) == all })
	for _, got := range n.receiver.Got() {
		errortest.Report(t, receivers.Verify(n.secret, got))
	}
	valuetest.Same(t, len(n.receiver.Got()), 4, "requests that two replicas sent")
	if logs := n.Logs(); strings.Contains(logs, n.secret) || strings.Contains(logs, receivers.Password) ||
		strings.Contains(logs, "because") {
		t.Error("the logs show a secret, or what a notice says")
	}
	n.checkAdministration(t)
}

const lacking = `{"status":"Forbidden","message":"needs admin or admin_of"}`

// checkAdministration is the calls below /api/admin/webhooks.
func (n *notified) checkAdministration(t *testing.T) {
	t.Helper()
	admin := n.Admin(t)
	one := path("/api/admin/webhooks/%d", n.webhook)
	const kinds = `["commitment.requested","commitment.decided","commitment.deleted","request.allocated","event.deleted"]`
	a := admin.Get(t, one)
	var shown struct {
		Webhook struct {
			CreatedAt string `json:"created_at"`
		}
	}
	a.Decode(t, &shown)
	webhook := fmt.Sprintf(`{"id":%d,"url":"%s","kinds":%s,"active":true,"created_at":"%s","valid":true}`, n.webhook,
		n.receiver.URL, kinds, shown.Webhook.CreatedAt)
	a.Want(t, 200, `{"status":"OK","webhook":`+webhook+`}`)
	admin.Get(t, "/api/admin/webhooks").Want(t, 200, `{"status":"OK","webhooks":[`+webhook+`],"next":null}`)

	change := func(field string, value any) servicetest.Answer {
		return admin.Patch(t, one, map[string]any{"webhook": map[string]any{field: value}})
	}
	for _, c := range []struct {
		field   string
		value   any
		message string
	}{
		{"url", "https://192.168.0.1/", "is at an address that is not allowed"}, {"url", "", "can't be blank"},
		{"url", 5, "is not a string"},
		{"kinds", []string{"all"}, `\"all\" is not included in the list`}, {"kinds", []string{}, "can't be blank"},
		{"kinds", "all", "is not an array of kinds"},
		{"active", "perhaps", "is not true or false"},
	} {
		if a := change(c.field, c.value); a.Code != 422 ||
			!strings.HasSuffix(a.Body, fmt.Sprintf(`"valid":false,"errors":{"%s":["%s"]}}}`, c.field, c.message)) {
			t.Errorf("%s %v: %d %s", c.field, c.value, a.Code, a.Body)
		}
	}
	if a := admin.Post(t, "/api/admin/webhooks", map[string]any{"webhook": map[string]any{}}); a.Code != 422 ||
		!strings.Contains(a.Body, `"errors":{"url":["can't be blank"]}`) {
		t.Errorf("without url: %d %s", a.Code, a.Body)
	}
	for _, field := range []string{"url", "kinds", "active"} { // null counts as not given
		change(field, nil).Want(t, 200, `{"status":"OK","webhook":`+webhook+`}`)
	}
	if a := change("active", false); a.Code != 200 || !strings.Contains(a.Body, `"active":false`) {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	n.checkPages(t, admin)
	n.checkTest(t, admin, one)
	n.checkRenewal(t, admin, one)

	var page struct {
		Deliveries []struct{ ID int64 }
		Next       *string
	}
	admin.Get(t, one+"/deliveries?limit=3").Decode(t, &page)
	if len(page.Deliveries) != 3 || page.Next == nil ||
		page.Deliveries[0].ID < page.Deliveries[1].ID {
		t.Fatalf("page %+v", page)
	}
	if older := admin.Get(t, one+"/deliveries?limit=3&after="+*page.Next); older.Int(t, "deliveries.0.id") >=
		page.Deliveries[2].ID {
		t.Errorf("after %+v: %s", page, older.Body)
	}
	admin.Delete(t, one).WantCode(t, 200)
	n.checkAudit(t, admin)
}

// checkPages lists two webhooks, one on a page.
func (n *notified) checkPages(t *testing.T, admin *servicetest.Client) {
	t.Helper()
	made := admin.Post(t, "/api/admin/webhooks",
		map[string]any{"webhook": map[string]any{"url": n.receiver.URL, "active": false}}).Must(t, 201)
	second := path("/api/admin/webhooks/%d", made.Int(t, "webhook.id"))
	valuetest.Same(t, made.Header.Get("Location"), second, "it is at")
	var ids []int64
	for query := "?limit=1"; query != ""; {
		page := admin.Get(t, "/api/admin/webhooks"+query).Must(t, 200)
		if ids, query = append(ids, page.Int(t, "webhooks.0.id")), ""; page.At(t, "next") != "null" {
			query = "?limit=1&after=" + page.Text(t, "next")
		}
	}
	if len(ids) != 2 || ids[0] != n.webhook && ids[1] != n.webhook {
		t.Errorf("the pages have %d", ids)
	}
	admin.Delete(t, second).WantCode(t, 200)
}

// checkTest sends a test to the inactive webhook, once with success and once without.
func (n *notified) checkTest(t *testing.T, admin *servicetest.Client, one string) {
	t.Helper()
	for _, c := range []struct {
		code  int
		state string
	}{{204, "delivered"}, {500, "failed"}} {
		n.receiver.Answer(c.code)
		var made struct{ Delivery struct{ ID int64 } }
		a := admin.Post(t, one+"/test", nil)
		a.Decode(t, &made)
		if a.Code != 201 || !strings.Contains(a.Body,
			`"kind":"webhook.test","event_id":null,"state":"waiting","attempts":0,`) {
			t.Fatalf("test: %d %s", a.Code, a.Body)
		}
		timetest.Eventually(t, "the test to be "+c.state, 30*time.Second, func() bool {
			log := admin.Get(t, one+"/deliveries?limit=1").Body
			return strings.Contains(log, fmt.Sprintf(`{"id":%d,`, made.Delivery.ID)) &&
				strings.Contains(log, fmt.Sprintf(`"state":"%s","attempts":1,`, c.state)) &&
				strings.Contains(log, fmt.Sprintf(`"next_attempt_at":null,"code":%d,`, c.code))
		})
	}
	n.receiver.Answer(http.StatusNoContent)
}

// checkRenewal renews the secret; the previous one also signs.
func (n *notified) checkRenewal(t *testing.T, admin *servicetest.Client, one string) {
	t.Helper()
	n.owner.Post(t, one+"/secret", nil).Want(t, 403, lacking)
	admin.Post(t, path("/api/admin/webhooks/%d/secret", n.webhook+1000), nil).Want(t, 404,
		path(`{"status":"Not found","exception":"RecordNotFound","message":"Couldn't find Webhook with 'id'=%d"}`,
			n.webhook+1000))
	a := admin.Post(t, one+"/secret", nil)
	var renewed struct{ Webhook struct{ Secret string } }
	a.Decode(t, &renewed)
	if a.Code != 201 || !strings.HasPrefix(renewed.Webhook.Secret, "whsec_") || renewed.Webhook.Secret == n.secret {
		t.Fatalf("renew: %d %s", a.Code, a.Body)
	}
	valuetest.Lacks(t, admin.Get(t, one).Body, "whsec_", "a secret is shown again")
	before := len(n.receiver.Got())
	admin.Post(t, one+"/test", nil)
	timetest.Eventually(t, "a test", 30*time.Second, func() bool { return len(n.receiver.Got()) > before })
	got := n.receiver.Got()[before]
	for _, secret := range []string{n.secret, renewed.Webhook.Secret} {
		errortest.Report(t, receivers.Verify(secret, got))
	}
}

// checkAudit sees that what was done to the webhook is in the audit, without its address and secret.
func (n *notified) checkAudit(t *testing.T, admin *servicetest.Client) {
	t.Helper()
	a := admin.Get(t, path("/api/admin/audit/events?record=Webhook:%d", n.webhook))
	var log struct {
		Entries []struct{ Action string }
	}
	a.Decode(t, &log)
	var actions []string
	for _, e := range log.Entries {
		actions = append(actions, e.Action)
	}
	if fmt.Sprint(actions) != "[delete update update create]" ||
		!strings.Contains(a.Body, `{"field":"secret","from":null,"to":null}`) || strings.Contains(a.Body, "whsec_") ||
		strings.Contains(a.Body, n.receiver.URL) || strings.Contains(a.Body, n.secret) {
		t.Errorf("audit %v: %d %s", actions, a.Code, a.Body)
	}
}
