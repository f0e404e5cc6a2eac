//go:build race

package servicetest

// race says that the tests run with the race detector; then the services do, too.
const race = true
