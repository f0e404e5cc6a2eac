package api

import (
	"testing"
	"time"

	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// FuzzParseFoundPlace: a place in the list of what was found is refused, or is one that is written and read again as
// the same, within times that stores can take.
func FuzzParseFoundPlace(f *testing.F) {
	for _, text := range []string{"", "1554901200.1554915600.5.604800", "-1.-1.0.0", "1.2.3", "1.2.3.4.5", "9e9.1.1.1",
		"549755813887.549755813887.9223372036854775807.549755813887", "+1.1.1.1", "1.1.-1.1", " 1.1.1.1", "٣.1.1.1",
		"0.700000000000.0.0"} {
		f.Add(text)
	}
	far := time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		place, err := parseFoundPlace(text)
		if err != nil || place.IsZero() {
			return
		}
		if place.Starts.After(far) || place.Ends.After(far) || place.EventID < 0 || place.Window < 0 ||
			place.Window > event.LongestWindow {
			t.Fatalf("%q is %+v", text, place)
		}
		written, ok := nextFound(place).Value.(string)
		if again, err := parseFoundPlace(written); !ok || err != nil || again != place {
			t.Fatalf("%q is %+v, written as %q, which is %+v, %v", text, place, written, again, err)
		}
	})
}
