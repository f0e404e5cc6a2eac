package wiretime

import (
	"testing"
	"time"
)

// dayByTheBook is the slow model of a date in a query: a text that the time package parses and formats to the same
// text, in the years 0001 to 9999.
func dayByTheBook(text string) (Day, bool) {
	at, err := time.Parse(time.DateOnly, text)
	if err != nil || at.Format(time.DateOnly) != text || at.Year() < 1 {
		return 0, false
	}
	return DayOf(at), true
}

func FuzzParseDays(f *testing.F) {
	for _, r := range [][2]string{
		{"", ""}, {"2026-09-07", ""}, {"", "2026-09-08"}, {"2026-09-08", "2026-09-07"},
		{"2024-02-29", "2025-02-29"}, {"0000-01-01", "9999-12-31"}, {"2026-9-7", "x"},
	} {
		f.Add(r[0], r[1])
	}
	z := zone(f, "Europe/London")
	now := time.Date(2026, 9, 7, 23, 30, 0, 0, time.UTC) // the 8th in London
	f.Fuzz(func(t *testing.T, start, end string) {
		first, ok := z.DayOf(now), true
		if start != "" {
			first, ok = dayByTheBook(start)
		}
		last := first
		if end != "" && ok {
			last, ok = dayByTheBook(end)
		}
		ok = ok && last >= first
		got, err := z.ParseDays(start, end, now)
		if (err == nil) != ok || (ok && got != Days{first, last}) {
			t.Fatalf("%q to %q: %v, %v; by the book %v to %v, %v", start, end, got, err, first, last, ok)
		}
	})
}
