//go:build !race

package servicetest

// raceSuffix is empty when the tests run without the race detector; then the services do, too.
const raceSuffix = ""
