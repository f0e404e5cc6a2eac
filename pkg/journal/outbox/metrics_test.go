package outbox

import (
	"errors"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/metrictest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// measured is what a metric says: the value of a gauge, or the count of a histogram, by the outcome; false: nothing.
func measured(t *testing.T, reader *sdkmetric.ManualReader, name, outcome string) (float64, bool) {
	t.Helper()
	for _, m := range metrictest.Collect(t, reader) {
		if m.Name != name {
			continue
		}
		switch data := m.Data.(type) {
		case metricdata.Gauge[float64]:
			return data.DataPoints[0].Value, true
		case metricdata.Gauge[int64]:
			return float64(data.DataPoints[0].Value), true
		case metricdata.Histogram[float64]:
			for _, p := range data.DataPoints {
				if v, _ := p.Attributes.Value(attribute.Key("outcome")); v.AsString() == outcome {
					return float64(p.Count), true
				}
			}
		}
	}
	return 0, false
}

func TestRelay_TellsHowLongTheOldestMessageWaits(t *testing.T) {
	t.Parallel()
	collection, _, stream := open(t)
	_, line, _, redisURL := storetest.Lines(t)
	away := storetest.RedisAt(t, redisURL)
	relay := NewRelay(RelayOptions{Collection: collection, Redis: away, Stream: stream, Log: silent()})
	reader := sdkmetric.NewManualReader()
	errortest.None(t, relay.Measure(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))
	age := func() float64 {
		v, known := measured(t, reader, "belfry.outbox.age", "")
		valuetest.MustHold(t, known, "no age")
		return v
	}
	valuetest.Same(t, age(), 0, "the age, although nothing waits")
	line.Cut()
	start(t, relay.Run)
	put(t, collection, 1, "made")
	eventually(t, "an age that grows", func() bool { return age() > 1 })
	errortest.None(t, line.Mend())
	eventually(t, "no age", func() bool { return age() == 0 })
	emptied(t, collection)
}

func TestConsumer_TellsWhatWaitsAndWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	client, prefix := storetest.Redis(t)
	stream, reader := Stream(prefix, "records"), sdkmetric.NewManualReader()
	b := inbox{fail: func(m Message) error {
		if m.Kind == "hard" {
			return errors.New("never")
		}
		return nil
	}}
	consumer := b.consumer(client, stream, 0)
	errortest.None(t, consumer.Measure(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))
	is := func(name, outcome string, want float64) bool {
		got, known := measured(t, reader, name, outcome)
		return known && got == want
	}
	if _, known := measured(t, reader, "belfry.consumer.waiting", ""); known {
		t.Error("something is said before there is a group")
	}
	errortest.None(t, client.XGroupCreateMkStream(t.Context(), stream, "notes", "0").Err())
	for id, kind := range []string{"easy", "hard", "easy"} {
		publish(t, client, stream, NewMessage(t.Context(), kind, int64(id)))
	}
	valuetest.Holds(t, is("belfry.consumer.waiting", "", 3), "not three messages that wait")
	start(t, consumer.Run)
	eventually(t, "two handled, one that comes again", func() bool {
		return is("belfry.consumer.delay", "handled", 2) && is("belfry.consumer.delay", "again", 1) &&
			is("belfry.consumer.waiting", "", 1)
	})
}
