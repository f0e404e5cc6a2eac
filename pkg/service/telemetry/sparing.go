package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
)

// sparing makes no child of a span of this process that is not recorded, since samplers decide for a whole trace. The
// caller gets that span instead, so log lines have its ids.
type sparing struct {
	embedded.TracerProvider
	provider trace.TracerProvider
}

// Tracer implements trace.TracerProvider.
func (s sparing) Tracer(name string, options ...trace.TracerOption) trace.Tracer {
	return sparingTracer{tracer: s.provider.Tracer(name, options...)}
}

type sparingTracer struct {
	embedded.Tracer
	tracer trace.Tracer
}

// Start implements trace.Tracer.
func (t sparingTracer) Start(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context,
	trace.Span) {
	parent := trace.SpanFromContext(ctx)
	if at := parent.SpanContext(); at.IsValid() && !at.IsRemote() && !parent.IsRecording() {
		return ctx, parent
	}
	return t.tracer.Start(ctx, name, options...)
}
