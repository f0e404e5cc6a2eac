package frontdoor

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"syscall"
)

// Ports are chosen below the kernel's range for outgoing connections, which could otherwise take a port before its
// service listens or while the service restarts.
const firstPort, lastPort = 10000, 20000

var errNoPort = errors.New("no free port on 127.0.0.1")

// claims are the ports that this process has chosen. Each is a Unix socket in the abstract name space, which one
// process of the network name space can have: tests of other packages, and of other checkouts, choose at the same
// time. The kernel removes it when the process ends, however it ends.
var claims struct {
	sync.Mutex
	sockets []net.Listener
}

// Addresses returns n different addresses on 127.0.0.1 that nothing listens on, for services that run without a
// cluster. No other process is given one of them until this one ends: not before its service listens, and not while
// the service restarts. Linux only.
func Addresses(n int) ([]string, error) {
	claims.Lock()
	defer claims.Unlock()
	addresses := make([]string, 0, n)
	first := rand.IntN(lastPort - firstPort)
	for i := 0; len(addresses) < n; i++ {
		if i == lastPort-firstPort {
			return nil, errNoPort
		}
		port := firstPort + (first+i)%(lastPort-firstPort)
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		free, err := claim(port, address)
		if err != nil {
			return nil, err
		}
		if free {
			addresses = append(addresses, address)
		}
	}
	return addresses, nil
}

// claim returns false when another process has claimed the port, or listens there.
func claim(port int, address string) (bool, error) {
	socket, err := net.Listen("unix", fmt.Sprintf("@belfry-port-%d", port))
	if errors.Is(err, syscall.EADDRINUSE) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	listener, err := net.Listen("tcp", address)
	if err == nil {
		claims.sockets = append(claims.sockets, socket)
		return true, listener.Close()
	}
	_ = socket.Close() // it holds nothing
	if errors.Is(err, syscall.EADDRINUSE) {
		return false, nil
	}
	return false, err
}
