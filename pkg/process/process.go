// Package process runs programs for tests and tools: it starts one, waits until it is ready, asks it to end, and
// kills it when it does not. A Keeper starts one again whenever it ends. A program that was started does not
// outlive the process that started it. Linux only.
package process

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// ErrEnded is Await's error when the program ended before it was ready.
var ErrEnded = errors.New("it ended before it was ready")

// look is the pause between two questions whether a program is ready.
const look = 20 * time.Millisecond

// Process is a program that was started. It is safe for concurrent use.
type Process struct {
	command *exec.Cmd
	ended   chan struct{}
	err     error // of Wait; read after ended
}

// Start starts a command. Unless the command says otherwise (SysProcAttr), it gets a process group of its own, so
// that an interrupt from the terminal reaches it only through Stop, and the kernel kills it when this process is
// gone.
func Start(command *exec.Cmd) (*Process, error) {
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	}
	p := &Process{command: command, ended: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The kernel sends Pdeathsig when the thread ends that started the process: this goroutine keeps the thread
		// until the process is gone.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		started <- err
		if err == nil {
			p.err = command.Wait()
			close(p.ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(command.Path), err)
	}
	return p, nil
}

// PID is the id of the process.
func (p *Process) PID() int { return p.command.Process.Pid }

// Ended is closed when the program has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Err says how the program ended, which it has: "exit status 0", too, and "signal: killed".
func (p *Process) Err() error {
	if p.err == nil {
		return errors.New("exit status 0")
	}
	return p.err
}

// ExitCode is that of the program, which has ended: 128 and the signal's number where a signal ended it, as in a shell.
func (p *Process) ExitCode() int {
	if status, ok := p.command.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return p.command.ProcessState.ExitCode()
}

// Await asks again and again whether the program is ready, and returns nil once it is. ErrEnded; the context's error.
func (p *Process) Await(ctx context.Context, ready func(context.Context) bool) error {
	return await(ctx, p.ended, ready)
}

func await(ctx context.Context, ended <-chan struct{}, ready func(context.Context) bool) error {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			return ErrEnded
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		if ready(ctx) {
			return nil
		}
	}
}

// Serves is a question for Await: whether the URL is answered with 200.
func Serves(url string) func(context.Context) bool {
	return func(ctx context.Context) bool {
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
}

// Stop sends the program a signal, kills it when it goes on for longer than patience, and returns when it is gone.
// The error says that it had to be killed. A program that has ended is left alone.
func (p *Process) Stop(signal os.Signal, patience time.Duration) error {
	_ = p.command.Process.Signal(signal) // it may have ended by itself
	select {
	case <-p.ended:
		return nil
	case <-time.After(patience):
	}
	_ = p.command.Process.Kill() // it may have ended by itself
	<-p.ended
	return fmt.Errorf("%s did not end within %s of %v and was killed", filepath.Base(p.command.Path), patience, signal)
}

// KillGroup kills the program and what it started in its process group, and returns when the program is gone.
func (p *Process) KillGroup() error {
	err := syscall.Kill(-p.PID(), syscall.SIGKILL)
	<-p.ended
	if errors.Is(err, syscall.ESRCH) { // it had ended by itself
		return nil
	}
	return err
}
