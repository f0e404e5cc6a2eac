//go:build !race

package servicetest

import "os"

// race says that the services run with the race detector: those that a test only asks may, though it runs without.
var race = os.Getenv("SERVICES_RACE") != ""
