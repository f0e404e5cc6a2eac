package frontdoor

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
)

// Ports are chosen below the kernel's range for outgoing connections: such a connection must not take a port before
// its service listens, or while the service restarts.
const firstPort, lastPort = 10000, 20000

// Addresses returns n different addresses on 127.0.0.1 that nothing listens on, for services that run without a
// cluster.
func Addresses(n int) ([]string, error) {
	addresses := make([]string, 0, n)
	for len(addresses) < n {
		port := firstPort + rand.IntN(lastPort-firstPort)
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			return nil, err
		}
		defer func() { _ = listener.Close() }() // open until all are chosen, so that they differ
		addresses = append(addresses, listener.Addr().String())
	}
	return addresses, nil
}
