package walkthrough

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/testing/receivers"
)

// title is the title of the concert. It has to be escaped in HTML and folded in a calendar.
const title = "Spring concert & tea <b>of the choir</b>, the orchestra and all their friends"

// hour returns the fields of an event between two clock times on a day.
func (w *walk) hour(body string, category int64, days int, starts, ends string) fields {
	return fields{"body": body, "event_category_id": sent(category)[0], "starts_at_text": w.date(days) + " " + starts,
		"ends_at_text": w.date(days) + " " + ends}
}

func registering(w *walk) {
	if w.hook == nil {
		w.printf("     webhooks are not looked at\n")
		return
	}
	const webhooks = "/api/admin/webhooks"
	register := func(url string, code int, wants ...expectation) answer {
		return w.call(w.admin, "POST", webhooks, fields{"webhook": fields{"url": url}}, code, wants...)
	}
	register("https://169.254.169.254/latest/meta-data", 422,
		is("webhook.errors.url", []string{"is at an address that is not allowed"}))
	register("ftp://hooks.school.invalid/", 422, is("webhook.errors.url", []string{"is not an https address"}))
	made := register(w.hook.URL, 201, is("webhook.active", true), is("webhook.kinds.#", 5))
	w.webhook = made.id("webhook.id")
	w.hook.Trust(made.text("webhook.secret"))
	w.call(w.admin, "GET", webhooks, nil, 200, is("webhooks.*.id", []int64{w.webhook}), absent("webhooks.0.secret"))
	// the previous secret still signs, too
	renewed := w.call(w.admin, "POST", path("%s/%d/secret", webhooks, w.webhook), nil, 201, is("webhook.id", w.webhook))
	w.check("the secret is another", true, renewed.text("webhook.secret") != made.text("webhook.secret"))
	w.call(w.admin, "POST", path("%s/%d/test", webhooks, w.webhook), nil, 201, is("delivery.kind", "webhook.test"),
		is("delivery.state", "waiting"))
	w.await("the endpoint has", "webhook.test", func() any {
		kinds := []string{}
		for _, d := range w.hook.Got() {
			kinds = append(kinds, d.Kind())
		}
		return strings.Join(kinds, " ")
	})
	w.hook.Trust(renewed.text("webhook.secret"))
}

// awaitNotices waits until the webhook has delivered all notices about the concert, in order, and the owner and the
// keeper have all their mails.
func (w *walk) awaitNotices() {
	if w.hook != nil {
		w.await("the webhook has told, in order", w.hookNotices, func() any { return noticesOf(w.hook, w.event) })
	}
	if w.mail != nil {
		w.await("the owner has mail", w.ownerMail, func() any { return items(w.mail, w.owner.email) })
		w.await("the administrator has mail", w.keeperMail, func() any { return items(w.mail, w.keeper.email) })
	}
}

// expectRequest records the notice and the mail about a request for the calendar.
func (w *walk) expectRequest() {
	w.hookNotices = append(w.hookNotices, "commitment.requested requested")
	w.expectKeeperMail(title, "Public calendar")
}

// expectKeeperMail records the keeper's mail about a requested commitment, and expectOwnerMail the owner's about a
// decision.
func (w *walk) expectKeeperMail(event, element string) {
	w.keeperMail = append(w.keeperMail,
		fmt.Sprintf("To decide: %s: %s was asked for by Olive Owner and waits for a decision.", event, element))
}

func (w *walk) expectOwnerMail(event, element, became, reason string) {
	w.ownerMail = append(w.ownerMail,
		fmt.Sprintf("Decided: %s: %s was %s by Kim Keeper. Reason: %s", event, element, became, reason))
}

// inbox expects that the keeper has to decide on those commitments.
func (w *walk) inbox(statuses string, entries ...int64) {
	w.call(w.keeper, "GET", "/api/commitments?status="+statuses, nil, 200,
		is("commitments.*.id", append([]int64{}, entries...)), is("next", nil))
}

func booking(w *walk) {
	w.inbox("requested")
	event := w.hour(title, w.concert, 0, "19:00", "21:00")
	made := w.call(w.owner, "POST", "/api/events",
		fields{"event": event, "elements": append(sent(w.teacher, w.choir, w.room, w.calendar), "nobody")}, 200,
		is("status", "Created"), is("event.starts_at", w.moment(0, "19:00")),
		is("event.commitments.*.element.id", []int64{w.teacher, w.choir, w.room, w.calendar}),
		is("event.commitments.*.status", []string{"uncontrolled", "uncontrolled", "uncontrolled", "requested"}),
		is("failures.*.element_id", []string{"nobody"}))
	w.event, w.entry = made.id("event.id"), made.id("event.commitments.3.id")
	w.expectRequest()
	w.inbox("requested", w.entry)
	w.call(w.keeper, "GET", "/api/commitments", nil, 200, is("commitments.0.element.name", "Public calendar"),
		is("commitments.0.event.body", title))
	w.call(w.owner, "GET", "/api/commitments?status=requested", nil, 200, is("commitments", []any{}))
	w.awaitNotices()
	if w.mail != nil {
		w.check("the subject", "To decide: "+title, w.firstMail(w.keeper).Subject)
		w.check("the HTML holds the title, escaped", true,
			strings.Contains(w.firstMail(w.keeper).HTML, "Spring concert &amp; tea &lt;b&gt;of the choir"))
	}
}

