//go:build !linux

package neighbour

import "syscall"

// limitSilence: only Linux, where services run, has the option.
func limitSilence(_, _ string, _ syscall.RawConn) error { return nil }
