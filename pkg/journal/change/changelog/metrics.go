package changelog

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"
)

const instrumentation = "github.com/belfry-schools/belfry/pkg/journal/change/changelog"

// Measure registers the gauge of waiting changes.
func (l *Log) Measure(provider metric.MeterProvider) error {
	_, err := provider.Meter(instrumentation).Float64ObservableGauge("belfry.changes.age", metric.WithUnit("s"),
		metric.WithDescription("How long the oldest change has waited that the log of changes could not take yet"),
		metric.WithFloat64Callback(func(_ context.Context, observer metric.Float64Observer) error {
			age := 0.0
			if oldest := l.oldest.Load(); oldest != nil {
				age = max(0, time.Since(*oldest).Seconds())
			}
			observer.Observe(age)
			return nil
		}))
	if err != nil {
		return fmt.Errorf("make the gauge of changes: %w", err)
	}
	return nil
}
