package api_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
)

// TestHardToBreak_Row03_ARedisThatIsFullRefusesAndLosesNothing gives Redis no more memory, as at the maxmemory of the
// example of Valkey, whose policy is noeviction.
func TestHardToBreak_Row03_ARedisThatIsFullRefusesAndLosesNothing(t *testing.T) {
	redis := storetest.StartRedis(t)
	own := servicetest.Start(t, servicetest.Options{Env: map[string]string{"REDIS_URL": redis.URL()}})
	admin := own.Admin(t)
	room := admin.Import(t, "locations", fields{"key": "R", "name": "Room"})["R"]
	category := admin.Import(t, "eventcategories", fields{"key": "c", "name": "Lesson"})["c"]
	booking := func(body string) fields {
		return fields{"event": fields{"body": body, "event_category_id": category,
			"starts_at": "2026-09-01 09:00", "ends_at": "2026-09-01 10:00"}, "elements": []string{fmt.Sprint(room)}}
	}
	first := admin.Post(t, "/api/events", booking("first")).Must(t, http.StatusOK).Int(t, "event.id")
	set := func(name, value string) {
		t.Helper()
		errortest.None(t, redis.Client().ConfigSet(t.Context(), name, value).Err())
	}
	keyed := func(key string) servicetest.Answer {
		return admin.Do(t, http.MethodPost, "/api/events", booking("keyed"), "Idempotency-Key", key)
	}

	set("maxmemory-policy", "noeviction")
	set("maxmemory", "1")
	const day = "?start_date=2026-09-01"
	for _, path := range []string{
		"/sessions/1/whoami", path("/api/elements/%d", room), path("/api/elements/%d/commitments", room) + day,
		path("/api/events/%d", first), "/api/eventcategories", "/api/admin/users",
	} {
		admin.Get(t, path).WantCode(t, http.StatusOK)
	}
	unavailable(t, "memory", own.Client(t), "/api/login?uuid="+own.AdminUUID)
	own.Client(t).Get(t, "/api/login?uuid=the-uuid-of-no-user").WantCode(t, http.StatusUnauthorized)
	keyed("full").WantCode(t, http.StatusServiceUnavailable)
	admin.Post(t, "/api/events", booking("second")).WantCode(t, http.StatusOK)
	admin.Delete(t, path("/api/events/%d", first)).WantCode(t, http.StatusOK)

	set("maxmemory", "0")
	timetest.Eventually(t, "a login", time.Minute, func() bool {
		return own.Client(t).Get(t, "/api/login?uuid="+own.AdminUUID).Code == http.StatusOK
	})
	keyed("full").WantCode(t, http.StatusOK)
	admin.Get(t, path("/api/events/%d", first)).WantCode(t, http.StatusNotFound)
	admin.Get(t, "/sessions/1/whoami").WantCode(t, http.StatusOK)
}
