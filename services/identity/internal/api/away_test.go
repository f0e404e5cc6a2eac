package api_test

import (
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestDecisionsPart1_WithoutRedisNothingIsClaimed cuts identity off from Redis: no user is taken for anonymous, and
// no logout is claimed that did not happen.
func TestDecisionsPart1_WithoutRedisNothingIsClaimed(t *testing.T) {
	_, line, _, redisURL := storetest.Lines(t)
	own := servicetest.Start(t, servicetest.Options{Services: []string{"identity"},
		Env: map[string]string{"REDIS_URL": redisURL}})
	c := own.Admin(t)
	line.Cut()
	const away = `{"status":"Service unavailable"}`
	c.Get(t, "/sessions/1/whoami").Want(t, 503, away)
	c.Get(t, "/api/logout").Want(t, 503, away)
	valuetest.Holds(t, c.Cookie(t) != "", "the cookie is gone although the session is not")
	login(t, own.Client(t), own.AdminUUID).Want(t, 503, away)
	own.Client(t).Get(t, "/api/logout").Want(t, 200, ok) // there is nothing to end
}

// TestDecisionsPart2_ALogoutThatFailedIsDoneOnRetry: a logout without MongoDB ended the session in Redis alone, and the
// next one was OK without making it final.
func TestDecisionsPart2_ALogoutThatFailedIsDoneOnRetry(t *testing.T) {
	line, _, mongoURI, _ := storetest.Lines(t)
	own := servicetest.Start(t, servicetest.Options{Services: []string{"identity"},
		Env: map[string]string{"MONGODB_URI": mongoURI}})
	c := own.Admin(t)
	line.Cut()
	c.Get(t, "/api/logout").Want(t, 503, `{"status":"Service unavailable"}`)
	c.Get(t, "/sessions/1/whoami").Must(t, 200) // so that the next logout knows whose session it ends
	errortest.None(t, line.Mend())
	timetest.Eventually(t, "a logout", time.Minute, func() bool { return c.Get(t, "/api/logout").Code == 200 })
	c.Get(t, "/sessions/1/whoami").Want(t, 401, accessDenied)
}
