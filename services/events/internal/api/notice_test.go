package api_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

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

	calendar, category int64
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
	ids := map[string]string{"owner": uuid.NewString(), "keeper": uuid.NewString()}
	for name, id := range ids {
		admin.Import(t, "users", map[string]any{"key": name, "name": name, "email": name + "@school.example",
			"uuid": id, "can_api": true, "can_add_events": true})
	}
	admin.Import(t, "administrators",
		map[string]any{"key": "Property:1/keeper", "element": "Property:1", "user": "keeper"})
	n.owner, n.keeper = n.Login(t, ids["owner"]), n.Login(t, ids["keeper"])

	n.secret = admin.Post(t, "/api/admin/webhooks", hookOf(map[string]any{"url": n.receiver.URL})).Must(t, 201).
		Text(t, "webhook.secret")
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

// outboxes counts the events with a message in the outbox.
func (n *notified) outboxes(t *testing.T) int64 {
	t.Helper()
	waiting, err := n.DB.Collection("events").CountDocuments(t.Context(),
		bson.D{{Key: "outbox.0", Value: bson.D{{Key: "$exists", Value: true}}}})
	errortest.None(t, err)
	return waiting
}

// After a kill -9, notices of all that was acknowledged before it are sent, in order, though none could be sent before.
func TestNotice_NothingIsLostByAKillBetweenDecisionAndNotice(t *testing.T) {
	t.Parallel() // after a kill it takes half a minute until another may send
	n := startNotified(t)
	n.receiver.Answer(receivers.Stall)
	n.mail.Stop()
	var events []created
	for i := range 5 {
		e := n.book(t, fmt.Sprintf("Concert %d", i))
		n.decide(t, e, "confirmed")
		events = append(events, e)
	}
	// the first notice is in the middle of an attempt, and the last are still in their event's outbox:
	n.Kill(t, "events")
	for rounds := 0; n.outboxes(t) == 0; rounds++ {
		valuetest.MustHold(t, rounds != 10, "no notice was in an outbox when events was killed: this proves nothing")
		n.Restart(t, "events")
		e := n.book(t, fmt.Sprintf("Concert %d", len(events)))
		n.decide(t, e, "confirmed")
		events = append(events, e)
		n.Kill(t, "events")
	}
	errortest.None(t, n.mail.Restart())
	n.receiver.Answer(http.StatusNoContent)
	n.Restart(t, "events")
	for _, e := range events {
		timetest.Eventually(t, "the webhook to be told all", 2*time.Minute,
			func() bool { return n.types(e.Event.ID) == "commitment.requested commitment.decided" })
	}
	told := func(address, heading string) bool {
		var all strings.Builder
		for _, m := range n.mail.To(address) {
			all.WriteString(strings.ReplaceAll(m.Raw, "=\r\n", ""))
		}
		for i := range events {
			if !strings.Contains(all.String(), fmt.Sprintf("%s: Concert %d", heading, i)) {
				return false
			}
		}
		return true
	}
	timetest.Eventually(t, "all mails", 2*time.Minute,
		func() bool { return told(keeperMail, "To decide") && told(ownerMail, "Decided") })
	for _, secret := range []string{n.secret, receivers.Password, "because"} {
		valuetest.Lacks(t, n.Logs(), secret, "the logs show a secret, or what a notice says")
	}
}

// Events are killed when the endpoint and the mail server have taken a decision, and before their answers come. The
// sender does not know that it was taken, so it comes again, with the same key and text.
func TestNotice_ADecisionThatComesTwiceIsTheSame(t *testing.T) {
	t.Parallel()
	n := startNotified(t)
	e := n.book(t, "Concert")
	timetest.Eventually(t, "the request to be told", 30*time.Second, func() bool {
		return n.types(e.Event.ID) == "commitment.requested" && len(n.mail.To(keeperMail)) == 1
	})
	var taken sync.WaitGroup
	taken.Add(2)
	killed := make(chan struct{})
	take := func() func() {
		return sync.OnceFunc(func() {
			taken.Done()
			<-killed
		})
	}
	posted, mailed := take(), take()
	n.receiver.Behave(func(got receivers.Request) int {
		if strings.HasSuffix(got.Type, "decided") {
			posted()
		}
		return http.StatusNoContent
	})
	n.mail.OnTaken(func(to string) {
		if to == ownerMail {
			mailed()
		}
	})
	n.decide(t, e, "confirmed")
	taken.Wait()
	n.Kill(t, "events")
	close(killed)
	n.Restart(t, "events")
	decisions := func() []receivers.Request {
		return slices.DeleteFunc(n.receiver.Taken(),
			func(got receivers.Request) bool { return !strings.HasSuffix(got.Type, "decided") })
	}
	timetest.Eventually(t, "the decision again", 2*time.Minute,
		func() bool { return len(decisions()) == 2 && len(n.mail.To(ownerMail)) == 2 })
	first, second := decisions()[0], decisions()[1]
	if key := first.Header.Get("Idempotency-Key"); key == "" || key != first.ID ||
		key != second.Header.Get("Idempotency-Key") || first.Body != second.Body {
		t.Errorf("first  %s %s\nsecond %s %s", key, first.Body, second.Header.Get("Idempotency-Key"), second.Body)
	}
	for _, got := range decisions() {
		errortest.Report(t, receivers.Verify(n.secret, got))
	}
	mails := n.mail.To(ownerMail)
	for _, m := range mails {
		if !strings.Contains(m.Raw, "Decided: Concert") || !strings.Contains(m.Raw, "Reason: because") {
			t.Errorf("the mail is\n%s", m.Raw)
		}
	}
	if id := mails[0].Header.Get("Message-ID"); !strings.HasSuffix(id, "@school.example>") ||
		id != mails[1].Header.Get("Message-ID") || id == n.mail.To(keeperMail)[0].Header.Get("Message-ID") {
		t.Errorf("Message-ID %q, then %q", id, mails[1].Header.Get("Message-ID"))
	}
	n.decide(t, e, "rejected")
	timetest.Eventually(t, "what follows, once", 2*time.Minute, func() bool {
		return n.types(e.Event.ID) == "commitment.requested commitment.decided commitment.decided" &&
			len(decisions()) == 3 && len(n.mail.To(ownerMail)) == 3 && len(n.subjects(ownerMail)) == 2
	})
}
