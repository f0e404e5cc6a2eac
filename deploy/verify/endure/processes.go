package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"

	"github.com/prometheus/procfs"
)

// programs are the names of the processes of each part, as the kernel has them.
var programs = map[string]string{
	"identity": "identity", "elements": "elements", "events": "events", "notes": "notes", "front door": "frontdoor",
	"engine": "engine-", "database": "postgres", "mongod": "mongod", "Redis": "redis-server",
}

// processesOf returns the processes of a part below this one, the oldest first: of PostgreSQL that is the postmaster.
func processesOf(part string) ([]int, error) {
	all, err := procfs.AllProcs()
	if err != nil {
		return nil, err
	}
	stats := map[int]procfs.ProcStat{}
	for _, p := range all {
		if stat, err := p.Stat(); err == nil { // else it has ended
			stats[p.PID] = stat
		}
	}
	var found []procfs.ProcStat
	for pid, stat := range stats {
		if hasName(stat.Comm, programs[part]) && stat.State != "Z" && isBelow(stats, pid, os.Getpid()) {
			found = append(found, stat)
		}
	}
	slices.SortFunc(found, func(a, b procfs.ProcStat) int {
		return cmp.Or(cmp.Compare(a.Starttime, b.Starttime), cmp.Compare(a.PID, b.PID))
	})
	pids := make([]int, len(found))
	for i, stat := range found {
		pids[i] = stat.PID
	}
	return pids, nil
}

func hasName(comm, program string) bool {
	return program != "" && len(comm) >= len(program) && comm[:len(program)] == program
}

func isBelow(stats map[int]procfs.ProcStat, pid, above int) bool {
	for range stats {
		parent, found := stats[pid]
		if !found {
			return false
		}
		if pid = parent.PPID; pid == above {
			return true
		}
	}
	return false
}

// sendTo sends a signal to processes; those that have ended meanwhile are left out.
func sendTo(pids []int, s syscall.Signal) error {
	var faults []error
	for _, pid := range pids {
		if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
			faults = append(faults, fmt.Errorf("signal %d: %w", pid, err))
		}
	}
	return errors.Join(faults...)
}
