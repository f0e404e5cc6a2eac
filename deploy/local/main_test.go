package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// inOrder is the exit code of a process that stopped in order: neither that of a killed one nor that of a test.
const inOrder = 7

// TestMain is also a process that stops as a local run does, when its argument says so. It stops until its input ends.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "stop" {
		ctx, stop := untilStopped()
		defer stop()
		fmt.Fprintln(os.Stderr, "ready")
		<-ctx.Done()
		fmt.Println("no one reads this")
		fmt.Fprintln(os.Stderr, context.Cause(ctx))
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(inOrder)
	}
	os.Exit(m.Run())
}

// A closed terminal, and Ctrl-C where tee reads the output, killed the run, and its services with their requests. So
// did the SIGTERM that make passes on when its group has got it too.
func TestLocal_StopsInOrderAtEverySignal(t *testing.T) {
	for name, c := range map[string]struct {
		program []string
		signals []syscall.Signal
		cause   string
		again   syscall.Signal // comes while it stops; 0 does nothing
		want    int
	}{
		"Ctrl-C":       {nil, []syscall.Signal{syscall.SIGINT}, "interrupt", 0, inOrder},
		"Ctrl-C twice": {nil, []syscall.Signal{syscall.SIGINT}, "interrupt", syscall.SIGINT, 128 + 2},
		"hangup":       {nil, []syscall.Signal{syscall.SIGHUP}, "hangup", syscall.SIGHUP, inOrder},
		"SIGTERM":      {nil, []syscall.Signal{syscall.SIGTERM}, "terminated", syscall.SIGTERM, inOrder},
		"under nohup": {[]string{"nohup"}, []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM}, "terminated",
			syscall.SIGHUP, inOrder},
	} {
		t.Run(name, func(t *testing.T) {
			p, input, said := startStopping(t, c.program...)
			for _, s := range c.signals {
				errortest.None(t, syscall.Kill(p.PID(), s))
			}
			line, err := said.ReadString('\n')
			errortest.None(t, err, "it has ended")
			valuetest.Same(t, line, c.cause+" signal received\n")
			errortest.None(t, syscall.Kill(p.PID(), c.again))
			if c.want != inOrder { // the second comes when the first has been dealt with
				timetest.Eventually(t, "it ends", time.Minute, func() bool {
					return syscall.Kill(p.PID(), c.again) != nil
				})
			}
			_ = input.Close() // it is closed when the process has ended
			<-p.Ended()
			valuetest.Same(t, p.ExitCode(), c.want, "%v", p.Err())
		})
	}
}

// Two runs in one folder that both loaded the demo school failed: the second removed the files of the first.
func TestLocal_TwoRunsDoNotShareAFolder(t *testing.T) {
	dir := t.TempDir()
	lock, err := lockFolder(dir)
	errortest.None(t, err)
	errortest.Says(t, errortest.Of(lockFolder(dir)), "another run uses "+dir)
	errortest.None(t, lock.Close())
	next, err := lockFolder(dir)
	errortest.None(t, err)
	errortest.None(t, next.Close())
}

// startStopping starts the process of TestMain, by another program if one is given. Nothing reads its output. It
// returns its input and what it says on standard error after "ready".
func startStopping(t *testing.T, program ...string) (*process.Process, io.Closer, *bufio.Reader) {
	t.Helper()
	self, err := os.Executable()
	errortest.None(t, err)
	// nohup, and shells that start something behind them, have programs below them ignore signals
	argv := slices.Concat([]string{"env", "--default-signal=HUP,INT"}, program, []string{self, "stop"})
	command := exec.Command(argv[0], argv[1:]...)
	output, closed, err := os.Pipe()
	errortest.None(t, err)
	errortest.None(t, output.Close())
	command.Stdout = closed
	input, err := command.StdinPipe()
	errortest.None(t, err)
	told, err := command.StderrPipe()
	errortest.None(t, err)
	p, err := process.Start(command)
	errortest.None(t, err)
	t.Cleanup(func() { _ = p.KillGroup() })
	errortest.None(t, closed.Close())
	said := bufio.NewReader(told)
	for line := ""; line != "ready\n"; { // nohup speaks first
		line, err = said.ReadString('\n')
		errortest.None(t, err)
	}
	return p, input, said
}
