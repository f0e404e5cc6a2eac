//go:build race

package servicetest

// raceSuffix tells that the tests run with the race detector: then the services do as well.
const raceSuffix = "-race"
