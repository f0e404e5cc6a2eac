package session_test

import (
	"testing"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/belfry-schools/belfry/pkg/session"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/metrictest"
)

func TestTheGaugeCountsUsersWithSessions(t *testing.T) {
	s, reader := newStore(t, time.Hour, time.Hour), sdkmetric.NewManualReader()
	errortest.None(t, s.Measure(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))
	for _, user := range []int64{1, 2, 2} {
		create(t, s, session.Record{User: subject(user, 1)}, session.Token{})
	}
	all := metrictest.Collect(t, reader)
	gauge, ok := all[0].Data.(metricdata.Gauge[int64])
	if !ok || len(gauge.DataPoints) != 1 || gauge.DataPoints[0].Value != 2 {
		t.Errorf("%+v", all[0])
	}
}
