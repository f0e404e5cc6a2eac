package main

import (
	"cmp"
	"maps"
	"os"
	"slices"

	"github.com/belfry-schools/belfry/pkg/process"
)

// usage is what the processes of one kind have used.
type usage struct {
	seconds  float64 // of processor time since they started
	resident int     // bytes
}

// kinds are the names of processes in the table, by how their programs' names begin.
var kinds = []struct{ program, kind string }{
	{"identity", "identity"}, {"elements", "elements"}, {"events", "events"}, {"notes", "notes"},
	{"local", "front door"}, {"postgres", "database"}, {"mongod", "database"}, {"ferretdb", "engine"},
	{"engine", "engine"}, {"redis", "Redis"},
}

// usages returns what each kind of process below this one has used. The memory of the database's processes is shared,
// and counted in each.
func usages() (map[string]usage, error) {
	below, err := process.Below(os.Getpid())
	if err != nil {
		return nil, err
	}
	used := map[string]usage{}
	for _, stat := range below {
		for _, k := range kinds {
			if process.Named(stat, k.program) {
				u := used[k.kind]
				u.seconds += stat.CPUTime()
				u.resident += stat.ResidentMemory()
				used[k.kind] = u
				break
			}
		}
	}
	return used, nil
}

// used returns the processor time between two looks, by kind. A process that ended in between took its time with it:
// a kind has less then, but never less than none.
func used(before, after map[string]usage) map[string]float64 {
	between := map[string]float64{}
	for kind, u := range after {
		between[kind] = max(0, u.seconds-before[kind].seconds)
	}
	return between
}

// kindNames returns the kinds in the order of the table.
func kindNames() []string {
	names := map[string]int{}
	for i, k := range kinds {
		if _, found := names[k.kind]; !found {
			names[k.kind] = i
		}
	}
	return slices.SortedFunc(maps.Keys(names), func(a, b string) int { return cmp.Compare(names[a], names[b]) })
}
