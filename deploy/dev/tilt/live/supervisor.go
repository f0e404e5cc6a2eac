package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// readyPause spaces the questions whether a program serves.
	readyPause = 20 * time.Millisecond
	// stopPatience is how long a program may take to stop before it is killed.
	stopPatience = 20 * time.Second
)

// supervisor is what `live run` was told.
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
	ended := running.ended
	for {
		select {
		case <-ctx.Done():
			return running.stop(), nil
		case <-ended:
			return running.code(), fmt.Errorf("%s ended by itself with exit code %d", s.program, running.code())
		case answer := <-restarts:
			running.stop()
			next, err := s.start()
			if err == nil {
				running = next
				err = s.await(ctx, running)
			}
			ended = running.ended
			if err != nil {
				ended = nil // the next edit is waited for
			}
			answer <- err
		}
	}
}

// process is a started program.
type process struct {
	command *exec.Cmd
	ended   chan struct{}
}

// start starts the newer program, or the image's where there is none.
func (s *supervisor) start() (*process, error) {
	path := filepath.Join(s.dir, filepath.Base(s.program))
	if _, err := os.Stat(path); err != nil {
		path = s.program
	}
	p := &process{command: exec.Command(path, s.arguments...), ended: make(chan struct{})}
	p.command.Stdout, p.command.Stderr = os.Stdout, os.Stderr
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C reaches it through stop only
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		_ = p.command.Wait() // code tells how it ended
	}()
	return p, nil
}

// code is the exit code of a program that has ended: 128 and the signal's number where one ended it, as in a shell.
func (p *process) code() int {
	if status, ok := p.command.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return p.command.ProcessState.ExitCode()
}

// stop ends the program in order, or kills it when it does not obey, and returns its exit code.
func (p *process) stop() int {
	_ = p.command.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	select {
	case <-p.ended:
	case <-time.After(stopPatience):
		_ = p.command.Process.Kill() // it may have ended by itself
		<-p.ended
	}
	return p.code()
}

// await returns nil once the program serves.
func (s *supervisor) await(ctx context.Context, p *process) error {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	for {
		select {
		case <-p.ended:
			return fmt.Errorf("the new %s ended with exit code %d before it served", s.program, p.code())
		case <-ctx.Done():
			return fmt.Errorf("the new %s does not serve: no 200 from %s within %s", s.program, s.ready, s.patience)
		case <-time.After(readyPause):
		}
		if serves(ctx, s.ready) {
			return nil
		}
	}
}

func serves(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = answer.Body.Close() // nothing of it is read
	return answer.StatusCode == http.StatusOK
}

// socket is where restarts are asked for: a connection is the question; what comes back before it closes is what went wrong, nothing when the program
// serves.
func socket(dir string) string { return filepath.Join(dir, ".restart") }

// listen returns the questions for a restart, each as the channel that takes its answer.
func (s *supervisor) listen(ctx context.Context) (restarts <-chan chan<- error, closeSocket func() error, err error) {
	path := socket(s.dir)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // of a container that was killed
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
					_, _ = io.WriteString(conn, err.Error()) // who does not wait for the answer misses it
				}
			case <-ctx.Done():
				_, _ = io.WriteString(conn, "the container stops")
			}
			_ = conn.Close() // all was written
		}
	}()
	return questions, listener.Close, nil
}

// askRestart asks the container's first process for a restart and returns when it is done.
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
