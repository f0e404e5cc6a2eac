// Package timetest reads zones and days that a test knows to be right.
package timetest

import "github.com/belfry-schools/belfry/pkg/wiretime"

// TB is what is needed of a test: a testing.TB, or a rapid.TB.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// London is the zone of most tests.
func London(t TB) wiretime.Zone {
	t.Helper()
	return Zone(t, "Europe/London")
}

// Zone returns the zone of that name.
func Zone(t TB, name string) wiretime.Zone {
	t.Helper()
	z, err := wiretime.LoadZone(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// Days returns the days from one to another, both given as 2026-09-07.
func Days(t TB, first, last string) wiretime.Days {
	t.Helper()
	return wiretime.Days{First: Day(t, first), Last: Day(t, last)}
}

// Day returns the day given as 2026-09-07.
func Day(t TB, text string) wiretime.Day {
	t.Helper()
	d, err := wiretime.ParseDay(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
