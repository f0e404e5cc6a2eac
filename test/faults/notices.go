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

func boundsOf(v verdict) bounds {
	switch v {
	case done:
		return bounds{1, 1}
	case unknown:
		return bounds{0, 1}
	case never:
	}
	return bounds{}
}

func (b bounds) plus(o bounds) bounds { return bounds{b.least + o.least, b.most + o.most} }

// expected returns how many notices of each kind there must be of an event whose id is known. Stored events have been
// compared before, so nothing about them is unknown.
func (b *booking) expected(stands bool) map[string]bounds {
	want := map[string]bounds{noticeDecided: boundsOf(b.decision)}
	if b.calendar != 0 {
		want[noticeRequested] = bounds{1, 1}
	}
	for _, v := range b.allocated {
		want[noticeAllocated] = want[noticeAllocated].plus(boundsOf(v))
	}
	if !stands && b.decided == "confirmed" {
		want[noticeDeleted] = boundsOf(b.decision)
	}
	return want
}

// received is what the webhook's endpoint got of one event, repeats left out.
type received struct {
	byKind map[string]int
	first  map[string]int // the place of the first of each kind among all
}

// compareNotices compares what the webhook got with what happened: each notice once, but for repeats with the
// same id, and those of an event in order.
func (c *check) compareNotices() error {
	got := map[int64]*received{}
	for place, r := range c.endpoint.Taken() {
		if _, repeated := c.distinct[r.ID]; repeated {
			c.repeats++
			continue
		}
		c.distinct[r.ID] = struct{}{}
		id, err := strconv.ParseInt(r.Subject, 10, 64)
		if err != nil {
			return err
		}
		of := got[id]
		if of == nil {
			of = &received{map[string]int{}, map[string]int{}}
			got[id] = of
		}
		if of.byKind[r.Kind()]++; of.byKind[r.Kind()] == 1 {
			of.first[r.Kind()] = place
		}
	}
	for _, b := range c.ledger.bookings {
		if b.id == 0 {
			continue
		}
		of := got[b.id]
		if of == nil {
			of = &received{map[string]int{}, map[string]int{}}
		}
		c.compareNoticesOf(b, of)
		delete(got, b.id)
	}
	for _, id := range slices.Sorted(maps.Keys(got)) {
		c.complaints.add("event %d has notices and is not there: %v", id, got[id].byKind)
	}
	return nil
}

func (c *check) compareNoticesOf(b *booking, of *received) {
	want := b.expected(c.standing[b.id] != nil)
	for kind, n := range of.byKind {
		if n > want[kind].most {
			c.complaints.add("event %d: %d notices %s, at most %d happened", b.id, n, kind, want[kind].most)
		}
	}
	for kind, w := range want {
		if of.byKind[kind] < w.least {
			c.complaints.add("event %d: %d notices %s, at least %d happened", b.id, of.byKind[kind], kind, w.least)
		}
	}
	before := 0
	for _, kind := range []string{noticeRequested, noticeDecided, noticeDeleted} {
		place, came := of.first[kind]
		if !came {
			continue
		}
		if place < before {
			c.complaints.add("event %d: the notice %s came before an earlier one", b.id, kind)
		}
		before = place
	}
}
