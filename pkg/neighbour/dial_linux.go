package neighbour

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// limitSilence makes the kernel end a connection on which what was sent is not acknowledged in time. Its own patience
// is a quarter of an hour.
func limitSilence(_, _ string, socket syscall.RawConn) error {
	var set error
	err := socket.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silentTimeout.Milliseconds()))
	})
	return errors.Join(err, set)
}
