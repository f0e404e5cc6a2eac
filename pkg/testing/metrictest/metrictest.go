// Package metrictest reads what was measured.
package metrictest

import (
	"testing"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// Collect returns the metrics of all scopes, in the order of the reader.
func Collect(t testing.TB, reader sdkmetric.Reader) (all []metricdata.Metrics) {
	t.Helper()
	var collected metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &collected); err != nil {
		t.Fatal(err)
	}
	for _, scope := range collected.ScopeMetrics {
		all = append(all, scope.Metrics...)
	}
	return all
}

// Sum returns the value of a counter for an outcome. Data of any other kind count nothing.
func Sum(m metricdata.Metrics, outcome string) (n int64) {
	sum, _ := m.Data.(metricdata.Sum[int64])
	for _, point := range sum.DataPoints {
		if value, _ := point.Attributes.Value("outcome"); value.AsString() == outcome {
			n += point.Value
		}
	}
	return n
}
