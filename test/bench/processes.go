package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/prometheus/procfs"

	"github.com/belfry-schools/belfry/pkg/frontdoor"
	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/service/process"
)

// kinds are the names of processes in the table, by how their programs' names begin.
var kinds = []struct{ program, kind string }{
	{"identity", "identity"}, {"elements", "elements"}, {"events", "events"}, {"notes", "notes"},
	{"console", "console"}, {"local", "front door"}, {"postgres", databaseKind}, {"mongod", databaseKind},
	{"ferretdb", "engine"}, {"engine", "engine"}, {"redis", "Redis"},
}

const databaseKind = "database"

// each calls do for the processes below this one that have a kind.
func each(do func(kind string, stat procfs.ProcStat)) error {
	below, err := process.Below(os.Getpid())
	if err != nil {
		return err
	}
	for _, stat := range below {
		for _, k := range kinds {
			if process.Named(stat, k.program) {
				do(k.kind, stat)
				break
			}
		}
	}
	return nil
}

// ticks are those of the kernel's times in a second, on all of Linux's architectures.
const ticks = 100

// processorTime returns how many seconds of processor time each kind of process has used. The database has a process
// for each connection: those that have ended are counted by their parent.
func processorTime() (map[string]float64, error) {
	seconds := map[string]float64{}
	err := each(func(kind string, stat procfs.ProcStat) {
		seconds[kind] += stat.CPUTime()
		if kind == databaseKind {
			seconds[kind] += float64(stat.CUTime+stat.CSTime) / ticks
		}
	})
	return seconds, err
}

// used returns the processor time between two looks, by kind. A process that ended in between took its time with it, so
// a kind may have less, but never less than zero.
func used(before, after map[string]float64) map[string]float64 {
	between := map[string]float64{}
	for kind, seconds := range after {
		between[kind] = max(0, seconds-before[kind])
	}
	return between
}

// held is the memory of the processes of one kind, in bytes.
type held struct {
	resident int
	peak     int // the most since it started
}

// memory returns what each kind of process holds. The processes of the database share memory: each is counted with
// its part of what is shared, and without a peak.
func memory() (map[string]held, error) {
	all := map[string]held{}
	err := each(func(kind string, stat procfs.ProcStat) {
		p, err := procfs.NewProc(stat.PID)
		if err != nil { // it has ended
			return
		}
		m := all[kind]
		if kind == databaseKind {
			if maps, err := p.ProcSMapsRollup(); err == nil {
				m.resident += int(maps.Pss)
			}
		} else if status, err := p.NewStatus(); err == nil {
			m.resident += int(status.VmRSS)
			m.peak += int(status.VmHWM)
		}
		all[kind] = m
	})
	return all, err
}

// pids returns the processes of one kind.
func pids(kind string) ([]int, error) {
	var all []int
	err := each(func(k string, stat procfs.ProcStat) {
		if k == kind {
			all = append(all, stat.PID)
		}
	})
	return all, err
}

// kindNames returns the kinds in the order of the table.
func kindNames() []string {
	var names []string
	for _, k := range kinds {
		if !slices.Contains(names, k.kind) {
			names = append(names, k.kind)
		}
	}
	return names
}

const (
	starts       = 5 // of each service; the median counts
	startTimeout = time.Minute
)

// startTimes starts one more process of each service beside the running one, several times, and returns how long it
// took from exec to ready.
func startTimes(ctx context.Context) (map[string]time.Duration, error) {
	took := map[string]time.Duration{}
	for _, service := range names.All() {
		running, err := pids(service)
		if err != nil {
			return nil, err
		}
		if len(running) != 1 {
			return nil, fmt.Errorf("%d processes of %s", len(running), service)
		}
		var all []time.Duration
		for range starts {
			t, err := startTime(ctx, running[0])
			if err != nil {
				return nil, fmt.Errorf("start %s: %w", service, err)
			}
			all = append(all, t)
		}
		slices.Sort(all)
		took[service] = all[len(all)/2]
	}
	return took, nil
}

// startTime starts the program of a process with its environment but other addresses, and stops it when it is ready.
func startTime(ctx context.Context, like int) (time.Duration, error) {
	p, err := procfs.NewProc(like)
	if err != nil {
		return 0, err
	}
	program, err := p.Executable()
	if err != nil {
		return 0, err
	}
	environment, err := p.Environ()
	if err != nil {
		return 0, err
	}
	addresses, err := frontdoor.Addresses(3)
	if err != nil {
		return 0, err
	}
	command := exec.Command(program)
	command.Env = append(environment, "BELFRY_LISTEN="+addresses[0], "BELFRY_INTERNAL_LISTEN="+addresses[1],
		"BELFRY_HEALTH_LISTEN="+addresses[2])
	begun := time.Now()
	started, err := process.Start(command)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ready := process.Serves("http://" + addresses[2] + "/readyz")
	for !ready(ctx) {
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-started.Ended():
			err = started.Err()
		case <-time.After(time.Millisecond):
			continue
		}
		break
	}
	took := time.Since(begun)
	if stopErr := started.Stop(os.Interrupt, stopTimeout); err == nil {
		err = stopErr
	}
	return took, err
}
