package servicetest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/belfry-schools/belfry/pkg/frontdoor/fleet"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
)

// built has the paths of the programs that this process has built.
var built = struct {
	sync.Mutex
	paths map[string]bool
}{paths: map[string]bool{}}

// build builds the services in the checkout's .local folder, once per process, and returns that folder. Tests of
// several packages run at once, so a lock makes them build one after another; the later ones find the binaries up to
// date.
func build(ctx context.Context, root string, o Options) (dir string, err error) {
	var arguments []string
	dir = filepath.Join(root, ".local", "test-bin")
	if !o.NoRace && race {
		dir += "-race"
		arguments = append(arguments, "-race")
	}
	built.Lock()
	defer built.Unlock()
	var paths, services []string
	for _, service := range o.Services {
		if path := filepath.Join(dir, service); !built.paths[path] {
			paths = append(paths, path)
			services = append(services, service)
		}
	}
	if len(paths) == 0 {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }() // this also unlocks it
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	arguments = append(arguments, fleet.Packages(services)...)
	if err := checkout.Build(ctx, dir+string(filepath.Separator), arguments...); err != nil {
		return "", err
	}
	for _, path := range paths {
		built.paths[path] = true
	}
	return dir, nil
}
