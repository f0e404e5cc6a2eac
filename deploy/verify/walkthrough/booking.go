package walkthrough

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/testing/receivers"
)

// title is the concert's: it has to be escaped in HTML, and folded in a calendar.
const title = "Spring concert & tea <b>of the choir</b>, the orchestra and all their friends"

// hour are the fields of an event at the hours on a day.
func (w *walk) hour(body string, category int64, days int, starts, ends string) fields {
	return fields{"body": body, "event_category_id": sent(category)[0], "starts_at_text": w.date(days) + " " + starts,
		"ends_at_text": w.date(days) + " " + ends}
}

func registering(w *walk) {
	if w.hook == nil {
		w.tell("     webhooks are not looked at\n")
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
	// the one before signs along
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

// heard waits until the webhook has told all that it has to have told of the concert, in order, and owner and
// keeper have all their mails.
func (w *walk) heard() {
	if w.hook != nil {
		w.await("the webhook has told, in order", w.told, func() any { return noticesOf(w.hook, w.event) })
	}
	if w.mail != nil {
		w.await("the owner has mail", w.toldOwner, func() any { return items(w.mail, w.owner.email) })
		w.await("the administrator has mail", w.toKeeper, func() any { return items(w.mail, w.keeper.email) })
	}
}

// asks notes that the calendar is asked for.
func (w *walk) asks() {
	w.told = append(w.told, "commitment.requested requested")
	w.asked(title, "Public calendar")
}

// asked notes the keeper's mail about an event's entry that waits, and answered the owner's about a decision.
func (w *walk) asked(event, element string) {
	w.toKeeper = append(w.toKeeper,
		fmt.Sprintf("To decide: %s: %s was asked for by Olive Owner and waits for a decision.", event, element))
}

func (w *walk) answered(event, element, became, reason string) {
	w.toldOwner = append(w.toldOwner,
		fmt.Sprintf("Decided: %s: %s was %s by Kim Keeper. Reason: %s", event, element, became, reason))
}

// inbox expects that the keeper has those entries to decide.
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
	w.asks()
	w.inbox("requested", w.entry)
	w.call(w.keeper, "GET", "/api/commitments", nil, 200, is("commitments.0.element.name", "Public calendar"),
		is("commitments.0.event.body", title))
	w.call(w.owner, "GET", "/api/commitments?status=requested", nil, 200, is("commitments", []any{}))
	w.heard()
	if w.mail != nil {
		w.check("the subject", "To decide: "+title, w.firstMail(w.keeper).Subject)
		w.check("the HTML holds the title, escaped", true,
			strings.Contains(w.firstMail(w.keeper).HTML, "Spring concert &amp; tea &lt;b&gt;of the choir"))
	}
}

// firstMail is the first mail to a person.
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

// statuses are all of them, and moves those that each may become by a decision (decisions, part 5).
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

// round makes each of the moves once, some twice, and ends where it begins.
var round = []string{requested, confirmed, requested, rejected, confirmed, rejected, noted, confirmed, rejected,
	requested, noted, rejected, noted, requested}

// decide moves an entry.
func (w *walk) decide(as *person, entry int64, status, reason string, code int, wants ...expectation) {
	w.call(as, "PATCH", path("/api/commitments/%d", entry),
		fields{"commitment": fields{"status": status, "reason": reason}}, code, wants...)
}

// decided has the keeper decide on the calendar, and notes what has to be told of it.
func (w *walk) decided(status, reason string) {
	w.decide(w.keeper, w.entry, status, reason, 200, is("commitment.status", status),
		is("commitment.element.id", w.calendar))
	w.told = append(w.told, fmt.Sprintf("commitment.decided %s (%s)", status, reason))
	words := map[string]string{noted: "noted (seen, but not yet to be confirmed)", requested: "returned to requested"}
	became := words[status]
	if became == "" {
		became = status
	}
	w.answered(title, "Public calendar", became, reason)
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
	w.heard()
	if w.hook != nil {
		w.decidersAreTold()
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

// refusesOtherMoves tries every move from a status that is none.
func (w *walk) refusesOtherMoves(entry int64, from string) {
	for _, to := range statuses {
		if !slices.Contains(moves[from], to) {
			w.decide(w.keeper, entry, to, "never", 409, is("status", "Conflict"))
		}
	}
}

// decidersAreTold sees that each decision names who made it.
func (w *walk) decidersAreTold() {
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
	w.asks()
	w.inbox("requested", w.entry)
	w.heard()
}

// outage: while the endpoint is away, a notice waits and is sent again, the same to the byte; then it comes, and
// what follows it after it.
func outage(w *walk) {
	if w.hook == nil {
		w.decided(confirmed, "after all")
		w.heard()
		return
	}
	w.hook.Answer(http.StatusServiceUnavailable)
	w.decided(noted, "one moment")
	w.decided(confirmed, "after all")
	refused := func() (bodies, signatures []string) {
		for _, d := range w.hook.Got() {
			if !d.Taken() {
				bodies, signatures = append(bodies, d.Body), append(signatures, d.Header.Get("Belfry-Signature"))
			}
		}
		return bodies, signatures
	}
	w.await("the endpoint, which is away, was tried twice", true,
		func() any { bodies, _ := refused(); return len(bodies) >= 2 })
	bodies, signatures := refused()
	w.check("different bodies among these", 1, len(slices.Compact(bodies)))
	w.check("each is signed anew", len(signatures), len(slices.Compact(signatures)))
	w.hook.Answer(http.StatusNoContent)
	w.heard()
	w.await("states in the delivery log", []string{"delivered"}, w.states)
	w.call(w.admin, "GET", path("/api/admin/webhooks/%d/deliveries?limit=2", w.webhook), nil, 200,
		is("deliveries.*.state", []string{"delivered", "delivered"}),
		is("deliveries.0.attempts", 1), is("deliveries.*.code", []int{204, 204}))
}

func deleting(w *walk) {
	w.call(w.keeper, "DELETE", path("/api/events/%d", w.event), nil, 403, exactly(forbidden))
	w.call(w.owner, "DELETE", path("/api/events/%d", w.event), nil, 200, exactly(okBody))
	w.told = append(w.told, "event.deleted confirmed (after all)")
	w.toKeeper = append(w.toKeeper,
		"Deleted: "+title+": Public calendar, which was confirmed, is free again: the event was deleted by Olive Owner. Reason: after all")
	w.call(w.owner, "GET", path("/api/events/%d", w.event), nil, 404, is("exception", "RecordNotFound"))
	w.call(w.owner, "GET", path("/api/elements/%d/commitments?start_date=%s", w.calendar, w.date(0)), nil, 200,
		is("commitments", []any{}))
	w.heard()
}

// states are those in the delivery log, without telling: the deployment notes a little later than the endpoint takes.
func (w *walk) states() any {
	a := answer{walk: w}
	if err := w.send(w.admin, "GET", path("/api/admin/webhooks/%d/deliveries?limit=1000", w.webhook), nil, nil,
		&a); err != nil {
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

// allDelivered sees that whatever came was right, and that the deployment knows that it came.
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
