package api_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// fleet is a resource group that the driver administers, and its minibuses.
type fleet struct {
	group     int64
	september int64   // a member in September 2026 alone
	many      []int64 // members on all days
}

var (
	fleetOnce   sync.Once
	loadedFleet fleet
)

func loadFleet(t *testing.T) fleet {
	t.Helper()
	loadSchool(t)
	fleetOnce.Do(func() {
		admin := system(t).Admin(t)
		f := fleet{group: admin.Import(t, "groups",
			map[string]any{"key": "fleet", "name": "Fleet", "resource": true})["fleet"]}
		bus := func(key string, first, last any) int64 {
			id := admin.Import(t, "services", map[string]any{"key": key, "name": key})[key]
			m := membership("fleet", "Service:"+key)
			m["spans"] = []map[string]any{{"first_day": first, "last_day": last}}
			admin.Import(t, "memberships", m)
			return id
		}
		f.september = bus("september", "2026-09-01", "2026-09-30")
		for i := range 8 {
			f.many = append(f.many, bus(fmt.Sprint("bus", i), nil, nil))
		}
		admin.Import(t, "administrators",
			map[string]any{"key": "Group:fleet/driver", "element": "Group:fleet", "user": "driver"})
		loadedFleet = f
	})
	valuetest.MustHold(t, len(loadedFleet.many) != 0, "the fleet could not be loaded")
	return loadedFleet
}

// asking books an event on those times that asks for so many of the fleet. It is deleted after the test, so that what
// it gets is free for the next.
func (f fleet) asking(t *testing.T, s school, quantity int, starts, ends string) created {
	t.Helper()
	owner := s.as(t, "owner")
	e := book(t, owner, s.fields("starts_at_text", nil, "starts_at", starts, "ends_at", ends),
		slices.Repeat([]any{f.group}, quantity)...)
	t.Cleanup(func() { owner.Delete(t, path("/api/events/%d", e.Event.ID)) })
	return e
}

func allocate(t *testing.T, c *servicetest.Client, request int64, elements ...any) created {
	t.Helper()
	body := map[string]any{"elements": elements}
	return decoded[created](t, c.Post(t, path("/api/requests/%d/allocations", request), body))
}

func TestDecisionsPart5_AllocatingWhileTheEventIsRetimedHoldsToItsDaysOverTwoReplicas(t *testing.T) {
	s, f := loadSchool(t), loadFleet(t)
	clients := slices.Concat(s.through(t, "driver"), s.through(t, "owner"))
	move := map[string]any{"event": map[string]any{"starts_at": "2026-10-07 09:00", "ends_at": "2026-10-07 10:00"}}
	for i := range 5 {
		e := f.asking(t, s, 1, fmt.Sprintf("2026-09-07 %02d:00", 9+i), fmt.Sprintf("2026-09-07 %02d:00", 10+i)).Event
		for i, a := range atOnce(16, clients, func(i int, c *servicetest.Client) servicetest.Answer {
			if i%4 >= 2 { // the owner
				return c.Patch(t, path("/api/events/%d", e.ID), move)
			}
			return c.Post(t, path("/api/requests/%d/allocations", e.Requests[0].ID),
				map[string]any{"elements": []any{f.september}})
		}) {
			var got created
			a.Decode(t, &got)
			a.Must(t, 200)
			if i%4 >= 2 {
				continue
			}
			// The item is a member in September only, so an answer that shows September can't refuse it for that,
			// and one that shows October can't have allocated it.
			refused := strings.Contains(a.Body, "is not a member")
			september := strings.HasPrefix(got.Event.StartsAt, "2026-09")
			if september && refused || !september && len(got.Failures) == 0 {
				t.Errorf("%s", a.Body)
			}
		}
	}
}

// allocating sends an allocation with what is to be done about clashes; "" leaves that out.
func allocating(t *testing.T, c *servicetest.Client, request int64, clashes string, elements ...any) extended {
	t.Helper()
	body := map[string]any{"elements": elements}
	if clashes != "" {
		body["clashes"] = clashes
	}
	return extending(t, c.Post(t, path("/api/requests/%d/allocations", request), body))
}

// The items are asked for in different orders, and by events of a category that is not busy too.
func TestHardToBreak_Row13_ParallelAllocationsToManyEventsAllocateAnItemOnceOverTwoReplicas(t *testing.T) {
	s := loadSchool(t)
	group, items := stock(t)
	requests := make([]int64, 24)
	for i := range requests { // all go on at 09:30
		fields := s.at("2026-09-15", fmt.Sprintf("09:%02d", i), fmt.Sprintf("10:%02d", i))
		if i%2 == 0 {
			fields = s.withCategory(fields, s.trip)
		}
		requests[i] = book(t, s.as(t, "owner"), fields, group, group).Event.Requests[0].ID
	}
	for _, a := range atOnce(2*len(requests), s.through(t, "driver"),
		func(i int, c *servicetest.Client) servicetest.Answer {
			two := []any{items[i%4], items[(i+1+i/4%3)%4]}
			return c.Post(t, path("/api/requests/%d/allocations", requests[i%len(requests)]),
				map[string]any{"elements": two})
		}) {
		a.Must(t, 200)
	}
	for _, item := range items {
		valuetest.Same(t, len(day(t, s.as(t, "driver"), item, "2026-09-15")), 1, "events of item %d", item)
		valuetest.Same(t, standing(t, item), 0, "reservations are left")
	}
}

