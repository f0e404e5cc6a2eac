package sight

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// TestAParentSeesWhatThePupilsSeeAndNothingElse asks every route of the table about every element and event, as two
// pupils and as a user who stands for both.
func TestAParentSeesWhatThePupilsSeeAndNothingElse(t *testing.T) {
	w := load(t, servicetest.Start(t, servicetest.Options{}))
	of := func(rows [][]string, things map[string]thing) {
		seen := 0
		for name, x := range things {
			for _, row := range rows {
				for n, ask := range routes[row[0]] {
					sees := func(viewer string) bool {
						what := fmt.Sprintf("%s (%d) of %s, as %s", row[0], n, name, viewer)
						return shown(t, what, ask(t, w.clients[viewer], x.id, x.name), x.id, x.name, row[1])
					}
					want := sees("pupil") || sees("sibling")
					if got := sees("parent"); got != want {
						t.Errorf("%s (%d) of %s: shown to the parent: %v, to a pupil: %v", row[0], n, name, got, want)
					}
					if want {
						seen++
					}
				}
			}
		}
		if seen == 0 {
			t.Error("a pupil sees nothing")
		}
	}
	of(section(t, elementRoutes), w.elements)
	of(section(t, eventRoutes), w.events)

	parent := w.clients["parent"]
	me := parent.Get(t, "/api/me").Must(t, http.StatusOK)
	if me.Len(t, "pupils") != 2 || me.Text(t, "pupils.0.name") == "" {
		t.Errorf("whom the parent stands for: %s", me.Body)
	}
	own := fmt.Sprintf("/api/elements/%d", w.elements["itself"].id)
	feed := parent.Post(t, own+"/feeds", nil).Must(t, http.StatusCreated).Text(t, "feed.path")
	parent.Get(t, feed).WantCode(t, http.StatusOK)
	event := fmt.Sprintf("/api/events/%d", w.events["with the pupil"].id)
	parent.Patch(t, event, fields{"event": fields{"body": "Mine"}}).WantCode(t, http.StatusForbidden)

	account := fmt.Sprintf("/api/admin/users/%d", w.users["parent"])
	w.admin.Patch(t, account, fields{"user": fields{"stands_for": []int64{w.elements["another pupil"].id}}}).
		Must(t, http.StatusOK)
	parent.Get(t, own).WantCode(t, http.StatusForbidden)
	parent.Get(t, feed).WantCode(t, http.StatusNotFound)
	parent.Get(t, event).WantCode(t, http.StatusOK) // it commits both
	w.admin.Patch(t, account, fields{"user": fields{"stands_for": nil}}).Must(t, http.StatusOK)
	parent.Get(t, event).WantCode(t, http.StatusForbidden)
}
