//go:build !race

package servicetest

// raceSuffix tells that the tests run without the race detector: then the services do as well.
const raceSuffix = ""
