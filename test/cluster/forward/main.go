// Command forward lets the cluster reach the stores, which listen on the machine's loopback address only. It
// listens inside the cluster's network namespace, and connects from the namespace it was started in. No other
// connection between the two networks is needed.
//
// Its arguments are the file of the namespace to listen in, and pairs of addresses, LISTEN=CONNECT. It needs root,
// and runs until it is killed.
package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// connectPatience is the timeout of a connection to the same machine.
const connectPatience = 5 * time.Second

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "forward:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return errors.New("arguments: the file of a network namespace, and LISTEN=CONNECT, once or more")
	}
	var all errgroup.Group
	for _, pair := range args[1:] {
		inner, outer, found := strings.Cut(pair, "=")
		if !found {
			return fmt.Errorf("%q is not LISTEN=CONNECT", pair)
		}
		listener, err := listenIn(args[0], inner)
		if err != nil {
			return fmt.Errorf("listening on %s: %w", inner, err)
		}
		all.Go(func() error { return serve(listener, outer) })
	}
	return all.Wait()
}

// listenIn makes a listener in another network namespace. A socket stays in the namespace of the thread that made
// it, so only that thread enters the namespace. It is not used for anything else.
func listenIn(namespace, address string) (listener net.Listener, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
		var file *os.File
		if file, err = os.Open(namespace); err != nil {
			return
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		if err = unix.Setns(int(file.Fd()), unix.CLONE_NEWNET); err != nil {
			return
		}
		listener, err = net.Listen("tcp", address)
	}()
	<-done
	return listener, err
}

func serve(listener net.Listener, target string) error {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			if err := join(conn, target); err != nil {
				slog.Warn("connection", "to", target, "error", err.Error())
			}
		}()
	}
}

// join connects to target and copies bytes both ways until both sides have closed.
func join(conn net.Conn, target string) error {
	out, err := net.DialTimeout("tcp", target, connectPatience) //nolint:gosec // the arguments say where to
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	var both errgroup.Group
	both.Go(func() error { return pass(out, conn) })
	both.Go(func() error { return pass(conn, out) })
	return errors.Join(both.Wait(), conn.Close(), out.Close())
}

// pass copies until from is closed for reading, then closes to for writing. The other direction may go on.
func pass(to, from net.Conn) error {
	_, err := io.Copy(to, from)
	if half, ok := to.(*net.TCPConn); ok {
		_ = half.CloseWrite() // it may be closed already
	}
	return err
}
