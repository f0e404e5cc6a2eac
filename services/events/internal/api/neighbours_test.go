package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
)

func TestDecisionsPart1_ANeighbourAwayIs503AndNothingIsWritten(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	e := book(t, owner, s.fields(), s.room).Event
	one, title := path("/api/events/%d", e.ID), uuid.NewString()
	for service, requests := range map[string][][3]any{
		"elements": {
			{"POST", "/api/events", map[string]any{"event": s.fields("body", title), "elements": []any{s.room}}},
			{"POST", one + "/add", map[string]any{"elements": []any{s.teacher}}},
			{"PATCH", one, map[string]any{"event": map[string]any{"body": "x"}}},
			{"GET", one, nil},
		},
		"identity": {{"GET", one, nil}, {"PATCH", one, map[string]any{"event": map[string]any{"body": "x"}}}},
		"notes": {{"GET", one + "/notes", nil},
			{"POST", one + "/notes", map[string]any{"note": map[string]any{"contents": "x"}}}},
	} {
		t.Run(service, func(t *testing.T) {
			system(t).Kill(t, service)
			system(t).Forget(t) // otherwise they are not needed
			for _, r := range requests {
				if a := owner.Do(t, r[0].(string), r[1].(string), r[2]); a.Code != 503 ||
					!strings.HasPrefix(a.Body, `{"status":"Service unavailable"`) {
					t.Errorf("%s %s: %d %s", r[0], r[1], a.Code, a.Body)
				}
			}
			// What there is not is missing, whoever is away.
			if a := owner.Do(t, "GET", path("/api/events/%d/notes", e.ID+1<<40), nil); a.Code != 404 {
				t.Errorf("notes of an event that does not exist: %d %s", a.Code, a.Body)
			}
			system(t).Restart(t, service)
			if got := get(t, owner, e.ID).Event; got.Body != "Maths" || len(got.Commitments) != 1 ||
				titled(t, system(t), title) != 0 {
				t.Errorf("something was written: %+v", got)
			}
		})
	}
}

func TestPart4_1_ListingsThroughElements(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	fields := func(starts, ends string) map[string]any {
		return s.fields("starts_at_text", nil, "starts_at", starts, "ends_at", ends)
	}
	want := []int64{
		book(t, owner, fields("2030-04-29 09:00", "2030-05-01 00:01"), s.pupil, s.minibuses).Event.ID,
		// longer than is found by days
		book(t, owner, fields("2030-03-01", "2030-06-01"), s.pupil, s.minibuses).Event.ID,
		book(t, owner, fields("2030-05-01 00:00", "2030-05-01 00:00"), s.pupil, s.minibuses).Event.ID,
	}
	want[0], want[1] = want[1], want[0] // in order of start
	book(t, owner, fields("2030-04-30 09:00", "2030-05-01 00:00"), s.pupil, s.minibuses)
	book(t, owner, fields("2030-05-02 00:00", "2030-05-02 00:00"), s.pupil, s.minibuses)
	if got := day(t, owner, s.pupil, "2030-05-01"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("commitments of %v, want %v", got, want)
	}
	var requests struct {
		Requests []struct {
			Quantity int
			Event    struct{ ID int64 }
		}
	}
	owner.Get(t, path("/api/elements/%d/requests?start_date=2030-05-01", s.minibuses)).Decode(t, &requests)
	for i, r := range requests.Requests {
		if r.Event.ID != want[i] || r.Quantity != 1 {
			t.Errorf("request %d: %+v, want event %d", i, r, want[i])
		}
	}
	if len(requests.Requests) != len(want) {
		t.Errorf("requests %+v", requests)
	}
}
