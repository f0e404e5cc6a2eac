package api_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// extended is what create and add answer when clashes were asked for.
type extended struct {
	created
	Clashes *[]struct {
		Element struct{ ID int64 }
		Event   struct{ ID int64 }
	}
}

// pairs are the clashes as "element:event", in their order; "none" without the key.
func (e extended) pairs() string {
	if e.Clashes == nil {
		return "none"
	}
	pairs := make([]string, len(*e.Clashes))
	for i, c := range *e.Clashes {
		pairs[i] = fmt.Sprintf("%d:%d", c.Element.ID, c.Event.ID)
	}
	return strings.Join(pairs, " ")
}

func pair(element, event int64) string { return fmt.Sprintf("%d:%d", element, event) }

// refused are the elements that failed because they are booked.
func (e extended) refused(t *testing.T) string {
	t.Helper()
	var ids []string
	for _, f := range e.Failures {
		if f.ItemType != "Commitment" || f.Item.ID != nil ||
			fmt.Sprint(f.Item.Errors) != "map[element_id:[is already booked]]" {
			t.Errorf("failure %+v", f)
		}
		ids = append(ids, f.ElementID)
	}
	return strings.Join(ids, " ")
}

// things makes new rooms, so that no test is in the way of another.
func things(t *testing.T, n int) []int64 {
	t.Helper()
	ids := make([]int64, n)
	for i := range ids {
		key := uuid.NewString()
		ids[i] = system(t).Admin(t).Import(t, "locations", map[string]any{"key": key, "name": "Room " + key})[key]
	}
	return ids
}

// group makes a new group with the member on the days.
func group(t *testing.T, member int64, first, last string) int64 {
	t.Helper()
	admin := system(t).Admin(t)
	key := uuid.NewString()
	id := admin.Import(t, "groups", map[string]any{"key": key, "name": "Set " + key})[key]
	line := map[string]any{"element_id": member, "first_day": first, "last_day": last}
	admin.Post(t, path("/api/admin/elements/%d/members", id), map[string]any{"members": []any{line}}).Must(t, 201)
	return id
}

// name is that of an element.
func (s school) name(t *testing.T, element int64) string {
	t.Helper()
	return system(t).Admin(t).Get(t, path("/api/elements/%d", element)).Text(t, "element.name")
}

// at are the fields of a lesson at the hours on a day.
func (s school) at(day, starts, ends string) map[string]any {
	return s.fields("starts_at_text", nil, "starts_at", day+" "+starts, "ends_at", day+" "+ends)
}

// minding creates an event with clashes.
func minding(t *testing.T, c *servicetest.Client, clashes string, fields map[string]any, elements ...any) extended {
	t.Helper()
	return extending(t, c.Post(t, "/api/events",
		map[string]any{"event": fields, "elements": append([]any{}, elements...), "clashes": clashes}))
}

func extending(t *testing.T, a servicetest.Answer) extended {
	t.Helper()
	return decoded[extended](t, a)
}

const monday = "2026-10-05"

