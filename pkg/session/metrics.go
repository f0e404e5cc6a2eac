package session

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"
)

// countTimeout bounds the count of users.
const countTimeout = time.Second

// Measure registers the gauge of users with sessions. A user whose sessions have expired counts until the next sweep.
func (s *Store) Measure(provider metric.MeterProvider) error {
	meter := provider.Meter("github.com/belfry-schools/belfry/pkg/session")
	_, err := meter.Int64ObservableGauge("belfry.session.users",
		metric.WithDescription("Users with sessions, those that expired within ten minutes among them"),
		metric.WithInt64Callback(func(ctx context.Context, observer metric.Int64Observer) error {
			ctx, cancel := context.WithTimeout(ctx, countTimeout)
			defer cancel()
			if n, err := s.redis.ZCard(ctx, s.o.Prefix+"usersessions").Result(); err == nil {
				observer.Observe(n)
			}
			return nil
		}))
	if err != nil {
		return fmt.Errorf("make the gauge of sessions: %w", err)
	}
	return nil
}