// firstMail returns the first mail to a person.
func (w *walk) firstMail(p *person) receivers.Mail {
	for _, m := range mailTo(w.mail, p.email) {
		return m
	}
	return receivers.Mail{}
}

// The statuses of a commitment.
const (
	requested, confirmed, rejected, noted, uncontrolled = "requested", "confirmed", "rejected", "noted", "uncontrolled"
)

// statuses are all of them. moves has, for each, those to which a decision may change it (decisions part 5).
var (
	statuses = []string{uncontrolled, requested, confirmed, rejected, noted}
	moves    = map[string][]string{
		requested:    {confirmed, rejected, noted},
		noted:        {confirmed, rejected, requested},
		rejected:     {confirmed, noted, requested},
		confirmed:    {rejected, requested},
		uncontrolled: {},
	}
)

// round makes each of the moves at least once and ends with the status it begins with.
var round = []string{requested, confirmed, requested, rejected, confirmed, rejected, noted, confirmed, rejected,
	requested, noted, rejected, noted, requested}

// decide changes the status of a commitment.
func (w *walk) decide(as *person, entry int64, status, reason string, code int, wants ...expectation) {
	w.call(as, "PATCH", path("/api/commitments/%d", entry),
		fields{"commitment": fields{"status": status, "reason": reason}}, code, wants...)
}

// decided makes the keeper decide on the calendar, and records the expected notice and mail.
func (w *walk) decided(status, reason string) {
	w.decide(w.keeper, w.entry, status, reason, 200, is("commitment.status", status),
		is("commitment.element.id", w.calendar))
	w.hookNotices = append(w.hookNotices, fmt.Sprintf("commitment.decided %s (%s)", status, reason))
	words := map[string]string{noted: "noted (seen, but not yet to be confirmed)", requested: "returned to requested"}
	became := words[status]
	if became == "" {
		became = status
	}
	w.expectOwnerMail(title, "Public calendar", became, reason)
}

func everyMove(w *walk) {
	w.decide(w.owner, w.entry, confirmed, "", 403, exactly(forbidden))
	w.decide(w.admin, w.entry, confirmed, "", 403, exactly(forbidden))
	tried := map[string]bool{}
	for i, from := range round[:len(round)-1] {
		if !tried[from] {
			tried[from] = true
			w.refusesOtherMoves(w.entry, from)
		}
		w.decided(round[i+1], fmt.Sprintf("move %d", i+1))
		w.call(w.owner, "GET", path("/api/events/%d", w.event), nil, 200, is("event.commitments.3.status", round[i+1]))
	}
	w.inbox("requested", w.entry)
	w.inbox("confirmed,rejected,noted")
	w.awaitNotices()
	if w.hook != nil {
		w.checkDeciders()
	}
	deciders := slices.Repeat([]int64{w.keeper.id}, len(round)-1)
	w.call(w.admin, "GET", path("/api/admin/audit/events?record=Commitment:%d", w.entry), nil, 200,
		is("entries.*.user_id", append(deciders, w.owner.id)), is("entries.0.action", "decide"),
		is("entries.0.changes.*.to", []string{requested, "move 13"}))

	own := w.call(w.keeper, "POST", "/api/events",
		fields{"event": w.hour("Open day", w.concert, 5, "09:00", "10:00"), "elements": sent(w.calendar)}, 200,
		is("event.commitments.*.status", []string{uncontrolled}))
	w.refusesOtherMoves(own.id("event.commitments.0.id"), uncontrolled)
}

// refusesOtherMoves tries every forbidden change from a status.
func (w *walk) refusesOtherMoves(entry int64, from string) {
	for _, to := range statuses {
		if !slices.Contains(moves[from], to) {
			w.decide(w.keeper, entry, to, "never", 409, is("status", "Conflict"))
		}
	}
}

// checkDeciders checks that the notice of each decision names the user who made it.
func (w *walk) checkDeciders() {
	names := []string{}
	for _, d := range notices(w.hook) {
		if d.Kind() == "commitment.decided" {
			n := noticeOf(d)
			names = append(names, text(fields{"actor": n.ActorID, "decided_by": n.Entries[0].DecidedBy}))
		}
	}
	slices.Sort(names)
	w.check("each notice names who decided", []string{text(fields{"actor": w.keeper.id, "decided_by": w.keeper.id})},
		slices.Compact(names))
}

