// Package process runs programs for tests and tools. It starts a program, waits until it is ready, sends it a
// signal to end, and kills it when it does not. A Keeper starts a program again whenever it ends. A program is
// killed when the process that started it ends. Linux only.
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

// pollPause is the pause between two checks whether a program is ready.
const pollPause = 20 * time.Millisecond

// Process is a started program. It is safe for concurrent use.
type Process struct {
	command *exec.Cmd
	ended   chan struct{}
	err     error // of Wait; read after ended
}

// Start starts a command. Unless the command has SysProcAttr, it gets a process group of its own, so that an
// interrupt from the terminal does not reach it, and the kernel kills it when this process ends.
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

// PID returns the id of the process.
func (p *Process) PID() int { return p.command.Process.Pid }

// Ended is closed when the program has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Err returns how the program ended, also on success: "exit status 0", "signal: killed". Call it after Ended.
func (p *Process) Err() error {
	if p.err == nil {
		return errors.New("exit status 0")
	}
	return p.err
}

// ExitCode returns the exit code, or 128 plus the number of the signal that ended the program, as in a shell. Call
// it after Ended.
func (p *Process) ExitCode() int {
	if status, ok := p.command.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return p.command.ProcessState.ExitCode()
}

// Await calls ready repeatedly and returns nil once it reports true. It returns ErrEnded when the program ends
// first, and the context's error when ctx ends.
func (p *Process) Await(ctx context.Context, ready func(context.Context) bool) error {
	return await(ctx, p.ended, ready)
}

func await(ctx context.Context, ended <-chan struct{}, ready func(context.Context) bool) error {
	ticker := time.NewTicker(pollPause)
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

// Serves returns a check for Await: whether the URL answers with 200.
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
		_ = answer.Body.Close() // its content is not needed
		return answer.StatusCode == http.StatusOK
	}
}

// Stop sends the program a signal, kills it when it has not ended after patience, and returns when it has ended. It
// returns an error when the program had to be killed. It does nothing to a program that has ended.
func (p *Process) Stop(signal os.Signal, patience time.Duration) error {
	_ = p.command.Process.Signal(signal) // it may have ended already
	select {
	case <-p.ended:
		return nil
	case <-time.After(patience):
	}
	_ = p.command.Process.Kill() // it may have ended already
	<-p.ended
	return fmt.Errorf("%s did not end within %s of %v and was killed", filepath.Base(p.command.Path), patience, signal)
}

// KillGroup kills all processes of the program's process group, and returns when the program has ended.
func (p *Process) KillGroup() error {
	err := syscall.Kill(-p.PID(), syscall.SIGKILL)
	<-p.ended
	if errors.Is(err, syscall.ESRCH) { // it had already ended
		return nil
	}
	return err
}
