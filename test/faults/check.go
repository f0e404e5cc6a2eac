package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/service/background"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

const (
	// readers is how many of the comparison's requests are under way at once.
	readers = 8
	// settleWithin bounds how long notices and leftovers may take without any progress. When Redis has lost the
	// message, notes of a deleted event are deleted within five minutes.
	settleWithin = 6 * time.Minute
)

// records are the collections whose documents have a version, and pending messages and entries.
var records = []string{"events", "event_categories", "notes", "elements", "memberships", "users", "webhooks"}

// check compares what is there with the ledger.
type check struct {
	*system
	ledger     *ledger
	complaints complaints

	mu       sync.Mutex
	standing map[int64]*booking  // what is there, by id
	elements map[int64][]int64   // the events of each element, as their records say, and of a member of its group
	days     map[int64]int       // of each event, counted from the first
	settled  time.Duration       // until nothing was left over
	distinct map[string]struct{} // ids of notices
	repeats  int                 // of notices
	reserved int                 // reservations that were left
	listed   int                 // changes

	occurring []int64         // the events of series
	taken     map[taking]bool // of halls
}

func newCheck(s *system, l *ledger) *check {
	return &check{system: s, ledger: l, standing: map[int64]*booking{}, elements: map[int64][]int64{},
		days: map[int64]int{}, distinct: map[string]struct{}{}, taken: map[taking]bool{}}
}

// run compares all. The error is that of a comparison that could not be made.
func (c *check) run(ctx context.Context) error {
	return errors.Join(c.compare(ctx), c.compareChanges(ctx), c.compareReservations(ctx))
}

// compare compares what can be compared without a write.
func (c *check) compare(ctx context.Context) error {
	for _, step := range []func(context.Context) error{c.settle, c.findEvents, c.compareEvents, c.compareMemberships,
		c.compareCalendars, c.compareSeries, c.compareHalls} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := c.compareNotices(); err != nil {
		return err
	}
	for _, r := range c.endpoint.Got() {
		if r.Fault != "" {
			c.complaints.add("a notice is not as promised: %s", r.Fault)
		}
	}
	return nil
}

// get reads an answer of the first administrator's into reply, unless the record is missing.
func (c *check) get(ctx context.Context, path string, reply any) (found bool, err error) {
	a, err := c.ledger.admin.send(ctx, http.MethodGet, path, nil)
	switch {
	case err != nil:
		return false, err
	case a.Code == http.StatusNotFound:
		return false, nil
	case a.Code != http.StatusOK:
		return false, fmt.Errorf("%s: %d %s", a.Request, a.Code, a.Body)
	}
	return true, json.Unmarshal([]byte(a.Body), reply)
}

// settle waits until nothing is left over: everything due has been sent, and the records of deleted events are gone.
// Anything left after a while without progress is a complaint.
func (c *check) settle(ctx context.Context) error {
	began := time.Now()
	for moved, before := began, ""; ; background.Pause(ctx, time.Second) {
		left, err := c.left(ctx)
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		c.settled = time.Since(began)
		if len(left) == 0 {
			return nil
		}
		if text := fmt.Sprint(left); text != before {
			moved, before = time.Now(), text
			c.ledger.console.line("left over: %s", text)
		}
		if time.Since(moved) > settleWithin {
			for what, n := range left {
				c.complaints.add("left over after %s: %d %s", c.settled.Round(time.Second), n, what)
			}
			return nil
		}
	}
}

// left counts what is left over, by what it is.
func (c *check) left(ctx context.Context) (map[string]int, error) {
	left := map[string]int{}
	var faults []error
	add := func(what string, n int64, err error) {
		if n > 0 {
			left[what] += int(n)
		}
		faults = append(faults, err)
	}
	count := func(what, collection string, filter bson.D) {
		n, err := c.db.Collection(collection).CountDocuments(ctx, filter)
		add(what, n, err)
	}
	has := func(field string) bson.D {
		return bson.D{{Key: field, Value: bson.D{{Key: "$exists", Value: true}}}}
	}
	for _, collection := range records {
		count("records with messages to send", collection, has("outbox.0"))
		count("records with entries for the audit", collection, has("audit.0"))
		count("records with changes to list", collection, has("changes.0"))
		count("deleted records", collection, bson.D{{Key: "deleted", Value: true},
			{Key: "version", Value: bson.D{{Key: "$gt", Value: 1}}}}) // a fence, which stays, is not written again
	}
	waiting := bson.D{{Key: "waiting", Value: true}}
	count("series that are not done", "series", has("unmade"))
	count("notices", "notices", waiting)
	count("deliveries", "webhook_deliveries", waiting)
	undelivered, err := c.undelivered(ctx)
	add("messages in Redis", undelivered, err)
	orphans, err := c.orphans(ctx)
	add("notes of events that are gone", orphans, err)
	return left, errors.Join(faults...)
}

