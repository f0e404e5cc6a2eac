package outbox

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/belfry-schools/belfry/pkg/service/lifecycle"
)

// lagTimeout bounds the query for the lag of a consumer group.
const lagTimeout = time.Second

// outcome is the outcome of a message.
type outcome string

const (
	handled outcome = "handled"
	again   outcome = "again" // it comes again
	lost    outcome = "lost"  // trimmed, or not readable
)

// saw records the age of the oldest pending message.
func (r *Relay) saw(documents []waiting) {
	var oldest *time.Time
	for _, d := range documents {
		for _, m := range d.Items {
			if oldest == nil || m.At.Before(*oldest) {
				oldest = &m.At
			}
		}
	}
	r.oldest.Store(oldest)
}

// Measure registers the gauge of the age of pending messages.
func (r *Relay) Measure(provider metric.MeterProvider) error {
	collection := metric.WithAttributes(attribute.String("collection", r.Collection.Name()))
	_, err := provider.Meter(instrumentation).Float64ObservableGauge("belfry.outbox.age", metric.WithUnit("s"),
		metric.WithDescription("How long the oldest message has waited that the relay could not publish yet"),
		metric.WithFloat64Callback(func(_ context.Context, observer metric.Float64Observer) error {
			age := 0.0
			if oldest := r.oldest.Load(); oldest != nil {
				age = max(0, time.Since(*oldest).Seconds())
			}
			observer.Observe(age, collection)
			return nil
		}))
	if err != nil {
		return fmt.Errorf("make the gauge of the outbox: %w", err)
	}
	return nil
}

// Measure makes the histogram of delays, and registers the gauge of messages that wait in the stream. Call it before
// Run.
func (c *Consumer) Measure(provider metric.MeterProvider) (err error) {
	meter := provider.Meter(instrumentation)
	c.delay, err = meter.Float64Histogram("belfry.consumer.delay", metric.WithUnit("s"),
		metric.WithDescription("Time from writing a message to its end, by outcome: handled, again or lost"),
		metric.WithExplicitBucketBoundaries(.01, .05, .1, .5, 1, 5, 15, 60, 300, 1800))
	if err != nil {
		return fmt.Errorf("make the histogram of messages: %w", err)
	}
	group := metric.WithAttributes(attribute.String("group", c.Group))
	_, err = meter.Int64ObservableGauge("belfry.consumer.waiting",
		metric.WithDescription("Messages in the stream that the group has not handled; absent while Redis is away"),
		metric.WithInt64Callback(func(ctx context.Context, observer metric.Int64Observer) error {
			if n, known := c.waiting(lifecycle.Unsampled(ctx)); known {
				observer.Observe(n, group)
			}
			return nil
		}))
	if err != nil {
		return fmt.Errorf("make the gauge of messages: %w", err)
	}
	return nil
}

// waiting asks Redis how many messages the group has still to handle; false when it does not say.
func (c *Consumer) waiting(ctx context.Context) (int64, bool) {
	ctx, cancel := context.WithTimeout(ctx, lagTimeout)
	defer cancel()
	groups, err := c.Redis.XInfoGroups(ctx, c.Stream).Result()
	if err != nil {
		return 0, false
	}
	for _, g := range groups {
		if g.Name == c.Group {
			return g.Pending + max(0, g.Lag), true
		}
	}
	return 0, false
}

func (c *Consumer) counted(ctx context.Context, written time.Time, o outcome) {
	c.delay.Record(ctx, max(0, time.Since(written).Seconds()),
		metric.WithAttributes(attribute.String("group", c.Group), attribute.String("outcome", string(o))))
}
