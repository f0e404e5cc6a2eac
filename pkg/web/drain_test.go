package web_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/web"
)

// A client's reserve connection once held a service up until its read timeout, longer than an orderly stop may take.
func TestShutdown_FinishesRequestsAndIsNotHeldUpByUnusedConnections(t *testing.T) {
	begun := make(chan struct{})
	app, err := web.New(web.Options{
		Name: "test", Log: slog.New(slog.DiscardHandler), Timeout: 5 * time.Second,
		Tracer: tracenoop.NewTracerProvider(), Meter: metricnoop.NewMeterProvider(),
		Propagator: propagation.TraceContext{},
	}, []web.Route{route(http.MethodGet, "/slow", func(c *fiber.Ctx) error {
		close(begun)
		time.Sleep(time.Second)
		return web.OK(c)
	})})
	errortest.None(t, err)
	address := servicetest.Listen(t, app)
	reserve, err := net.Dial("tcp", address)
	errortest.None(t, err)
	defer func() { _ = reserve.Close() }()
	answered := make(chan string, 1)
	go func() {
		answer, err := http.Get("http://" + address + "/slow")
		if err != nil {
			answered <- err.Error()
			return
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			answered <- err.Error()
			return
		}
		answered <- string(text)
	}()
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	errortest.Report(t, app.ShutdownWithContext(ctx), "the shutdown was held up")
	valuetest.Same(t, <-answered, `{"status":"OK"}`, "the request in flight")
}