// undelivered counts messages in Redis that a group of consumers has not read or not finished.
func (c *check) undelivered(ctx context.Context) (int64, error) {
	streams, err := c.redis.Keys(ctx, "belfry:*").Result()
	if err != nil {
		return 0, err
	}
	var total int64
	for _, stream := range streams {
		if kind, err := c.redis.Type(ctx, stream).Result(); err != nil || kind != "stream" {
			continue // what is no stream, or has expired
		}
		groups, err := c.redis.XInfoGroups(ctx, stream).Result()
		if err != nil {
			return 0, err
		}
		for _, g := range groups {
			total += g.Pending + max(0, g.Lag) // a lag below 0 is one that Redis cannot say
		}
	}
	return total, nil
}

// orphans counts notes whose event is gone.
func (c *check) orphans(ctx context.Context) (int64, error) {
	var noted, there []int64
	alive := bson.D{{Key: "deleted", Value: bson.D{{Key: "$ne", Value: true}}}}
	if err := c.db.Collection("notes").Distinct(ctx, "event_id", alive).Decode(&noted); err != nil {
		return 0, err
	}
	if err := c.db.Collection("events").Distinct(ctx, "_id", alive).Decode(&there); err != nil {
		return 0, err
	}
	gone := slices.DeleteFunc(noted, func(id int64) bool { return slices.Contains(there, id) })
	if len(gone) == 0 {
		return 0, nil
	}
	return c.db.Collection("notes").CountDocuments(ctx,
		bson.D{{Key: "event_id", Value: bson.D{{Key: "$in", Value: gone}}}})
}

// listing is an entry of an element's calendar.
type listing struct {
	Event struct {
		ID       int64
		Body     string
		StartsAt time.Time `json:"starts_at"`
	}
}

// calendar returns the ids of the events of an element, day by day.
func (c *check) calendar(ctx context.Context, element int64) ([]listing, error) {
	var all []listing
	for day := range days {
		var reply struct{ Commitments []listing }
		path := fmt.Sprintf("/api/elements/%d/commitments?start_date=%s", element, dayOf(day))
		if _, err := c.get(ctx, path, &reply); err != nil {
			return nil, err
		}
		all = append(all, reply.Commitments...)
	}
	return all, nil
}

// findEvents finds each event of the ledger by its minute, in the calendars of the rooms: every event has one from
// the start.
func (c *check) findEvents(ctx context.Context) error {
	slots := map[time.Time]*booking{}
	for _, b := range c.ledger.bookings {
		slots[b.starts()] = b
	}
	for _, room := range c.ledger.rooms {
		list, err := c.calendar(ctx, room)
		if err != nil {
			return err
		}
		for _, l := range list {
			b := slots[l.Event.StartsAt.UTC()]
			switch {
			case b == nil || b.titles[l.Event.Body] == never:
				c.complaints.add("event %d, %q, is there unasked", l.Event.ID, l.Event.Body)
			case b.id != 0 && b.id != l.Event.ID:
				c.complaints.add("event %d is there a second time, as %d", b.id, l.Event.ID)
			default:
				b.id = l.Event.ID
				c.standing[b.id] = b
			}
		}
	}
	for _, b := range c.ledger.bookings {
		there := b.id != 0 && c.standing[b.id] != nil
		if b.stands == done && b.gone == never && !there {
			c.complaints.add("event %d was acknowledged and is lost", b.id)
		}
		if b.gone == done && there {
			c.complaints.add("event %d was deleted and is there", b.id)
		}
	}
	return nil
}

// compareEvents reads every event with its notes, and compares its parts with the ledger's.
func (c *check) compareEvents(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for id, b := range c.standing {
		group.Go(func() error {
			var event servicetest.Booking
			var notes struct{ Notes []struct{ Contents string } }
			if found, err := c.get(ctx, fmt.Sprintf("/api/events/%d", id), &event); err != nil || !found {
				return errors.Join(err, fmt.Errorf("event %d was listed; found: %t", id, found))
			}
			if _, err := c.get(ctx, fmt.Sprintf("/api/events/%d/notes", id), &notes); err != nil {
				return err
			}
			contents := map[string]int{}
			for _, n := range notes.Notes {
				contents[n.Contents]++
			}
			compareOnce(c, fmt.Sprintf("event %d: the note", id), b.notes, contents)
			c.compareEvent(b, event.Event)
			return nil
		})
	}
	return group.Wait()
}

