package wiretime

import (
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// FuzzParseTimeOfDay compares with the time package.
func FuzzParseTimeOfDay(f *testing.F) {
	for _, text := range []string{"00:00", "23:59", "24:00", "9:05", "09:60", "09:05 ", "", "09.05", "٠٩:٠٥",
		"09:05:00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseTimeOfDay(text)
		at, wrong := time.Parse("15:04", text)
		ok := wrong == nil && at.Format("15:04") == text
		valuetest.MustSame(t, ok, err == nil, "%q: %v, %v; by the book %v", text, got, err, wrong)
		if ok && got.String() != text {
			t.Fatalf("%q: %v", text, got)
		}
	})
}
