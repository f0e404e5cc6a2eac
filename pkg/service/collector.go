package service

import (
	"math"
	"os"
	"runtime/debug"
)

// A service keeps little and throws away much: with Go's default of 100 percent, a heap of 10 MiB is collected for
// each 10 MiB of answers. So it may grow to five times what is kept, up to a bound from which on it is collected more
// often again. The bound leaves room below 200 MiB for what is not on the heap.
const (
	garbagePercent = 400
	softMemory     = 160 << 20 // bytes, where GOMEMLIMIT says nothing
	softPercent    = 60        // of GOMEMLIMIT: what is in use at once and not collected yet comes on top
)

// relaxCollector lets the heap grow as above, unless GOGC is set, and less where GOMEMLIMIT is. It is called
// once the service is built: what building it left behind must not count when it is idle.
func relaxCollector() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	limit := debug.SetMemoryLimit(-1) // changes nothing
	if limit == math.MaxInt64 {
		debug.SetMemoryLimit(softMemory)
		return
	}
	debug.SetMemoryLimit(limit / 100 * softPercent)
}
