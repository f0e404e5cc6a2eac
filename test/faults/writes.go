package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// create books an event at a minute of its own.
func (w *writer) create(ctx context.Context) *booking {
	b := &booking{
		slot: int(w.slots.Add(1) - 1), title: word("Lesson"), base: []int64{w.pick(w.rooms), w.pick(w.teachers)},
		titles: map[string]verdict{}, added: map[int64]verdict{}, allocated: map[int64]verdict{},
		notes: map[string]verdict{}, changesOpen: true,
	}
	b.titles[b.title] = done
	if w.flag(4) {
		b.calendar = w.pick(w.calendars)
		b.base = append(b.base, b.calendar)
	}
	if w.flag(3) {
		b.base = append(b.base, w.pick(w.groups))
	}
	elements := sent(b.base...)
	if b.wantsBuses = w.flag(3); b.wantsBuses {
		elements = append(elements, sent(w.minibuses, w.minibuses)...)
	}
	body := fields{"event": w.eventAt(b.title, b.starts(), time.Minute), "elements": elements}
	a, v := w.attempt(ctx, w.writer, kindEvent, http.MethodPost, "/api/events", body, nil)
	if b.stands = v; v == done {
		e := w.eventOf(a)
		b.id = e.ID
		for _, c := range e.Commitments {
			if c.Element.ID == b.calendar {
				b.entry = c.ID
			}
		}
		for _, r := range e.Requests {
			b.requestID = r.ID
		}
		w.open = append(w.open, b)
		if len(w.open) > openEvents {
			w.open = w.open[1:]
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bookings = append(w.bookings, b)
	return b
}

// add adds a room or a teacher that the event does not have.
func (w *writer) add(ctx context.Context, b *booking) bool {
	element := w.pick(slices.Concat(w.rooms, w.teachers))
	if slices.Contains(b.base, element) || b.added[element] != never || len(b.added) == 3 {
		return false
	}
	a, v := w.attempt(ctx, w.writer, kindAdd, http.MethodPost, fmt.Sprintf("/api/events/%d/add", b.id),
		fields{"elements": sent(element)}, nil)
	if b.added[element] = v; v == done {
		w.eventOf(a)
	}
	return true
}

// rename gives the event another title. No change follows one without an answer, which may come late.
func (w *writer) rename(ctx context.Context, b *booking) bool {
	if !b.changesOpen {
		return false
	}
	title := word("Lesson")
	_, v := w.attempt(ctx, w.writer, kindChange, http.MethodPatch, fmt.Sprintf("/api/events/%d", b.id),
		fields{"event": fields{"body": title}}, nil)
	if v == done {
		clear(b.titles)
	}
	b.titles[title], b.changesOpen = v, v == done
	return true
}

// decide confirms, rejects or notes the calendar's entry, once.
func (w *writer) decide(ctx context.Context, b *booking) bool {
	if b.entry == 0 || b.decided != "" {
		return false
	}
	b.decided = []string{"confirmed", "confirmed", "rejected", "noted"}[w.dice.IntN(4)]
	// repeated, it says that there is no such move: the first one was made
	_, b.decision = w.attempt(ctx, w.keeper, kindDecision, http.MethodPatch,
		fmt.Sprintf("/api/commitments/%d", b.entry), fields{"commitment": fields{"status": b.decided}},
		func(a servicetest.Answer, repeated bool) bool { return repeated && a.Code == http.StatusConflict })
	return true
}

// allocate gives the event a minibus, two at most.
func (w *writer) allocate(ctx context.Context, b *booking) bool {
	bus := w.pick(w.buses)
	if b.requestID == 0 || len(b.allocated) == 2 || b.allocated[bus] != never {
		return false
	}
	a, v := w.attempt(ctx, w.keeper, kindAllocation, http.MethodPost,
		fmt.Sprintf("/api/requests/%d/allocations", b.requestID), fields{"elements": sent(bus)}, nil)
	if b.allocated[bus] = v; v == done {
		w.eventOf(a)
	}
	return true
}

// note writes a note.
func (w *writer) note(ctx context.Context, b *booking) bool {
	contents := word("Note")
	_, b.notes[contents] = w.attempt(ctx, w.writer, kindNote, http.MethodPost,
		fmt.Sprintf("/api/events/%d/notes", b.id), fields{"note": fields{"contents": contents}}, nil)
	return true
}

// remove deletes the event. Nothing is written to it after.
func (w *writer) remove(ctx context.Context, b *booking) bool {
	_, b.gone = w.attempt(ctx, w.writer, kindDelete, http.MethodDelete, fmt.Sprintf("/api/events/%d", b.id), nil,
		func(a servicetest.Answer, repeated bool) bool { return repeated && a.Code == http.StatusNotFound })
	w.open = slices.DeleteFunc(w.open, func(o *booking) bool { return o == b })
	return true
}

// join makes a pupil a member of a group for a day that no other membership adjoins; false when there is none left.
func (w *writer) join(ctx context.Context) bool {
	m := membership{group: w.pick(w.groups), pupil: w.pick(w.pupils), day: 2 * w.dice.IntN(days/2)}
	w.mu.Lock()
	taken := w.memberships[m] != never
	if !taken {
		w.memberships[m] = unknown
	}
	w.mu.Unlock()
	if taken {
		return false
	}
	day := dayOf(m.day)
	_, v := w.attempt(ctx, w.admin, kindMembership, http.MethodPost,
		fmt.Sprintf("/api/admin/elements/%d/members", m.group),
		fields{"members": []fields{{"element_id": m.pupil, "first_day": day, "last_day": day}}}, nil)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.memberships[m] = v
	return true
}

// sent returns ids as the contract's clients send them: strings.
func sent(ids ...int64) []string {
	return sequence.Map(ids, func(id int64) string { return strconv.FormatInt(id, 10) })
}