func TestHardToBreak_Row13_AnAllocationAndABookingThatRefusesClashesDoNotBothGetTheElement(t *testing.T) {
	s, f := loadSchool(t), loadFleet(t)
	clients := slices.Concat(s.through(t, "driver"), s.through(t, "owner"))
	for round := range 5 {
		starts, ends := fmt.Sprintf("%02d:00", 9+round), fmt.Sprintf("%02d:00", 10+round)
		request := f.asking(t, s, 1, "2026-09-16 "+starts, "2026-09-16 "+ends).Event.Requests[0].ID
		taken := 0
		for _, a := range atOnce(8, clients, func(i int, c *servicetest.Client) servicetest.Answer {
			if i%4 >= 2 { // the owner
				return c.Post(t, "/api/events",
					map[string]any{"event": s.at("2026-09-16", starts, ends), "elements": []any{f.many[0]},
						"clashes": "skip"})
			}
			return c.Post(t, path("/api/requests/%d/allocations", request),
				map[string]any{"elements": []any{f.many[0]}})
		}) {
			got := extending(t, a)
			taken += 1 - len(got.Failures)
			t.Cleanup(func() { clients[len(clients)-1].Delete(t, path("/api/events/%d", got.Event.ID)) })
		}
		valuetest.Same(t, taken, 1, "round %d: got the minibus", round)
	}
}

// stock makes a resource group that the driver administers, with a property, a subject and two services in it.
func stock(t *testing.T) (group int64, items []int64) {
	t.Helper()
	admin := system(t).Admin(t)
	key := uuid.NewString()
	group = admin.Import(t, "groups", map[string]any{"key": key, "name": "Stock " + key, "resource": true})[key]
	var members []any
	for i, file := range []string{"properties", "subjects", "services", "services"} {
		name := fmt.Sprint(key, i)
		items = append(items, admin.Import(t, file, map[string]any{"key": name, "name": "Item " + name})[name])
		members = append(members, map[string]any{"element_id": items[i]})
	}
	admin.Post(t, path("/api/admin/elements/%d/members", group), map[string]any{"members": members}).Must(t, 201)
	admin.Import(t, "administrators",
		map[string]any{"key": "Group:" + key + "/driver", "element": "Group:" + key, "user": "driver"})
	return group, items
}

func TestDecisionsPart5_AnItemIsAllocatedOnceAtATimeWhateverItsType(t *testing.T) {
	s := loadSchool(t)
	driver, owner := s.as(t, "driver"), s.as(t, "owner")
	group, items := stock(t)
	request := func(fields map[string]any) int64 {
		return book(t, owner, fields, group, group).Event.Requests[0].ID
	}
	free := func() string {
		const time = "starts_at=2026-09-21+09:30&ends_at=2026-09-21+10:30"
		return driver.Get(t, path("/api/free?type=Property&group=%d&%s", group, time)).Must(t, 200).At(t, "elements")
	}
	both := text(items[0]) + " " + text(items[1])
	trip := request(s.withCategory(s.at("2026-09-21", "09:00", "10:00"), s.trip)) // which is not busy
	got := allocating(t, driver, trip, "", items[0], items[1])
	valuetest.MustSame(t, len(got.Failures), 0, "%+v", got.Failures)
	valuetest.Same(t, free(), "[]", "free")
	for name, fields := range map[string]map[string]any{
		"to a busy event": s.at("2026-09-21", "09:30", "11:00"),
		"to a trip":       s.withCategory(s.at("2026-09-21", "09:30", "11:00"), s.trip),
		"for no time":     s.fields("starts_at_text", "2026-09-21 09:30"),
	} {
		later := request(fields)
		got := allocating(t, driver, later, "", items[0], items[1])
		valuetest.Same(t, got.refused(t), both, "%s: %+v", name, got.Failures)
	}
	// Marks of the event that they are on, a busy one, but no allocations.
	for range 2 {
		got := minding(t, owner, "skip", s.at("2026-09-22", "09:00", "10:00"), items[0], items[1])
		valuetest.Len(t, got.Failures, 0, "as marks")
	}
	marked := request(s.at("2026-09-22", "09:30", "10:30"))
	if got := allocating(t, driver, marked, "", items[0], items[1]); got.refused(t) != both {
		t.Errorf("beside marks: %+v", got.Failures)
	}
	refused := driver.Post(t, path("/api/requests/%d/allocations", marked),
		map[string]any{"elements": []any{items[0]}, "clashes": "refuse"})
	if refused.Code != 409 || refused.Len(t, "clashes") != 2 { // the busy events
		t.Errorf("refused: %d %s", refused.Code, refused.Body)
	}
	if got := allocating(t, driver, marked, "report", items[0]); len(got.Failures) != 0 || len(*got.Clashes) != 2 {
		t.Errorf("reported: %+v", got)
	}
	if got := allocating(t, driver, marked, "allow", items[1]); len(got.Failures) != 0 || got.Clashes != nil {
		t.Errorf("allowed: %+v", got)
	}
}
