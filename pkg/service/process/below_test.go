package process

import (
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestBelow_FindsAStartedProgramAndItsChild(t *testing.T) {
	p, err := Start(exec.Command("sh", "-c", "sleep 600 & wait"))
	errortest.None(t, err)
	t.Cleanup(func() { _ = p.KillGroup() })
	for end := time.Now().Add(time.Minute); ; time.Sleep(pollPause) {
		below, err := Below(os.Getpid())
		errortest.None(t, err)
		shell := slices.IndexFunc(below, func(s procfs.ProcStat) bool { return s.PID == p.PID() })
		sleep := slices.IndexFunc(below, func(s procfs.ProcStat) bool { return s.PPID == p.PID() && Named(s, "slee") })
		if shell >= 0 && sleep > shell {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the shell %d and its child are not in %+v", p.PID(), below)
		}
	}
	if below, err := Below(os.Getpid()); err != nil || slices.ContainsFunc(below, func(s procfs.ProcStat) bool {
		return s.PID == os.Getpid() || s.PID == syscall.Getppid()
	}) {
		t.Errorf("this process or its parent is below it: %v", err)
	}
}

func TestBelow_EndsWhereParentsFormARing(t *testing.T) {
	stats := map[int]procfs.ProcStat{
		10: {PPID: 1}, 11: {PPID: 10}, 12: {PPID: 11}, 20: {PPID: 1}, 30: {PPID: 31}, 31: {PPID: 30},
	}
	for pid, want := range map[int]bool{11: true, 12: true, 10: false, 20: false, 30: false, 99: false} {
		valuetest.Same(t, isBelow(stats, pid, 10), want, "process %d below 10", pid)
	}
}
