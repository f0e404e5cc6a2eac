package walkthrough

import (
	"fmt"
	"strings"
)

func allocating(w *walk) {
	waiting := func(requests ...int64) {
		w.call(w.driver, "GET", "/api/requests?status=outstanding", nil, 200,
			is("requests.*.id", append([]int64{}, requests...)))
	}
	waiting()
	asked := w.call(w.owner, "POST", path("/api/events/%d/add", w.event), fields{"elements": sent(w.buses, w.buses)},
		200,
		is("event.requests.*.quantity", []int{2}), is("event.requests.*.num_allocated", []int{0}),
		is("failures", []any{}))
	request := asked.id("event.requests.0.id")
	waiting(request)
	allocate := func(as *person, code int, buses []int64, wants ...expectation) answer {
		return w.call(as, "POST", path("/api/requests/%d/allocations", request), fields{"elements": sent(buses...)},
			code, wants...)
	}
	allocate(w.owner, 403, w.minibuses[:1], exactly(forbidden))
	allocate(w.driver, 200, w.minibuses[:1], is("event.requests.0.num_allocated", 1), is("failures", []any{}),
		is("event.commitments.4.status", uncontrolled))
	second := allocate(w.driver, 200, w.minibuses, is("event.requests.0.num_allocated", 2),
		is("failures.*.index", []int{0, 2, 3}),
		is("failures.0.item.errors", fields{"element_id": []string{"has already been taken"}}),
		is("failures.1.item.errors",
			fields{"element_id": []string{"is not a member of the group on every day of the event"}}),
		is("failures.2.item.errors", fields{"request_id": []string{"has all of its quantity of 2"}}))
	waiting()
	for i := range 2 {
		w.hookNotices = append(w.hookNotices, "request.allocated uncontrolled")
		w.ownerMail = append(w.ownerMail,
			fmt.Sprintf("Allocated: %s: Minibus %d was allocated by Tom Transport; "+
				"of Minibuses, %d of 2 wanted are allocated.", title, i+1, i+1))
	}
	w.awaitNotices()

	quantity := func(n, code int, wants ...expectation) {
		w.call(w.owner, "PATCH", path("/api/requests/%d", request), fields{"request": fields{"quantity": n}}, code,
			wants...)
	}
	quantity(1, 422, is("request.errors.quantity.#", 1))
	w.call(w.driver, "DELETE", path("/api/commitments/%d", second.id("event.commitments.5.id")), nil, 200,
		exactly(okBody))
	waiting(request)
	quantity(1, 200, is("request.quantity", 1), is("request.num_allocated", 1))
	waiting()
	day := func(bus int64, bodies ...string) {
		w.call(w.driver, "GET", path("/api/elements/%d/commitments?start_date=%s", bus, w.date(0)), nil, 200,
			is("commitments.*.event.body", append([]string{}, bodies...)))
	}
	day(w.minibuses[0], title)
	day(w.minibuses[1])
	w.call(w.owner, "DELETE", path("/api/requests/%d", request), nil, 200, exactly(okBody))
	day(w.minibuses[0])
	w.call(w.owner, "DELETE", path("/api/requests/%d", request), nil, 404, is("exception", "RecordNotFound"))
}

// book creates a lesson on a day after the concert and returns the answer.
func (w *walk) book(body string, days int, starts, ends string, elements ...int64) answer {
	return w.call(w.owner, "POST", "/api/events",
		fields{"event": w.hour(body, w.lesson, days, starts, ends), "elements": sent(elements...)}, 200,
		is("failures", []any{}), absent("clashes"))
}

// spans returns times on the day after the concert, from "09:00-11:00 13:00-14:00".
func (w *walk) spans(texts string) []fields {
	spans := []fields{}
	for span := range strings.FieldsSeq(texts) {
		starts, ends, _ := strings.Cut(span, "-")
		spans = append(spans, fields{"starts_at": w.moment(1, starts), "ends_at": w.moment(1, ends)})
	}
	return spans
}

func freeOrBusy(w *walk) {
	w.book("Scales", 1, "09:00", "10:00", w.room)
	w.book("Chords", 1, "10:00", "11:00", w.room)
	w.book("Voices", 1, "13:00", "14:00", w.choir)
	w.book("Voices again", 3, "13:00", "14:00", w.choir) // Kip has left the choir by then
	turned := w.book("Dance", 1, "15:00", "16:00", w.hall)
	w.decide(w.keeper, turned.id("event.commitments.0.id"), rejected, "the floor is wet", 200)
	w.expectOwnerMail("Dance", "Great Hall", rejected, "the floor is wet")
	w.book("Play", 1, "16:00", "17:00", w.hall) // a requested commitment counts as busy
	w.expectKeeperMail("Dance", "Great Hall")
	w.expectKeeperMail("Play", "Great Hall")
	busy := func(element int64, days int, spans string) {
		w.call(w.owner, "GET", path("/api/elements/%d/freebusy?start_date=%s", element, w.date(days)), nil, 200,
			is("busy", w.spans(spans)))
	}
	busy(w.room, 1, "09:00-11:00")
	busy(w.kai, 1, "13:00-14:00")
	busy(w.kai, 3, "")
	busy(w.hall, 1, "16:00-17:00")
	free := func(minutes, spans string) {
		w.call(w.owner, "GET", path("/api/freebusy?elements=%s&start_date=%s&minutes=%s",
			strings.Join(sent(w.room, w.kai, w.hall), ","), w.date(1), minutes), nil, 200,
			is("elements.*.element.id", []int64{w.room, w.kai, w.hall}), is("elements.1.busy", w.spans("13:00-14:00")),
			is("free", w.spans(spans)))
	}
	free("120", "00:00-09:00 11:00-13:00 14:00-16:00 17:00-24:00")
	free("121", "00:00-09:00 17:00-24:00")

	clashing := func(clashes string, code int, wants ...expectation) {
		w.call(w.owner, "POST", "/api/events",
			fields{"event": w.hour("Solo", w.lesson, 1, "10:30", "11:30"), "elements": sent(w.room),
				"clashes": clashes}, code, wants...)
	}
	clashing("report", 200, is("failures", []any{}), is("clashes.*.element.id", []int64{w.room}),
		is("clashes.*.event.body", []string{"Chords"}))
	clashing("refuse", 200, is("failures.*.item.errors", []fields{{"element_id": []string{"is already booked"}}}),
		is("event.commitments", []any{}), absent("clashes"))
	clashing("perhaps", 422, is("event.errors", fields{"clashes": []string{"is not included in the list"}}))
	w.book("Duet", 1, "10:30", "11:30", w.room)
}
