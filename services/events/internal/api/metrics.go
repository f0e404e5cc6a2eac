package api

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
)

// absenceMetrics implements absence.Metrics.
type absenceMetrics struct {
	written metric.Int64Counter
	took    metric.Float64Histogram
}

func newAbsenceMetrics(provider metric.MeterProvider) (absenceMetrics, error) {
	meter := provider.Meter("github.com/belfry-schools/belfry/services/events/internal/absence")
	written, unwritten := meter.Int64Counter(
		"belfry.absence.notes",
		metric.WithDescription("Notes on absent pupils that were written, by change: created, updated or removed"),
	)
	took, untaken := meter.Float64Histogram(
		"belfry.absence.duration",
		metric.WithUnit("s"),
		metric.WithDescription("How long nightly checks of absences took, by outcome: done or failed"),
	)
	return absenceMetrics{written, took}, errors.Join(unwritten, untaken)
}

func (m absenceMetrics) Wrote(ctx context.Context, change fact.NoteChange) {
	m.written.Add(ctx, 1, metric.WithAttributes(attribute.String("change", string(change))))
}

func (m absenceMetrics) Checked(ctx context.Context, took time.Duration, done bool) {
	outcome := "done"
	if !done {
		outcome = "failed"
	}
	m.took.Record(ctx, took.Seconds(), metric.WithAttributes(attribute.String("outcome", outcome)))
}

// noticeMetrics implements notice.Metrics.
type noticeMetrics struct{ attempts metric.Int64Counter }

func newNoticeMetrics(provider metric.MeterProvider) (noticeMetrics, error) {
	attempts, err := provider.Meter("github.com/belfry-schools/belfry/services/events/internal/notice").Int64Counter(
		"belfry.notice.attempts",
		metric.WithDescription("Mails and webhook deliveries that were tried, by channel and outcome"),
	)
	return noticeMetrics{attempts}, err
}

func (m noticeMetrics) Tried(ctx context.Context, channel, outcome string) {
	m.attempts.Add(
		ctx, 1, metric.WithAttributes(attribute.String("channel", channel), attribute.String("outcome", outcome)),
	)
}
