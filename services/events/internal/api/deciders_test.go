package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// Clients can show, before and after a booking, who will decide, to users who may know.
func TestClients_WhoWillDecideIsTold(t *testing.T) {
	s, fleet := loadSchool(t), loadFleet(t)
	owner, admin := s.as(t, "owner"), s.as(t, "admin")
	hall := admin.Post(t, "/api/admin/elements", map[string]any{"element": map[string]any{
		"entity_type": "Location", "name": "Great hall",
	}}).Must(t, http.StatusCreated).Int(t, "element.id")
	administers(t, s.as(t, "keeper"), hall)
	body := map[string]any{"event": s.fields("body", "Who decides"), "elements": []any{hall, fleet.group, s.room}}

	check := func(what string, a servicetest.Answer, want ...string) {
		t.Helper()
		var names []string
		for _, entries := range []string{"event.commitments", "event.requests"} {
			for i := range a.Must(t, http.StatusOK).Len(t, entries) {
				of, all := path("%s.%d.decision", entries, i), []string{}
				valuetest.Holds(t, a.Has(of), "%s: %s has no decision", what, of)
				if a.Has(of + ".deciders") {
					all = a.Texts(t, of+".deciders.#.name")
				}
				slices.Sort(all) // ids are in any order
				names = append(names, strings.Join(all, ","))
			}
		}
		valuetest.List(t, names, want, "%s: %s", what, a.Body)
	}
	check("a dry run", owner.Post(t, "/api/events?dry_run=true&include=decisions", body), "keeper", "", "driver")
	made := owner.Post(t, "/api/events?include=decisions", body)
	t.Cleanup(func() { owner.Delete(t, path("/api/events/%d", made.Int(t, "event.id"))) })
	check("a booking", made, "keeper", "", "driver")
	event := path("/api/events/%d?include=decisions", made.Int(t, "event.id"))
	check("a reader", s.as(t, "stranger").Get(t, event), "keeper", "", "driver")
	valuetest.Lacks(t, owner.Get(t, strings.Split(event, "?")[0]).Body, "deciders", "not asked for")

	administers(t, s.as(t, "stranger"), hall)
	check("two", owner.Get(t, event), "keeper,stranger", "", "driver")
	admin.Patch(t, path("/api/admin/users/%d", s.users["stranger"]), map[string]any{
		"user": map[string]any{"active": false},
	}).Must(t, http.StatusOK)
	check("one can't log in", owner.Get(t, event), "keeper", "", "driver")
	admin.Patch(t, path("/api/admin/users/%d", s.users["stranger"]), map[string]any{
		"user": map[string]any{"active": true},
	}).Must(t, http.StatusOK)

	decide := func(status string) {
		t.Helper()
		decide(t, s.as(t, "keeper"), made.Int(t, "event.commitments.0.id"), status).Must(t, http.StatusOK)
	}
	decide("noted")
	check("noted", owner.Get(t, event), "keeper,stranger", "", "driver")
	decide("confirmed")
	check("decided", owner.Get(t, event), "", "", "driver")
	allocate(t, s.as(t, "driver"), made.Int(t, "event.requests.0.id"), fleet.many[0])
	check("allocated", owner.Get(t, event), "", "", "", "")
}
