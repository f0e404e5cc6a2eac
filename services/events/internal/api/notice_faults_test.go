package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/receivers"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
)

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
		if rounds == 10 {
			t.Fatal("no notice was in an outbox when events was killed: this proves nothing")
		}
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
