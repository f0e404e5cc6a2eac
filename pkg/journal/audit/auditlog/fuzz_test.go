package auditlog

import (
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// FuzzReadQuery holds that a question is Bad request or within its bounds: nothing else reaches the store.
func FuzzReadQuery(f *testing.F) {
	for _, query := range []string{
		"record=Event:12&user=3&since=2026-09-07&limit=7", "record=$where", "record=Event:", "user=0", "user=01",
		"since=2026-09-07T08:00:00%2B01:00", "since=2026-02-29", "after=2b6b1d0a-5f0e-4a7a-9f0e-0f6c1b7a3d55",
		"after=2B6B1D0A-5F0E-4A7A-9F0E-0F6C1B7A3D55", "after={2b6b1d0a-5f0e-4a7a-9f0e-0f6c1b7a3d55}", "limit=1001",
		"limit=",
		"since=0000-00-00", "record=A%00", "since=9999-12-31T23:59:60Z",
	} {
		f.Add(query)
	}
	zone, err := wiretime.LoadZone("Europe/London")
	errortest.None(f, err)
	app := fiber.New(fiber.Config{Immutable: true})
	f.Fuzz(func(t *testing.T, query string) {
		c := app.AcquireCtx(&fasthttp.RequestCtx{})
		defer app.ReleaseCtx(c)
		c.Request().URI().SetQueryString(query)
		q, err := readQuery(c, zone)
		if err != nil {
			valuetest.MustSame(t, problem.As(err).Kind, problem.Malformed, "%q: %v", query, err)
			return
		}
		switch {
		case q.Limit < 1 || q.Limit > 1000, q.User < 0, q.Record != "" && !recordPattern.MatchString(q.Record),
			q.User == 0 && c.Query("user") != "", q.After != "" && len(q.After) != 36:
			t.Fatalf("%q: %+v", query, q)
		}
		if again, err := readSince(q.Since.Format(time.RFC3339),
			zone); err != nil || !again.Equal(q.Since.Truncate(time.Second)) {
			t.Fatalf("%q: %v, then %v, %v", query, q.Since, again, err)
		}
	})
}