func TestClashes_ReportListsTheOtherEventsAfterTheFailures(t *testing.T) {
	s, owner := loadOwned(t)
	rooms := things(t, 2)
	first := book(t, owner, s.at(monday, "09:00", "10:00"), rooms[0]).Event
	second := book(t, owner, s.at(monday, "09:30", "11:00"), rooms[0], rooms[1]).Event

	a := owner.Post(t, "/api/events",
		map[string]any{"event": s.at(monday, "09:45", "10:30"), "elements": []any{rooms[0], 99999999},
			"clashes": "report"})
	got := extending(t, a)
	if want := pair(rooms[0], first.ID) + " " + pair(rooms[0], second.ID); got.pairs() != want ||
		len(got.Event.Commitments) != 1 || len(got.Failures) != 1 {
		t.Errorf("%s\nwant %s", a.Body, want)
	}
	if tail := path(`"event":{"id":%d,"body":"Maths","starts_at":"2026-10-05T09:30:00.000+01:00","ends_at":"2026-10-05T11:00:00.000+01:00","all_day":false,"valid":true}}]}`, second.ID); !strings.HasSuffix(a.Body, tail) ||
		!strings.Contains(a.Body, path(`}],"clashes":[{"element":{"id":%d,"name":"Room `, rooms[0])) {
		t.Errorf("%s", a.Body)
	}

	added := extending(t, owner.Post(t, path("/api/events/%d/add", got.Event.ID),
		map[string]any{"elements": []any{rooms[1], rooms[0]}, "clashes": "report"}))
	// the room that is on the event already is not added
	if want := pair(rooms[1], second.ID); added.pairs() != want || len(added.Failures) != 1 {
		t.Errorf("add: %s, want %s", added.pairs(), want)
	}
	valuetest.Same(t, minding(t, owner, "report", s.at("2026-10-06", "09:00", "10:00"), rooms[0]).pairs(), "",
		"on a free day")
}

func TestClashes_SkipFailsWhatIsBooked(t *testing.T) {
	s, owner := loadOwned(t)
	rooms := things(t, 2)
	first := book(t, owner, s.at(monday, "09:00", "10:00"), rooms[0]).Event

	got := minding(t, owner, "skip", s.at(monday, "09:59", "11:00"), rooms[0], rooms[1])
	if got.refused(t) != text(rooms[0]) || len(got.Event.Commitments) != 1 || got.pairs() != "none" {
		t.Errorf("%+v", got)
	}
	quiet := s.withCategory(s.at(monday, "09:00", "10:00"), s.trip)
	if got := minding(t, owner, "skip", quiet, rooms[0]); len(got.Failures) != 0 {
		t.Errorf("in a category that is not busy: refused %s", got.refused(t))
	}

	late := book(t, owner, s.at(monday, "09:00", "10:00")).Event
	added := extending(t, owner.Post(t, path("/api/events/%d/add", late.ID),
		map[string]any{"elements": []any{rooms[0]}, "clashes": "skip"}))
	valuetest.Holds(t, added.refused(t) == text(rooms[0]) && len(added.Event.Commitments) == 0, "add: %+v", added)
	again := extending(t, owner.Post(t, path("/api/events/%d/add", first.ID),
		map[string]any{"elements": []any{rooms[0]}, "clashes": "skip"}))
	if len(again.Failures) != 1 || again.Failures[0].Item.Errors["element_id"][0] != "has already been taken" {
		t.Errorf("on the event itself: %+v", again.Failures)
	}
}

func (s school) withCategory(fields map[string]any, category int64) map[string]any {
	fields["event_category_id"] = category
	return fields
}

