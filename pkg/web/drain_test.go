package web_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/web"
)

// A client's reserve connection once held a service up until its read timeout, longer than an orderly stop may take.
// The request takes a second, and fasthttp alone would wait for five.
func TestShutdown_FinishesRequestsAndIsNotHeldUpByUnusedConnections(t *testing.T) {
	begun := make(chan struct{})
	base, _, stop := stoppable(t, route(http.MethodGet, "/slow", func(c *fiber.Ctx) error {
		close(begun)
		time.Sleep(time.Second)
		return web.OK(c)
	}))
	dial(t, base)
	answered := make(chan string, 1)
	go func() {
		defer close(answered)
		_, text, _ := ask(t, http.MethodGet, base+"/slow", "")
		answered <- text
	}()
	<-begun
	stopping := time.Now()
	stop()
	if took := time.Since(stopping); took > 3*time.Second {
		t.Errorf("the shutdown was held up for %s", took)
	}
	valuetest.Same(t, <-answered, `{"status":"OK"}`, "the request in flight")
}
