package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/belfry-schools/belfry/pkg/service/process"
)

// programs are the names of the processes of each part, as the kernel has them.
var programs = map[string]string{
	"identity": "identity", "elements": "elements", "events": "events", "notes": "notes", "front door": "frontdoor",
	"engine": "engine-", "database": "postgres", "mongod": "mongod", "Redis": "redis-server",
}

// processesOf returns the processes of a part below this one, the oldest first: of PostgreSQL that is the postmaster.
func processesOf(part string) ([]int, error) {
	below, err := process.Below(os.Getpid())
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, stat := range below {
		if process.Named(stat, programs[part]) && stat.State != "Z" {
			pids = append(pids, stat.PID)
		}
	}
	return pids, nil
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
