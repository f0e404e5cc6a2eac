package notice_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/receivers"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/notice"
)

func TestWebhook_ADeliveryIsASignedCloudEvent(t *testing.T) {
	t.Parallel()
	o := running(t, allowLocal)
	r := receivers.NewEndpoint(t)
	w := o.webhook(t, r.URL)
	allocated := event.Notice{Kind: event.RequestAllocated, Position: 9, Event: about(7), Actor: keeper,
		Entries: []event.Entry{{CommitmentID: 72, ElementID: minibus, Status: event.Uncontrolled, RequestID: 5,
			GroupID: minibuses, Quantity: 2, Allocated: 1, AddedBy: owner}}}
	o.tell(t, confirmed(7, 8), allocated)
	timetest.Eventually(t, "both", soon, func() bool { return len(r.Taken()) == 2 })
	got := r.Taken()[0]
	errortest.Report(t, receivers.Verify(w.Secret.Reveal(), got))
	valuetest.Same(t, got.Header.Get("webhook-id"), got.ID, "webhook-id of %q", got.ID)
	tampered := got
	tampered.Body += " "
	if receivers.Verify(w.Secret.Reveal(), tampered) == nil ||
		receivers.Verify("whsec_eA==", got) == nil {
		t.Error("another body or secret is verified as well")
	}
	valuetest.Same(t, got.Header.Get("Content-Type"), "application/cloudevents+json; charset=utf-8", "Content-Type")
	if key := got.Header.Get("Idempotency-Key"); key == "" || key != got.ID {
		t.Errorf("Idempotency-Key %q of %q", key, got.ID)
	}
	var envelope struct {
		Time time.Time
		Data json.RawMessage
	}
	if err := json.Unmarshal([]byte(got.Body), &envelope); err != nil || time.Since(envelope.Time) > time.Minute {
		t.Error(envelope.Time, err)
	}
	want := fmt.Sprintf(`{"specversion":"1.0","id":"%s","source":"https://belfry.school.example/api/events",`+
		`"type":"io.github.belfry-schools.commitment.decided","subject":"7","time":"%s","datacontenttype":"application/json","data":`,
		got.ID, envelope.Time.Format(time.RFC3339Nano))
	valuetest.Holds(t, strings.HasPrefix(got.Body, want), "got  %s\nwant %s…", got.Body, want)
	const data = `{"event":{"id":7,"body":"Concert 7","starts_at":"2026-09-07T19:00:00.000+01:00","ends_at":"2026-09-07T21:00:00.000+01:00","all_day":false,"owner_id":3},` +
		`"actor_id":1,"entries":[{"commitment_id":71,"status":"confirmed","reason":"Fine \u0026 \u003cgood\u003e",` +
		`"element":{"id":100,"name":"Public \u003ccalendar\u003e","entity_type":"Property","entity_id":100,"valid":true},"added_by":5,"decided_by":1}]}`
	valuetest.Same(t, string(envelope.Data), data)
	const request = `"request":{"id":5,"quantity":2,"num_allocated":1,"element":{"id":200,"name":"Minibuses","entity_type":"Group","entity_id":200,"valid":true},"valid":true}`
	if second := r.Taken()[1]; second.Type != "io.github.belfry-schools.request.allocated" ||
		!strings.Contains(second.Body, request) {
		t.Errorf("of an allocation: %s", second.Body)
	}
}

// A delivery that waited showed the title and the reasons of an event whose category had become confidential meanwhile.
func TestDecisionsPart9_AWebhookThatWaitedIsSentNeitherTitleNorReasonOfWhatHasBecomeConfidential(t *testing.T) {
	t.Parallel()
	o := open(t, storetest.Mongo(t), allowLocal)
	o.Categories = &soonSecret{}
	r := receivers.NewEndpoint(t)
	o.webhook(t, r.URL)
	n := confirmed(7, 1)
	n.Event.CategoryID = 9
	o.tell(t, n)
	o.start(t)
	timetest.Eventually(t, "the delivery", soon, func() bool { return len(r.Taken()) == 1 })
	const event = `"data":{"event":{"id":7,"body":"Busy","starts_at":"2026-09-07T19:00:00.000+01:00","ends_at":"2026-09-07T21:00:00.000+01:00","all_day":false,"owner_id":3},` +
		`"actor_id":1,"entries":[{"commitment_id":71,"status":"confirmed","reason":"",` +
		`"element":{"id":100,"name":"Public \u003ccalendar\u003e","entity_type":"Property","entity_id":100,"valid":true},"added_by":5,"decided_by":1}]}}`
	got := r.Taken()[0].Body
	valuetest.Holds(t, strings.HasSuffix(got, `"datacontenttype":"application/json",`+event), "got %s", got)
}

