// Package timetest reads zones and days that a test knows to be right, and waits until a condition holds.
package timetest

import (
	"fmt"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// London is the zone of most tests.
func London(t errortest.TB) wiretime.Zone {
	t.Helper()
	return Zone(t, "Europe/London")
}

// Zone returns the zone of that name.
func Zone(t errortest.TB, name string) wiretime.Zone {
	t.Helper()
	z, err := wiretime.LoadZone(name)
	errortest.None(t, err)
	return z
}

// Days returns the days from one to another, both given as 2026-09-07.
func Days(t errortest.TB, first, last string) wiretime.Days {
	t.Helper()
	return wiretime.Days{First: Day(t, first), Last: Day(t, last)}
}

// Day returns the day given as 2026-09-07.
func Day(t errortest.TB, text string) wiretime.Day {
	t.Helper()
	d, err := wiretime.ParseDay(text)
	errortest.None(t, err)
	return d
}

// Eventually ends the test unless holds returns true within the time.
func Eventually(t errortest.TB, what string, within time.Duration, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(within); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(fmt.Sprintf("not within %v: %s", within, what))
		}
	}
}
