package neighbour

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// limitSilence makes the kernel end a connection whose packets are not acknowledged in time. Its default is a quarter
// of an hour.
func limitSilence(_, _ string, socket syscall.RawConn) error {
	var set error
	err := socket.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silentTimeout.Milliseconds()))
	})
	return errors.Join(err, set)
}
