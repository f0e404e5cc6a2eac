package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestMain_ASecondInterruptEndsIt interrupts a command that is reading a file: a pipe into which no one writes.
func TestMain_ASecondInterruptEndsIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, pipe := filepath.Join(dir, "belfryctl"), filepath.Join(dir, "GPU001.TXT")
	errortest.None(t, checkout.Build(t.Context(), program, "./cmd/belfryctl"))
	errortest.None(t, syscall.Mkfifo(pipe, 0o600))
	command := exec.CommandContext(t.Context(), program, "untis", pipe, "--category", "lesson")
	errortest.None(t, command.Start())
	ended := make(chan struct{})
	go func() {
		_ = command.Wait() // its signal says how it ended
		close(ended)
	}()
	for deadline := time.After(time.Minute); ; {
		select {
		case <-ended:
			status, _ := command.ProcessState.Sys().(syscall.WaitStatus)
			valuetest.Same(t, status.Signal(), syscall.SIGINT, "what ended it")
			return
		case <-deadline:
			t.Fatal("it goes on after many interrupts")
		case <-time.After(100 * time.Millisecond):
			_ = command.Process.Signal(os.Interrupt) // it may have ended meanwhile
		}
	}
}
