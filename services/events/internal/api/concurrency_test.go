package api_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// through returns clients of the user at each replica of the service, so that a test decides where its requests go.
func (s school) through(t *testing.T, user string) []*servicetest.Client {
	t.Helper()
	clients := make([]*servicetest.Client, 2)
	for i := range clients {
		clients[i] = s.as(t, user).At(system.Replica("events", i))
	}
	return clients
}

// atOnce runs do n times at once, spread over the clients, and returns the answers.
func atOnce(n int, clients []*servicetest.Client, do func(i int, c *servicetest.Client) servicetest.Answer) []servicetest.Answer {
	answers := make([]servicetest.Answer, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { answers[i] = do(i, clients[i%len(clients)]) })
	}
	wg.Wait()
	return answers
}

func TestPart4_2_Rule08_100ParallelAddsOfOneElementMakeOneCommitmentOverTwoReplicas(t *testing.T) {
	s := loadSchool(t)
	clients := s.through(t, "owner")
	e := book(t, clients[0], s.fields()).Event
	answers := atOnce(100, clients, func(_ int, c *servicetest.Client) servicetest.Answer {
		return c.Post(t, path("/api/events/%d/add", e.ID), map[string]any{"elements": []any{s.room}})
	})
	failures := 0
	for _, a := range answers {
		var got created
		a.Decode(t, &got)
		if a.Code != 200 || len(got.Event.Commitments) != 1 {
			t.Fatalf("%d %s", a.Code, a.Body)
		}
		for _, f := range got.Failures {
			if f.ItemType != "Commitment" || f.Item.Errors["element_id"][0] != "has already been taken" {
				t.Errorf("failure %+v", f)
			}
			failures++
		}
	}
	if got := get(t, clients[0], e.ID).Event; failures != 99 || len(got.Commitments) != 1 {
		t.Errorf("%d failures and %d commitments, want 99 and 1", failures, len(got.Commitments))
	}
}

func TestPart4_2_Rule05_100ParallelAddsOfAResourceGroupMakeOneRequestOf100OverTwoReplicas(t *testing.T) {
	s := loadSchool(t)
	clients := s.through(t, "owner")
	e := book(t, clients[0], s.fields()).Event
	seen := map[int]bool{}
	for _, a := range atOnce(100, clients, func(_ int, c *servicetest.Client) servicetest.Answer {
		return c.Post(t, path("/api/events/%d/add", e.ID), map[string]any{"elements": []any{s.minibuses}})
	}) {
		var got created
		a.Decode(t, &got)
		if a.Code != 200 || len(got.Failures) != 0 || len(got.Event.Requests) != 1 {
			t.Fatalf("%d %s", a.Code, a.Body)
		}
		seen[got.Event.Requests[0].Quantity] = true
	}
	got := get(t, clients[1], e.ID).Event
	if len(seen) != 100 || len(got.Requests) != 1 || got.Requests[0].Quantity != 100 {
		t.Errorf("%d different quantities were answered, the request is %+v", len(seen), got.Requests)
	}
}

func TestPart4_2_ParallelPatchAndAddLoseNothingOverTwoReplicas(t *testing.T) {
	s := loadSchool(t)
	clients := s.through(t, "owner")
	e := book(t, clients[0], s.fields()).Event
	elements := []int64{s.teacher, s.colleague, s.room, s.set, s.pupil, s.minibus, s.calendar, s.minibuses}
	for i, a := range atOnce(40, clients, func(i int, c *servicetest.Client) servicetest.Answer {
		switch {
		case i < len(elements):
			return c.Post(t, path("/api/events/%d/add", e.ID), map[string]any{"elements": []any{elements[i]}})
		case i%2 == 0:
			return c.Patch(t, path("/api/events/%d", e.ID), map[string]any{"event": map[string]any{"body": fmt.Sprint("body ", i)}})
		default:
			return c.Patch(t, path("/api/events/%d", e.ID), map[string]any{"event": map[string]any{"starts_at": fmt.Sprintf("2026-09-07 07:%02d", i)}})
		}
	}) {
		if a.Code != 200 {
			t.Errorf("request %d: %d %s", i, a.Code, a.Body)
		}
	}
	got := get(t, clients[0], e.ID).Event
	if len(got.Commitments) != 7 || len(got.Requests) != 1 || got.Body == "Maths" || got.StartsAt == e.StartsAt {
		t.Errorf("left: %+v", got)
	}
}

func TestPart4_2_ParallelAddAndDeleteOfTheEventLeaveNothing(t *testing.T) {
	s := loadSchool(t)
	clients := s.through(t, "owner")
	e := book(t, clients[0], s.fields("starts_at_text", "2026-11-02 09:00")).Event
	for _, a := range atOnce(20, clients, func(i int, c *servicetest.Client) servicetest.Answer {
		if i == 10 {
			return c.Delete(t, path("/api/events/%d", e.ID))
		}
		return c.Post(t, path("/api/events/%d/add", e.ID), map[string]any{"elements": []any{s.room, s.minibuses}})
	}) {
		if a.Code != 200 && a.Code != 404 {
			t.Errorf("%d %s", a.Code, a.Body)
		}
	}
	if got := day(t, s.as(t, "owner"), s.room, "2026-11-02"); len(got) != 0 {
		t.Errorf("the room's day has %v", got)
	}
}
