package api_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

const (
	requestDeadline = 10 * time.Second // the services' default
	slack           = 20 * time.Second // for a machine that is busy with other tests
)

// unavailable asks for all paths at once, and fails the test unless each answer is Belfry's own 503 and comes within
// the deadline. It logs how long the slowest took.
func unavailable(t *testing.T, without string, c *servicetest.Client, paths ...string) {
	t.Helper()
	var all sync.WaitGroup
	begun := time.Now()
	for _, p := range paths {
		all.Go(func() {
			a, err := c.Try(t, http.MethodGet, p, nil)
			if err != nil || a.Code != http.StatusServiceUnavailable ||
				!strings.HasPrefix(a.Body, `{"status":"Service unavailable"`) {
				t.Errorf("%s without %s: %d %s, %v", a.Request, without, a.Code, a.Body, err)
			}
		})
	}
	all.Wait()
	slowest := time.Since(begun)
	if slowest > requestDeadline+slack {
		t.Errorf("without %s: an answer took %s, the deadline is %s", without, slowest, requestDeadline)
	}
	t.Logf("without %s: the slowest 503 took %s", without, slowest)
}

func TestHardToBreak_Row14_AStoreThatIsAwayIs503AndTheRestGoesOn(t *testing.T) {
	t.Parallel()
	for how, breaks := range map[string]func(*storetest.Line){
		"refuses": (*storetest.Line).Cut,
		"hangs":   (*storetest.Line).Hang,
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			testStoresAway(t, breaks)
		})
	}
}

// testStoresAway breaks the line to Redis and mends it, and then that to MongoDB.
func testStoresAway(t *testing.T, breaks func(*storetest.Line)) {
	mongo, redis, mongoURI, redisURL := storetest.Lines(t)
	own := servicetest.Start(t, servicetest.Options{
		Console: true,
		Env: map[string]string{"MONGODB_URI": mongoURI, "REDIS_URL": redisURL,
			"BELFRY_REQUEST_TIMEOUT": requestDeadline.String()},
	})
	admin, public := own.Admin(t), own.Client(t)
	room := admin.Import(t, "locations", fields{"key": "R", "name": "Room"})["R"]
	_, feed := newFeed(t, admin, room)

	const whoAmI = "/sessions/1/whoami" // asks Redis alone
	open := []string{"/healthz", "/api/openapi.json", "/api/docs", "/api/logout"}
	stored := []string{"/api/users?email=a@b.example", path("/api/elements/%d/commitments", room),
		"/api/eventcategories", "/api/notes/1"}
	works := func(c *servicetest.Client, paths ...string) {
		t.Helper()
		for _, p := range paths {
			c.Get(t, p).WantCode(t, http.StatusOK)
		}
	}
	// ready fails the test unless each process is ready, and its gauge tells which stores answer.
	ready := func(mongodb, redis string) {
		t.Helper()
		for _, service := range names.WithData() {
			for _, probe := range []string{"/livez", "/startupz", "/readyz"} {
				code, body := own.Probe(t, service, 0, probe)
				valuetest.Same(t, code, http.StatusOK, "%s of %s %s", probe, service, body)
			}
			timetest.Eventually(t, "the gauge of "+service, time.Minute, func() bool {
				metrics := own.Metrics(t, service, 0)
				return strings.Contains(metrics, `store="mongodb"} `+mongodb+"\n") &&
					strings.Contains(metrics, `store="redis"} `+redis+"\n")
			})
		}
	}
	back := func() {
		t.Helper()
		for _, p := range append([]string{feed, whoAmI}, stored...) {
			timetest.Eventually(t, p, time.Minute,
				func() bool { return admin.Get(t, p).Code < http.StatusInternalServerError })
		}
		works(admin, whoAmI) // in the same session
		ready("1", "1")
	}

	back()
	for _, service := range names.All() {
		works(public.At(own.Replica(service, 0)), "/healthz")
	}
	breaks(redis)
	works(public, append(open, feed)...)
	unavailable(t, "Redis", admin, append([]string{whoAmI}, stored...)...)
	unavailable(t, "Redis", public, "/api/login?uuid=the-uuid-of-no-user")
	ready("1", "0")
	errortest.None(t, redis.Mend())
	back()

	breaks(mongo)
	works(public, open...)
	works(admin, whoAmI)
	unavailable(t, "MongoDB", admin, append([]string{feed}, stored...)...)
	unavailable(t, "MongoDB", public, "/api/login?uuid=the-uuid-of-no-user")
	ready("0", "1")
	errortest.None(t, mongo.Mend())
	back()
}
