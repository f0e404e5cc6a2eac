package frontdoor

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
)

// Ports are taken from below the range that the kernel gives to outgoing connections: one of those must not take a
// port between its choice and its use, or while a service restarts.
const firstPort, lastPort = 10000, 20000

// Addresses chooses n different addresses on 127.0.0.1 that nobody listens on, for the services of a run without a
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
		defer func() { _ = listener.Close() }() // held until all are chosen, so that they differ; nothing was accepted
		addresses = append(addresses, listener.Addr().String())
	}
	return addresses, nil
}