func retiming(w *walk) {
	w.decided(confirmed, "the hall is free")
	change := func(record fields, status, starts string) {
		w.call(w.owner, "PATCH", path("/api/events/%d", w.event), fields{"event": record}, 200,
			is("event.commitments.*.status", []string{uncontrolled, uncontrolled, uncontrolled, status}),
			is("event.starts_at", w.moment(0, starts)))
	}
	change(fields{"organiser_id": sent(w.teacher)[0]}, confirmed, "19:00")
	change(fields{"starts_at_text": w.date(0) + " 19:30", "ends_at_text": w.date(0) + " 21:30"}, requested, "19:30")
	w.expectRequest()
	w.inbox("requested", w.entry)
	w.awaitNotices()
}

// outage: while the endpoint is unavailable, a notice is repeated, byte for byte the same. When the endpoint
// answers again, the notice is delivered, and later ones after it.
func outage(w *walk) {
	if w.hook == nil {
		w.decided(confirmed, "after all")
		w.awaitNotices()
		return
	}
	w.hook.Answer(http.StatusServiceUnavailable)
	w.decided(noted, "one moment")
	w.decided(confirmed, "after all")
	refused := func() (bodies, signatures []string) {
		for _, d := range w.hook.Got() {
			if !d.Taken() {
				bodies, signatures = append(bodies, d.Body), append(signatures, d.Header.Get("webhook-signature"))
			}
		}
		return bodies, signatures
	}
	w.await("the endpoint, which is away, was tried twice", true,
		func() any { bodies, _ := refused(); return len(bodies) >= 2 })
	bodies, signatures := refused()
	w.check("different bodies among these", 1, len(slices.Compact(bodies)))
	w.check("each has a signature of its own", len(signatures), len(slices.Compact(signatures)))
	w.hook.Answer(http.StatusNoContent)
	w.awaitNotices()
	w.await("states in the delivery log", []string{"delivered"}, w.states)
	w.call(w.admin, "GET", path("/api/admin/webhooks/%d/deliveries?limit=2", w.webhook), nil, 200,
		is("deliveries.*.state", []string{"delivered", "delivered"}),
		is("deliveries.0.attempts", 1), is("deliveries.*.code", []int{204, 204}))
}

func deleting(w *walk) {
	w.call(w.keeper, "DELETE", path("/api/events/%d", w.event), nil, 403, exactly(forbidden))
	w.call(w.owner, "DELETE", path("/api/events/%d", w.event), nil, 200, exactly(okBody))
	w.hookNotices = append(w.hookNotices, "event.deleted confirmed (after all)")
	w.keeperMail = append(w.keeperMail,
		"Deleted: "+title+": Public calendar, which was confirmed, is free again: "+
			"the event was deleted by Olive Owner. Reason: after all")
	w.call(w.owner, "GET", path("/api/events/%d", w.event), nil, 404, is("exception", "RecordNotFound"))
	w.call(w.owner, "GET", path("/api/elements/%d/commitments?start_date=%s", w.calendar, w.date(0)), nil, 200,
		is("commitments", []any{}))
	w.awaitNotices()
}

// states returns the states in the delivery log, and prints nothing: the deployment logs a delivery a little after
// the endpoint has it.
func (w *walk) states() any {
	a := answer{walk: w}
	log := path("/api/admin/webhooks/%d/deliveries?limit=1000", w.webhook)
	if err := w.send(w.admin, "GET", log, nil, nil, &a); err != nil {
		w.fail(err)
	}
	states := []string{}
	found, _ := a.find("deliveries.*.state")
	list, _ := found.([]any)
	for _, state := range list {
		states = append(states, fmt.Sprint(state))
	}
	slices.Sort(states)
	return slices.Compact(states)
}

// allDelivered checks that every notice received was correct, and that the deployment has logged its delivery.
func (w *walk) allDelivered() {
	faults := []string{}
	for _, d := range w.hook.Got() {
		if d.Fault != "" {
			faults = append(faults, d.Kind()+": "+d.Fault)
		}
	}
	w.check("faults of the CloudEvents and their signatures", []string{}, faults)
	w.await("states in the delivery log", []string{"delivered"}, w.states)
	if w.mail != nil {
		readers := []string{}
		for _, m := range w.mail.Taken() {
			readers = append(readers, m.To...)
		}
		slices.Sort(readers)
		w.check("readers of mail", []string{w.keeper.email, w.owner.email}, slices.Compact(readers))
	}
}
