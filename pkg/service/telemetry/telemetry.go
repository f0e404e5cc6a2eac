// Package telemetry sets up a process's OpenTelemetry: traces, metrics and logs. The standard OTEL_ variables
// choose the exporters; without them there are none. Prometheus can always scrape the metrics. Nothing here is
// global: the providers are passed to the code that uses them.
package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel/attribute"
	prometheusexporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Options of Start.
type Options struct {
	Service  string // service.name
	Version  string
	LogLevel slog.Level
	Out      io.Writer // gets the log, one JSON object a line
}

// Telemetry holds the providers of a process.
type Telemetry struct {
	Log        *slog.Logger
	Tracer     trace.TracerProvider
	Meter      metric.MeterProvider
	Propagator propagation.TextMapPropagator
	Traces     bool         // traces are exported
	Metrics    http.Handler // for Prometheus

	stops []func(context.Context) error
}

// Start makes the providers. It does not wait for a collector: without one, telemetry is lost and requests are
// served.
func Start(ctx context.Context, o Options) (*Telemetry, error) {
	described, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.namespace", "belfry"),
			attribute.String("service.name", o.Service), attribute.String("service.version", o.Version)),
		resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("describe the process: %w", err)
	}
	t := &Telemetry{Log: slog.Default(), Propagator: propagation.NewCompositeTextMapPropagator(
		propagation.TraceContext{}, propagation.Baggage{})}
	for _, start := range []func(context.Context, *resource.Resource, Options) error{
		t.startTraces, t.startMetrics, t.startLogs,
	} {
		if err := start(ctx, described, o); err != nil {
			t.Stop(ctx)
			return nil, err
		}
	}
	return t, nil
}

// Stop sends the remaining telemetry and stops the exporters, before ctx ends. What could not be sent is a line of the
// log and no fault of the process: a migration that is done has not failed because the collector is away.
func (t *Telemetry) Stop(ctx context.Context) {
	for _, stop := range t.stops {
		if err := stop(ctx); err != nil {
			t.Lost(err)
		}
	}
}

// Lost logs that telemetry could not be sent.
func (t *Telemetry) Lost(err error) { t.Log.Warn("telemetry is lost", "error", err.Error()) }

// exporting reports whether a signal ("TRACES", "METRICS", "LOGS") is exported.
func exporting(signal string) bool {
	if os.Getenv("OTEL_SDK_DISABLED") == "true" {
		return false
	}
	for _, name := range []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_" + signal + "_ENDPOINT", "OTEL_" + signal + "_EXPORTER",
	} {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return false
}

// startTraces makes the tracer provider. Without an exporter nothing is sampled, but contexts still carry trace
// ids, by which the logs of one request are found in all services.
func (t *Telemetry) startTraces(ctx context.Context, described *resource.Resource, _ Options) error {
	options := []sdktrace.TracerProviderOption{sdktrace.WithResource(described)}
	if t.Traces = exporting("TRACES"); t.Traces {
		exporter, err := autoexport.NewSpanExporter(ctx)
		if err != nil {
			return fmt.Errorf("make the trace exporter: %w", err)
		}
		options = append(options, sdktrace.WithBatcher(exporter))
	} else {
		options = append(options, sdktrace.WithSampler(sdktrace.NeverSample()))
	}
	provider := sdktrace.NewTracerProvider(options...)
	t.Tracer = sparing{provider: provider}
	t.stops = append(t.stops, provider.Shutdown)
	return nil
}

func (t *Telemetry) startMetrics(ctx context.Context, described *resource.Resource, _ Options) error {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	scraped, err := prometheusexporter.New(prometheusexporter.WithRegisterer(registry))
	if err != nil {
		return fmt.Errorf("make the Prometheus exporter: %w", err)
	}
	options := []sdkmetric.Option{sdkmetric.WithResource(described), sdkmetric.WithReader(scraped)}
	if exporting("METRICS") {
		reader, err := autoexport.NewMetricReader(ctx)
		if err != nil {
			return fmt.Errorf("make the metric exporter: %w", err)
		}
		options = append(options, sdkmetric.WithReader(reader))
	}
	provider := sdkmetric.NewMeterProvider(options...)
	t.Meter = provider
	t.Metrics = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	t.stops = append(t.stops, provider.Shutdown)
	return nil
}

func (t *Telemetry) startLogs(ctx context.Context, described *resource.Resource, o Options) error {
	var handler slog.Handler = traced{slog.NewJSONHandler(o.Out, &slog.HandlerOptions{Level: o.LogLevel})}
	if exporting("LOGS") {
		exporter, err := autoexport.NewLogExporter(ctx)
		if err != nil {
			return fmt.Errorf("make the log exporter: %w", err)
		}
		provider := sdklog.NewLoggerProvider(sdklog.WithResource(described),
			sdklog.WithProcessor(sdklog.NewBatchProcessor(exporter)))
		t.stops = append(t.stops, provider.Shutdown)
		handler = slog.NewMultiHandler(handler,
			leveled{otelslog.NewHandler(o.Service, otelslog.WithLoggerProvider(provider)), o.LogLevel})
	}
	t.Log = slog.New(handler).With("service", o.Service)
	return nil
}

// leveled handles what has at least the level.
type leveled struct {
	slog.Handler
	level slog.Level
}

func (h leveled) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= h.level && h.Handler.Enabled(ctx, level)
}

func (h leveled) WithAttrs(attributes []slog.Attr) slog.Handler {
	return leveled{h.Handler.WithAttrs(attributes), h.level}
}

func (h leveled) WithGroup(name string) slog.Handler {
	return leveled{h.Handler.WithGroup(name), h.level}
}

// traced adds the ids of the trace and the span of the context to each log line.
type traced struct{ slog.Handler }

func (h traced) Handle(ctx context.Context, r slog.Record) error {
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		r.AddAttrs(slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

func (h traced) WithAttrs(attributes []slog.Attr) slog.Handler {
	return traced{h.Handler.WithAttrs(attributes)}
}

func (h traced) WithGroup(name string) slog.Handler { return traced{h.Handler.WithGroup(name)} }
