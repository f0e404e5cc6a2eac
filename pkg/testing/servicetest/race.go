//go:build race

package servicetest

// raceSuffix is set when the tests run with the race detector; then the services do, too.
const raceSuffix = "-race"
