package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

const may4 = "?start_date=2026-05-04"

func TestDecisionsPart1_EventsAwayIsUnavailableAndNeverHalfAnAnswer(t *testing.T) {
	alone := servicetest.Start(t, servicetest.Options{Services: []string{"identity", "elements"},
		Env: map[string]string{"BELFRY_EVENTS_URL": "http://127.0.0.1:1"}})
	admin := alone.Admin(t)
	ann := admin.Import(t, "pupils", fields{"key": "1", "forename": "Ann", "surname": "Lee"})["1"]
	a := admin.Get(t, path("/api/elements/%d/commitments", ann))
	if a.Code != http.StatusServiceUnavailable || !strings.HasPrefix(a.Body, `{"status":"Service unavailable"`) {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	alone.Stop(t, "identity")
	if a := admin.Get(t, path("/api/elements/%d", ann)); a.Code != http.StatusOK { // sessions are in Redis
		t.Errorf("a detail without identity: %d %s", a.Code, a.Body)
	}
	admin.Put(t, path("/api/admin/elements/%d/administrators/1", ann), nil).
		WantCode(t, http.StatusServiceUnavailable, "an administrator without identity")
}