// compareEvent compares an event as it is shown with the ledger's, and keeps whose calendars it must be in.
func (c *check) compareEvent(b *booking, e shown) {
	if b.titles[e.Body] == never {
		c.complaints.add("event %d has the title %q, which is not the last", b.id, e.Body)
	}
	want := maps.Clone(b.added)
	for _, element := range b.base {
		want[element] = done
	}
	maps.Copy(want, b.allocated)
	got, allocated, status := map[int64]int{}, 0, ""
	for _, commitment := range e.Commitments {
		element := commitment.Element.ID
		got[element]++
		if element == b.calendar {
			status = commitment.Status
		}
		if b.allocated[element] != never {
			allocated++
			b.allocated[element] = done // it is there, so there is a notice of it
		}
	}
	compareOnce(c, fmt.Sprintf("event %d: the element", b.id), want, got)
	switch {
	case b.calendar == 0:
	case status == b.decided && b.decision != never:
		b.decision = done
	case b.decision == done || status != "requested":
		c.complaints.add("event %d: the entry is %q; it was decided: %q (%d)", b.id, status, b.decided, b.decision)
	default:
		b.decision = never
	}
	switch {
	case !b.wantsBuses && len(e.Requests) == 0:
	case !b.wantsBuses || len(e.Requests) != 1 || e.Requests[0].Quantity != 2 ||
		e.Requests[0].NumAllocated != allocated || e.Requests[0].Element.ID != c.ledger.minibuses:
		c.complaints.add("event %d: its requests are %+v, with %d minibuses allocated", b.id, e.Requests, allocated)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.days[b.id] = b.slot % days
	for element := range got {
		c.elements[element] = append(c.elements[element], b.id)
	}
}

// compareOnce complains about acknowledged writes that are not stored exactly once, and about stored ones that no one
// sent.
func compareOnce[K comparable](c *check, what string, want map[K]verdict, got map[K]int) {
	for key, v := range want {
		if n := got[key]; n > 1 || v == done && n != 1 {
			c.complaints.add("%s %v is there %d times; acknowledged: %t", what, key, n, v == done)
		}
	}
	for key := range got {
		if want[key] == never {
			c.complaints.add("%s %v is there unasked", what, key)
		}
	}
}

// compareMemberships compares the members of all groups with the ledger's, and keeps whose days have which events.
func (c *check) compareMemberships(ctx context.Context) error {
	got := map[membership]int{}
	for _, g := range c.ledger.groups {
		path := fmt.Sprintf("/api/admin/elements/%d/members", g)
		for m, err := range c.ledger.client.List(ctx, path, "members", nil) {
			if err != nil {
				return err
			}
			first := m.Text("first_day")
			if first == "" || first != m.Text("last_day") {
				c.complaints.add("element %d is a member of %d for days that were not asked for", m.ID("element_id"), g)
				continue
			}
			day, err := time.Parse(time.DateOnly, first)
			if err != nil {
				return err
			}
			got[membership{g, m.ID("element_id"), int(day.Sub(firstDay).Hours() / 24)}]++
		}
	}
	compareOnce(c, "the membership", c.ledger.memberships, got)
	for m := range got {
		for _, event := range c.elements[m.group] {
			if c.days[event] == m.day {
				c.elements[m.pupil] = append(c.elements[m.pupil], event)
			}
		}
	}
	return nil
}

// compareCalendars compares the calendars of all elements with the events.
func (c *check) compareCalendars(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for _, element := range slices.Concat(c.ledger.rooms, c.ledger.teachers, c.ledger.groups, c.ledger.calendars,
		c.ledger.buses, c.ledger.pupils) {
		group.Go(func() error {
			list, err := c.calendar(ctx, element)
			got := slices.Sorted(slices.Values(sequence.Map(list, func(l listing) int64 { return l.Event.ID })))
			want := slices.Sorted(slices.Values(c.elements[element]))
			if err == nil && !slices.Equal(got, want) {
				c.complaints.add("the calendar of element %d has %d events, the ledger %d", element, len(got),
					len(want))
			}
			return err
		})
	}
	return group.Wait()
}