// The suite shows that a creation makes all or nothing.
func TestClashes_RefuseAddsAllOrNothing(t *testing.T) {
	s, owner := loadOwned(t)
	rooms := things(t, 2)
	taken := book(t, owner, s.at(monday, "09:00", "10:00"), rooms[0]).Event
	add := func(event int64) servicetest.Answer {
		return owner.Post(t, path("/api/events/%d/add", event),
			map[string]any{"elements": []any{rooms[1], rooms[0], 99999999}, "clashes": "refuse"})
	}
	busy := book(t, owner, s.at(monday, "09:30", "12:00")).Event
	a := add(busy.ID)
	if a.Code != 409 || a.Len(t, "clashes") != 1 || a.Int(t, "clashes.0.event.id") != taken.ID ||
		a.At(t, "message") != `"already booked: `+s.name(t, rooms[0])+` at 2026-10-05T09:30:00.000+01:00"` {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	got := get(t, owner, busy.ID).Event
	valuetest.Same(t, len(got.Commitments), 0, "added: %+v", got)
	free := book(t, owner, s.at(monday, "10:00", "11:00")).Event
	if got := extending(t, add(free.ID)); len(got.Event.Commitments) != 2 || len(got.Failures) != 1 ||
		got.Failures[0].ItemType != "Hash" || got.pairs() != "none" {
		t.Errorf("what is no element refuses the others: %+v", got)
	}
}

func TestClashes_RejectedCommitmentsAndDeletedEventsDoNotClash(t *testing.T) {
	s, owner := loadOwned(t)
	room := things(t, 1)[0]
	administers(t, s.as(t, "keeper"), room)
	e := book(t, owner, s.at(monday, "09:00", "10:00"), room).Event
	// while it is pending
	got := minding(t, owner, "skip", s.at(monday, "09:00", "10:00"), room)
	valuetest.Same(t, got.refused(t), text(room), "%+v", got)
	decide(t, s.as(t, "keeper"), e.Commitments[0].ID, "rejected")
	second := minding(t, owner, "skip", s.at(monday, "09:00", "10:00"), room)
	if len(second.Failures) != 0 {
		t.Errorf("after it was rejected: %s", second.refused(t))
	}
	owner.Delete(t, path("/api/events/%d", second.Event.ID))
	if third := minding(t, owner, "skip", s.at(monday, "09:00", "10:00"), room); len(third.Failures) != 0 {
		t.Errorf("after the other was deleted: %s", third.refused(t))
	}
}

func TestClashes_ThroughAGroupClashesOnTheDaysOfMembership(t *testing.T) {
	s, owner := loadOwned(t)
	room := things(t, 1)[0]
	set := group(t, room, monday, monday)
	year := group(t, set, "2026-01-01", "2026-12-31")
	lesson := book(t, owner, s.at(monday, "09:00", "10:00"), set).Event
	assembly := book(t, owner, s.fields("starts_at_text", nil, "starts_at", monday+" 09:00", "ends_at",
		"2026-10-06 12:00"), year).Event

	valuetest.Same(t, minding(t, owner, "report", s.at(monday, "09:00", "12:00"), room).pairs(),
		pair(room, lesson.ID)+
			" "+pair(room, assembly.ID))
	got := minding(t, owner, "skip", s.at(monday, "09:00", "10:00"), room)
	valuetest.Same(t, got.refused(t), text(room), "%+v", got)
	// The assembly continues, but the room is no longer in the set.
	if got := minding(t, owner, "skip", s.at("2026-10-06", "09:00", "10:00"), room); len(got.Failures) != 0 {
		t.Errorf("the day after: %s", got.refused(t))
	}
}

// Many create, extend, change and move events at once, over two replicas, for the same rooms and time.
func TestClashes_OfManyAtOnceOneGetsEachRoom(t *testing.T) {
	type call = func(i int, c *servicetest.Client) servicetest.Answer
	const before, date = "2026-10-07", "2026-10-08"
	s, owner := loadOwned(t)
	made := func(n int, day string, apart int, rooms ...any) (ids []int64) { // so many hours apart
		for i := range n {
			fields := s.at(day, fmt.Sprintf("%02d:00", 9+i*apart), fmt.Sprintf("%02d:00", 10+i*apart))
			ids = append(ids, book(t, owner, fields, rooms...).Event.ID)
		}
		return ids
	}
	creating := func(clashes, starts, ends string, rooms ...any) map[string]any {
		return map[string]any{"event": s.at(date, starts, ends), "elements": rooms, "clashes": clashes}
	}
	for name, c := range map[string]struct {
		rooms   int
		answers map[int]int // by code
		calls   func(rooms []int64) call
	}{
		"created with both rooms or neither": {2, map[int]int{200: 1, 409: 7}, func(rooms []int64) call {
			return func(i int, c *servicetest.Client) servicetest.Answer { // in one order and the other
				return c.Post(t, "/api/events", creating("refuse", "14:00", "15:00", rooms[i%2], rooms[1-i%2]))
			}
		}},
		"created with the room or without": {1, map[int]int{200: 60}, func(rooms []int64) call {
			return func(i int, c *servicetest.Client) servicetest.Answer { // all overlap at 09:30
				starts, ends := fmt.Sprintf("09:%02d", i%30), fmt.Sprintf("10:%02d", i%30)
				return c.Post(t, "/api/events", creating("skip", starts, ends, rooms[0]))
			}
		}},
		"extended": {4, map[int]int{200: 24}, func(rooms []int64) call {
			events := made(24, date, 0)
			return func(i int, c *servicetest.Client) servicetest.Answer { // in any order
				two := []any{rooms[i%4], rooms[(i+1+i/4%3)%4]}
				return c.Post(t, path("/api/events/%d/add", events[i]),
					map[string]any{"elements": two, "clashes": "skip"})
			}
		}},
		"changed": {1, map[int]int{200: 1, 409: 5}, func(rooms []int64) call {
			other := things(t, 1)[0]
			events := made(6, date, 0, other)
			return func(i int, c *servicetest.Client) servicetest.Answer {
				return c.Post(t, path("/api/events/%d/replace", events[i]), replacing(nil, other, rooms[0]))
			}
		}},
		"moved to where others are created": {1, map[int]int{200: 1, 409: 8}, func(rooms []int64) call {
			events := made(6, before, 1, rooms[0])
			return func(i int, c *servicetest.Client) servicetest.Answer {
				if i >= len(events) {
					return c.Post(t, "/api/events", creating("refuse", "09:00", "10:00", rooms[0]))
				}
				return c.Patch(t, path("/api/events/%d", events[i]), map[string]any{"clashes": "refuse",
					"event": map[string]any{"starts_at": date + " 09:30", "ends_at": date + " 10:30"}})
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			rooms, n := things(t, c.rooms), 0
			for _, of := range c.answers {
				n += of
			}
			answers := atOnce(n, s.through(t, "owner"), c.calls(rooms))
			valuetest.Equal(t, c.answers, codes(answers))
			told := 0
			for _, a := range answers {
				var got created
				a.Decode(t, &got)
				for _, commitment := range got.Event.Commitments {
					if slices.Contains(rooms, commitment.Element.ID) {
						told++
					}
				}
			}
			valuetest.Same(t, told, len(rooms), "rooms that clients were told to have")
			for _, room := range rooms {
				valuetest.Len(t, day(t, owner, room, date), 1, "events of a room")
				valuetest.Same(t, standing(t, room), 0, "reservations are left")
			}
		})
	}
}

func TestClashes_OfTwoWhoReportAtOnceOneIsTold(t *testing.T) {
	s := loadSchool(t)
	clients := s.through(t, "owner")
	for range 10 {
		room := things(t, 1)[0]
		told := 0
		for _, a := range atOnce(2, clients, func(_ int, c *servicetest.Client) servicetest.Answer {
			return c.Post(t, "/api/events",
				map[string]any{"event": s.at("2026-10-12", "09:00", "10:00"), "elements": []any{room},
					"clashes": "report"})
		}) {
			told += len(*extending(t, a).Clashes)
		}
		valuetest.MustHold(t, told != 0, "neither was told")
	}
}

func TestClashes_KilledAmidBookingsARoomIsBookedOnce(t *testing.T) {
	s, owner := loadOwned(t)
	rooms := things(t, 3)
	book := func(i int, c *servicetest.Client) servicetest.Answer {
		return c.Post(t, "/api/events",
			map[string]any{"event": s.at("2026-10-14", "09:00", "10:00"), "elements": []any{rooms[i%3]},
				"clashes": "skip"})
	}
	for range 3 {
		var wg sync.WaitGroup
		wg.Go(func() { atOnce(30, []*servicetest.Client{owner}, book) })
		time.Sleep(30 * time.Millisecond)
		system(t).Kill(t, "events")
		wg.Wait()
		system(t).Restart(t, "events")
	}
	for i, a := range atOnce(12, []*servicetest.Client{owner}, book) {
		a.WantCode(t, 200, "request %d", i)
	}
	for _, room := range rooms {
		valuetest.Same(t, len(day(t, owner, room, "2026-10-14")), 1, "events of room %d", room)
	}
}

// standing counts the claims to an element.
func standing(t *testing.T, element int64) int {
	t.Helper()
	var d struct{ Claims []bson.Raw }
	errortest.None(t,
		system(t).DB.Collection("claims").FindOne(t.Context(), bson.D{{Key: "_id", Value: element}}).Decode(&d))
	return len(d.Claims)
}

// reserve leaves a claim as a process does that died at work.
func reserve(t *testing.T, element, event int64, starts, ends string) {
	t.Helper()
	at := func(text string) time.Time {
		parsed, err := time.Parse(time.RFC3339, text)
		errortest.None(t, err)
		return parsed
	}
	entry := bson.D{{Key: "token", Value: uuid.NewString()}, {Key: "event_id", Value: event},
		{Key: "starts", Value: at(starts)}, {Key: "ends", Value: at(ends)}}
	_, err := system(t).DB.Collection("claims").InsertOne(t.Context(),
		bson.D{{Key: "_id", Value: element}, {Key: "version", Value: int64(1)}, {Key: "schema", Value: int32(1)},
			{Key: "claims", Value: bson.A{entry}}})
	errortest.None(t, err)
}

func TestClashes_AReservationOfAProcessThatDiedIsFenced(t *testing.T) {
	t.Parallel() // it waits for a process that died
	s, owner := loadOwned(t)
	rooms := things(t, 2)
	reserve(t, rooms[0], 88888888, "2026-10-13T08:00:00Z", "2026-10-13T09:00:00Z") // a new event that was never stored
	e := book(t, owner, s.at("2026-10-13", "09:00", "10:00")).Event
	reserve(t, rooms[1], e.ID, "2026-10-13T08:00:00Z", "2026-10-13T09:00:00Z") // an event that was to be extended

	events := system(t).DB.Collection("events")
	got := minding(t, owner, "skip", s.at("2026-10-13", "10:00", "11:00"), rooms[0])
	valuetest.Same(t, len(got.Failures), 0, "at another time of the day: %+v", got)
	never := bson.D{{Key: "_id", Value: int64(88888888)}}
	if n, err := events.CountDocuments(t.Context(), never); n != 0 || err != nil {
		t.Errorf("a booking at another time of the day has waited for it: %v", err)
	}
	if got := minding(t, owner, "skip", s.at("2026-10-13", "09:30", "10:00"), rooms[0],
		rooms[1]); len(got.Failures) != 0 || len(got.Event.Commitments) != 2 {
		t.Errorf("%+v", got)
	}
	var fenced struct {
		Deleted bool
		Fences  int64 `bson:"shut_outs"`
	}
	if err := events.FindOne(t.Context(), never).Decode(&fenced); err != nil || !fenced.Deleted {
		t.Errorf("the id of the event that never came is free: %+v, %v", fenced, err)
	}
	owner.Patch(t, path("/api/events/%d", e.ID), change(map[string]any{"body": "Art"})).Must(t, 200) // the fence stays
	if err := events.FindOne(t.Context(), bson.D{{Key: "_id", Value: e.ID}}).Decode(&fenced); err != nil ||
		fenced.Fences != 1 {
		t.Errorf("the event's change is not fenced: %+v, %v", fenced, err)
	}
	owner.Get(t, "/api/events/88888888").Want(t, 404,
		`{"status":"Not found","exception":"RecordNotFound","message":"Couldn't find Event with 'id'=88888888"}`)
	if got := get(t, owner, e.ID).Event; got.Body != "Art" || standing(t, rooms[0])+standing(t, rooms[1]) != 0 {
		t.Errorf("left: %+v", got)
	}
}
