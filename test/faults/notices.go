package main

import (
	"maps"
	"slices"
	"strconv"
)

// The kinds of notices (docs/notice.md), in the order in which an event of the ledger can have them.
const (
	noticeRequested = "commitment.requested"
	noticeDecided   = "commitment.decided"
	noticeAllocated = "request.allocated"
	noticeDeleted   = "event.deleted"
)

// bounds are how many notices of a kind an event may have.
type bounds struct{ least, most int }

// add counts a notice of what a client knows so much about.
func (b bounds) add(v verdict) bounds {
	if v == done {
		b.least++
	}
	if v != never {
		b.most++
	}
	return b
}

// expected returns how many notices of each kind there must be of an event whose id is known. Stored events have been
// compared before, so nothing about them is unknown.
func (b *booking) expected(stands bool) map[string]bounds {
	want := map[string]bounds{noticeDecided: bounds{}.add(b.decision)}
	if b.calendar != 0 {
		want[noticeRequested] = bounds{1, 1}
	}
	for _, v := range b.allocated {
		want[noticeAllocated] = want[noticeAllocated].add(v)
	}
	if !stands && b.decided == "confirmed" {
		want[noticeDeleted] = want[noticeDecided]
	}
	return want
}

// compareNotices compares what the webhook got with what happened: each notice once, but for repeats with the
// same id, and those of an event in order.
func (c *check) compareNotices() error {
	got := map[int64][]string{} // the kinds of each event's notices, as they came
	for _, r := range c.endpoint.Taken() {
		if _, repeated := c.distinct[r.ID]; repeated {
			c.repeats++
			continue
		}
		c.distinct[r.ID] = struct{}{}
		id, err := strconv.ParseInt(r.Subject, 10, 64)
		if err != nil {
			return err
		}
		got[id] = append(got[id], r.Kind())
	}
	for _, b := range c.ledger.bookings {
		if b.id != 0 {
			c.compareNoticesOf(b, got[b.id])
			delete(got, b.id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(got)) {
		c.complaints.add("event %d has notices and is not there: %v", id, got[id])
	}
	return nil
}

// compareNoticesOf compares the kinds of the notices of an event, as they came.
func (c *check) compareNoticesOf(b *booking, came []string) {
	want, got := b.expected(c.standing[b.id] != nil), map[string]int{}
	for _, kind := range came {
		got[kind]++
	}
	for kind, n := range got {
		if n > want[kind].most {
			c.complaints.add("event %d: %d notices %s, at most %d happened", b.id, n, kind, want[kind].most)
		}
	}
	for kind, w := range want {
		if got[kind] < w.least {
			c.complaints.add("event %d: %d notices %s, at least %d happened", b.id, got[kind], kind, w.least)
		}
	}
	before := 0
	for _, kind := range []string{noticeRequested, noticeDecided, noticeDeleted} {
		place := slices.Index(came, kind)
		if place >= 0 && place < before {
			c.complaints.add("event %d: the notice %s came before an earlier one", b.id, kind)
		}
		before = max(before, place)
	}
}
