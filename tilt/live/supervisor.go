package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/belfry-schools/belfry/pkg/service/process"
)

// stopPatience is how long a program may take to stop before it is killed.
const stopPatience = 20 * time.Second

// supervisor is the state of `live run`, from its arguments.
type supervisor struct {
	dir, ready, program string
	arguments           []string
	patience            time.Duration // for a new program to serve
}

// run returns the exit code of the program that it ran last.
func (s *supervisor) run(ctx context.Context) (code int, err error) {
	restarts, closeSocket, err := s.listen(ctx)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, closeSocket()) }()
	running, err := s.start()
	if err != nil {
		return 1, err
	}
	ended := running.Ended()
	for {
		select {
		case <-ctx.Done():
			return stop(running), nil
		case <-ended:
			return running.ExitCode(), fmt.Errorf("%s ended by itself with exit code %d", s.program, running.ExitCode())
		case answer := <-restarts:
			stop(running)
			next, err := s.start()
			if err == nil {
				running = next
				err = s.await(ctx, running)
			}
			ended = running.Ended()
			if err != nil {
				ended = nil // wait for the next edit
			}
			answer <- err
		}
	}
}

// start starts the newer program, or the image's when there is none.
func (s *supervisor) start() (*process.Process, error) {
	path := filepath.Join(s.dir, filepath.Base(s.program))
	if _, err := os.Stat(path); err != nil {
		path = s.program
	}
	command := exec.Command(path, s.arguments...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	return process.Start(command)
}

// stop ends the program and returns its exit code.
func stop(p *process.Process) int {
	_ = p.Stop(syscall.SIGTERM, stopPatience) // the exit code shows when it had to be killed
	return p.ExitCode()
}

// await returns nil once the program serves.
func (s *supervisor) await(ctx context.Context, p *process.Process) error {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	err := p.Await(ctx, process.Serves(s.ready))
	if errors.Is(err, process.ErrEnded) {
		return fmt.Errorf("the new %s ended with exit code %d before it served", s.program, p.ExitCode())
	}
	if err != nil {
		return fmt.Errorf("the new %s does not serve: no 200 from %s within %s", s.program, s.ready, s.patience)
	}
	return nil
}

// socket returns the path of the socket for restarts. A connection asks for a restart; the answer is the text of
// the error, and empty when the program serves.
func socket(dir string) string { return filepath.Join(dir, ".restart") }

// listen returns a channel of restart requests, each of them the channel for its result.
func (s *supervisor) listen(ctx context.Context) (restarts <-chan chan<- error, closeSocket func() error, err error) {
	path := socket(s.dir)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // left by a container that was killed
		return nil, nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, nil, err
	}
	questions := make(chan chan<- error)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // closed
			}
			answer := make(chan error)
			select {
			case questions <- answer:
				if err := <-answer; err != nil {
					_, _ = io.WriteString(conn, err.Error()) // the client may have gone
				}
			case <-ctx.Done():
				_, _ = io.WriteString(conn, "the container stops")
			}
			_ = conn.Close() // all was written
		}
	}()
	return questions, listener.Close, nil
}

// askRestart requests a restart from the container's first process and returns when it is done.
func askRestart(ctx context.Context, dir string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket(dir))
	if err != nil {
		return err
	}
	said, err := io.ReadAll(conn)
	if err = errors.Join(err, conn.Close()); err == nil && len(said) > 0 {
		err = errors.New(string(said))
	}
	return err
}
