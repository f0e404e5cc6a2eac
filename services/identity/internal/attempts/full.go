package attempts

import (
	"maps"
	"sync"
	"time"
)

// mostFull bounds how many full sets are remembered. Of those above it, Redis is asked each time.
const mostFull = 1 << 14

// sweepPause is the least time between two sweeps of what has expired: each goes through all.
const sweepPause = time.Second

// full remembers until when sets have no room. Its zero value is ready to use.
type full struct {
	mu    sync.Mutex
	until map[string]time.Time
	swept time.Time
}

// put remembers that at a time there was no room for so long; nothing where there was room.
func (f *full) put(key string, at time.Time, wait time.Duration) {
	if wait <= 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.until == nil {
		f.until = map[string]time.Time{}
	}
	if len(f.until) >= mostFull && at.Sub(f.swept) >= sweepPause {
		f.swept = at
		maps.DeleteFunc(f.until, func(_ string, until time.Time) bool { return !until.After(at) })
	}
	if _, known := f.until[key]; known || len(f.until) < mostFull {
		f.until[key] = at.Add(wait)
	}
}

// wait returns how long there will be no room, 0 when that is not known.
func (f *full) wait(key string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return max(0, time.Until(f.until[key]))
}
