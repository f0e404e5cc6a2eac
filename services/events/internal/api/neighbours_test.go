package api_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestDecisionsPart1_ANeighbourAwayIs503AndNothingIsWritten(t *testing.T) {
	s, f := loadSchool(t), loadFleet(t)
	owner, driver := s.as(t, "owner"), s.as(t, "driver")
	e := book(t, owner, s.fields(), s.room).Event
	asked := f.asking(t, s, 1, "2026-09-07 09:00", "2026-09-07 10:00").Event
	one, title := path("/api/events/%d", e.ID), uuid.NewString()
	allocations := path("/api/requests/%d/allocations", asked.Requests[0].ID)
	create := func(more ...any) map[string]any {
		return servicetest.With(map[string]any{"event": s.fields("body", title), "elements": []any{s.room}}, more...)
	}
	retitle, note := change(map[string]any{"body": "x"}), map[string]any{"note": map[string]any{"contents": "x"}}
	for service, requests := range map[string][]struct {
		by           *servicetest.Client
		method, path string
		body         any
	}{
		"elements": {
			{owner, "POST", "/api/events", create()},
			{owner, "POST", "/api/events", create("clashes", "report")},
			{owner, "POST", "/api/events", create("clashes", "refuse")},
			{owner, "POST", one + "/add", map[string]any{"elements": []any{s.teacher}}},
			{owner, "PATCH", one, retitle},
			{owner, "GET", one, nil},
			{driver, "POST", allocations, map[string]any{"elements": []any{f.many[7]}}},
			{driver, "GET", "/api/commitments", nil},
			{driver, "GET", "/api/requests", nil},
		},
		"identity": {{owner, "GET", one, nil}, {owner, "PATCH", one, retitle}},
		"notes":    {{owner, "GET", one + "/notes", nil}, {owner, "POST", one + "/notes", note}},
	} {
		t.Run(service, func(t *testing.T) {
			system(t).Kill(t, service)
			system(t).Forget(t) // otherwise they are not needed
			for _, r := range requests {
				a := r.by.Do(t, r.method, r.path, r.body)
				a.WantCode(t, 503)
				valuetest.Same(t, a.Text(t, "status"), "Service unavailable", "%s: %s", a.Request, a.Body)
			}
			// A missing record is not found, whichever service is away.
			owner.Get(t, path("/api/events/%d/notes", e.ID+1<<40)).WantCode(t, 404)
			system(t).Restart(t, service)
			if got := get(t, owner, e.ID).Event; got.Body != "Maths" || len(got.Commitments) != 1 ||
				titled(t, system(t), title) != 0 || len(get(t, driver, asked.ID).Event.Commitments) != 0 {
				t.Errorf("something was written: %+v", got)
			}
		})
	}
}
