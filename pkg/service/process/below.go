package process

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

// Below returns what the kernel says of the processes that descend from one, the oldest first. Those that have ended
// and were not waited for are among them, in state Z.
func Below(pid int) ([]procfs.ProcStat, error) {
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
	return descendants(stats, pid), nil
}

// Named reports whether a process's name begins with that of a program: the kernel keeps the first 15 bytes.
func Named(stat procfs.ProcStat, program string) bool {
	return program != "" && strings.HasPrefix(stat.Comm, program)
}

func descendants(stats map[int]procfs.ProcStat, above int) []procfs.ProcStat {
	var found []procfs.ProcStat
	for pid, stat := range stats {
		if isBelow(stats, pid, above) {
			found = append(found, stat)
		}
	}
	slices.SortFunc(found, func(a, b procfs.ProcStat) int {
		return cmp.Or(cmp.Compare(a.Starttime, b.Starttime), cmp.Compare(a.PID, b.PID))
	})
	return found
}

// isBelow reports whether a process descends from another. Processes come and go while they are read, so that their
// parents may form a ring.
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