// Nothing of a dead receiver shows at the others, and nothing is lost or out of order when it comes back.
func TestWebhook_ADeadReceiverDelaysNobodyElseAndMissesNothing(t *testing.T) {
	t.Parallel()
	o := running(t, allowLocal)
	dead, stalling, well := receivers.NewEndpoint(t), receivers.NewEndpoint(t), receivers.NewEndpoint(t)
	dead.Answer(http.StatusServiceUnavailable)
	stalling.Answer(receivers.Stall)
	for _, r := range []*receivers.Endpoint{dead, stalling, well} {
		o.webhook(t, r.URL)
	}
	const events, each = 5, 3
	for n := range int64(each) {
		for id := range int64(events) {
			o.tell(t, pending(id+1, n))
		}
	}
	timetest.Eventually(t, "all at the receiver that is well", soon,
		func() bool { return len(well.Taken()) == events*each })
	valuetest.MustSame(t, len(dead.Taken())+len(stalling.Taken()), 0, "taken by those that are not")
	for _, r := range []*receivers.Endpoint{dead, stalling} {
		r.Answer(http.StatusNoContent)
	}
	for _, r := range []*receivers.Endpoint{dead, stalling} {
		timetest.Eventually(t, "all at the one that came back", 90*time.Second,
			func() bool { return len(r.Taken()) >= events*each })
	}
	for name, r := range map[string]*receivers.Endpoint{"dead": dead, "stalling": stalling, "well": well} {
		if problems := disorder(o, t, r); len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

// disorder says which notices of an event a receiver took before an earlier one, and which it took twice.
func disorder(o *office, t *testing.T, r *receivers.Endpoint) (problems []string) {
	t.Helper()
	position := map[string]int64{}
	hooks, err := o.Store.ListWebhooks(t.Context())
	errortest.None(t, err)
	for _, w := range hooks {
		log, err := o.Store.ListDeliveries(t.Context(), w.ID, 0, 1000)
		errortest.None(t, err)
		for _, d := range log {
			position[d.NoticeID] = d.Position
		}
	}
	last, seen := map[string]int64{}, map[string]bool{}
	for _, got := range r.Taken() {
		if seen[got.ID] {
			problems = append(problems, got.ID+" twice")
		}
		if before, any := last[got.Subject]; any && position[got.ID] < before {
			problems = append(problems, fmt.Sprintf("event %s: %d after %d", got.Subject, position[got.ID], before))
		}
		seen[got.ID], last[got.Subject] = true, position[got.ID]
	}
	return problems
}

func TestWebhook_ANoticeThatIsRefusedHoldsUpItsEventAndNoOther(t *testing.T) {
	t.Parallel()
	o := running(t, allowLocal)
	r := receivers.NewEndpoint(t)
	refused := true
	r.Behave(func(got receivers.Request) int { // under the receiver's lock
		if got.Subject == "1" && refused && strings.HasSuffix(got.Type, "requested") {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	})
	o.webhook(t, r.URL)
	o.tell(t, pending(1, 1), confirmed(1, 2))
	o.tell(t, pending(2, 1), confirmed(2, 2))
	timetest.Eventually(t, "both of the other event, and two tries of the first", soon,
		func() bool { return len(r.Taken()) == 2 && len(r.Got()) >= 4 })
	bodies := map[string]bool{}
	for _, got := range r.Got() {
		if got.Subject == "1" {
			valuetest.MustHold(t, strings.HasSuffix(got.Type, "requested"), "the decision overtook the request")
			bodies[got.ID+got.Body] = true
		}
	}
	valuetest.Same(t, len(bodies), 1, "the tries differ: %v", bodies)
	r.Answer(http.StatusOK)
	timetest.Eventually(t, "the first event's", 30*time.Second, func() bool { return len(r.Taken()) == 4 })
	if problems := disorder(o, t, r); len(problems) > 0 {
		t.Error(problems)
	}
}

func TestWebhook_AfterADayADeliveryIsGivenUpAndTheNextOfItsEventComes(t *testing.T) {
	t.Parallel()
	o := open(t, storetest.Mongo(t), allowLocal)
	r := receivers.NewEndpoint(t)
	r.Behave(func(got receivers.Request) int {
		if strings.HasSuffix(got.Type, "requested") {
			return http.StatusBadGateway
		}
		return http.StatusOK
	})
	w := o.webhook(t, r.URL)
	now := time.Now().UTC().Truncate(time.Millisecond)
	for _, n := range []notice.Notice{{ID: "old", At: now.Add(-25 * time.Hour), Notice: pending(1, 1)},
		{ID: "new", At: now, Notice: confirmed(1, 2)}} {
		errortest.None(t, o.Store.AddNotice(t.Context(), n))
	}
	o.start(t)
	timetest.Eventually(t, "the decision", soon, func() bool { return len(r.Taken()) == 1 })
	timetest.Eventually(t, "the log to say so", soon, func() bool {
		log, err := o.Store.ListDeliveries(t.Context(), w.ID, 0, 10)
		errortest.None(t, err)
		states := map[string]notice.State{}
		for _, d := range log {
			states[d.NoticeID] = d.State
			if d.NoticeID == "old" && d.State == notice.Failed &&
				(d.Attempts != 1 || d.Code != 502 || d.Error != "answered 502") {
				t.Errorf("the log says %+v", d)
			}
		}
		return states["old"] == notice.Failed && states["new"] == notice.Delivered
	})
}

func TestWebhook_ReplicasShareTheWorkAndTakeOverFromEachOther(t *testing.T) {
	t.Parallel()
	db := storetest.Mongo(t)
	one, two := open(t, db, allowLocal), open(t, db, allowLocal)
	r := receivers.NewEndpoint(t)
	one.webhook(t, r.URL)
	stopOne := one.start(t)
	two.start(t)
	for id := range int64(10) {
		one.tell(t, pending(id+1, 1))
		two.tell(t, pending(id+101, 1))
	}
	timetest.Eventually(t, "all", soon, func() bool { return len(r.Taken()) == 20 })
	stopOne()
	two.tell(t, confirmed(1, 2))
	timetest.Eventually(t, "the other takes over", soon, func() bool { return len(r.Taken()) == 21 })
	time.Sleep(time.Second) // a second sender would show now
	if problems := disorder(one, t, r); len(problems) > 0 || len(r.Got()) != 21 {
		t.Errorf("%d requests, %v", len(r.Got()), problems)
	}
}

func TestWebhook_ASecretThatWasRenewedSignsAlongForADay(t *testing.T) {
	t.Parallel()
	o := running(t, allowLocal)
	r := receivers.NewEndpoint(t)
	w := o.webhook(t, r.URL)
	secrets := []string{w.Secret.Reveal()} // the oldest first
	renew := func() {
		t.Helper()
		renewed, err := o.RenewSecret(t.Context(), admin, w.ID)
		errortest.None(t, err)
		secrets = append(secrets, renewed.Secret.Reveal())
	}
	sent := int64(0)
	verify := func() string { // which secrets verify what is sent now
		t.Helper()
		sent++
		o.tell(t, pending(sent, 1))
		timetest.Eventually(t, "the notice", soon, func() bool { return len(r.Taken()) == int(sent) })
		got := r.Taken()[sent-1]
		var right []string
		for i, secret := range secrets {
			if receivers.Verify(secret, got) == nil {
				right = append(right, fmt.Sprint(i))
			}
		}
		return strings.Join(right, " ")
	}
	renew()
	valuetest.Same(t, verify(), "0 1", "after a renewal it is signed under")
	_, err := o.Store.ChangeWebhook(t.Context(), w.ID, func(w *notice.Webhook) error {
		if left := time.Until(w.Before[0].Until); left < 23*time.Hour || left > 24*time.Hour {
			t.Errorf("it signs along for %v", left)
		}
		// the store keeps what the audit tells a difference of
		w.Before[0].Until, w.Active = time.Now().Add(-time.Second), false
		return nil
	})
	errortest.None(t, err)
	active := true
	_, err = o.ChangeWebhook(t.Context(), admin, w.ID, notice.WebhookFields{Active: &active, Faults: problem.Fields{}})
	errortest.None(t, err)
	valuetest.Same(t, verify(), "1", "a day later it is signed under")
	for range 5 {
		renew()
	}
	valuetest.Same(t, verify(), "2 3 4 5 6", "after many renewals it is signed under")
}

func TestWebhook_NothingIsSentWithoutASignature(t *testing.T) {
	t.Parallel()
	o := running(t, allowLocal)
	r := receivers.NewEndpoint(t)
	w := o.webhook(t, r.URL)
	_, err := o.Store.ChangeWebhook(t.Context(), w.ID, func(w *notice.Webhook) error {
		w.Secret = settings.NewSecret("no key")
		return nil
	})
	errortest.None(t, err)
	delivery, err := o.TestWebhook(t.Context(), admin, w.ID)
	errortest.None(t, err)
	timetest.Eventually(t, "the fault", soon, func() bool {
		all, err := o.Store.ListDeliveries(t.Context(), w.ID, 0, 1)
		return err == nil && all[0].ID == delivery.ID && all[0].State == notice.Failed &&
			all[0].Error == "the webhook's secret is invalid"
	})
	valuetest.Same(t, len(r.Got()), 0, "requests without a signature")
}

func TestWebhook_InactiveOnesAndOtherKindsAreLeftOut(t *testing.T) {
	t.Parallel()
	o := running(t, allowLocal)
	all, decisions, off := receivers.NewEndpoint(t), receivers.NewEndpoint(t), receivers.NewEndpoint(t)
	o.webhook(t, all.URL)
	kinds, inactive := []string{"commitment.decided"}, false
	for _, f := range []notice.WebhookFields{{URL: &decisions.URL, Kinds: &kinds}, {URL: &off.URL, Active: &inactive}} {
		f.Faults = map[string][]string{}
		errortest.None(t, errortest.Of(o.CreateWebhook(t.Context(), admin, f)))
	}
	o.tell(t, pending(1, 1), confirmed(1, 2))
	timetest.Eventually(t, "what is wanted", soon,
		func() bool { return len(all.Taken()) == 2 && len(decisions.Taken()) == 1 })
	if len(off.Got()) != 0 || !strings.HasSuffix(decisions.Got()[0].Type, "decided") {
		t.Errorf("the inactive got %d, the other %s", len(off.Got()), decisions.Got()[0].Type)
	}
}

// What waited for the webhook of a school was sent also when its group was no school any more.
func TestWebhook_NothingIsSentToASchoolThatIsNone(t *testing.T) {
	t.Parallel()
	o := running(t, allowLocal)
	r := receivers.NewEndpoint(t)
	id, err := o.Store.InsertWebhook(t.Context(), notice.Webhook{
		URL: r.URL, Kinds: event.NoticeKinds(), Active: true, SchoolID: minibuses,
		Secret: settings.NewSecret("whsec_b2YtdGhlLXRlc3Q="),
	})
	errortest.None(t, err)
	begun := time.Now().UTC().Add(-time.Minute)
	_, err = o.Store.AddDeliveries(t.Context(), []notice.Delivery{{WebhookID: id, NoticeID: "N", EventID: 1,
		Kind: event.CommitmentRequested, At: begun, DueAt: begun, State: notice.Waiting, Body: []byte("{}")}})
	errortest.None(t, err)
	test, err := o.TestWebhook(t.Context(), admin, id)
	errortest.None(t, err)
	timetest.Eventually(t, "the test", soon, func() bool { return len(r.Got()) > 0 })
	valuetest.Same(t, r.Got()[0].ID, test.NoticeID, "what was sent first")
}

func TestWebhook_NothingIsKeptWhileNoChannelIsOn(t *testing.T) {
	t.Parallel()
	o := open(t, storetest.Mongo(t))
	o.tell(t, pending(1, 1))
	if waiting, err := o.Store.EventsToSpread(t.Context()); err != nil || len(waiting) > 0 {
		t.Errorf("%v %v", waiting, err)
	}
}

func TestWebhook_NoSecretIsLogged(t *testing.T) {
	t.Parallel()
	o := running(t, allowLocal)
	r := receivers.NewEndpoint(t)
	r.Answer(http.StatusTemporaryRedirect)
	key := "key-in-the-address"
	w := o.webhook(t, r.URL+"?key="+key)
	gone := o.webhook(t, "http://127.0.0.1:1/"+key)
	const echo = "said-in-the-notice"
	odd, err := net.Listen("tcp", "127.0.0.1:0")
	errortest.None(t, err)
	t.Cleanup(func() { _ = odd.Close() })
	go func() {
		for {
			connection, err := odd.Accept()
			if err != nil {
				return
			}
			_, _ = connection.Write([]byte(echo + "\r\n\r\n"))
			_ = connection.Close()
		}
	}()
	talks := o.webhook(t, "http://"+odd.Addr().String())
	o.tell(t, pending(1, 1))
	var faults []string
	timetest.Eventually(t, "an attempt at both", soon, func() bool {
		faults = nil
		for _, hook := range []notice.Webhook{w, gone, talks} {
			log, err := o.Store.ListDeliveries(t.Context(), hook.ID, 0, 10)
			errortest.None(t, err)
			for _, d := range log {
				if d.Attempts > 0 {
					faults = append(faults, d.Error)
				}
			}
		}
		return len(faults) == 3
	})
	valuetest.List(t, faults[:2], []string{"answered 307; redirects are not followed", "connection refused"},
		"the log says …")
	for _, secret := range []string{key, w.Secret.Reveal(), gone.Secret.Reveal(), odd.Addr().String(), echo} {
		valuetest.Lacks(t, o.log.String(), secret, "the log shows %s", secret)
	}
	if slices.ContainsFunc(r.Got(), func(got receivers.Request) bool { return got.Path != "/hook" }) {
		t.Error("a redirect was followed")
	}
}
