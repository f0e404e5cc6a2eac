package servicetest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// build builds the services in the checkout's .local folder and returns that folder. Tests of several packages run
// at once, so a lock lets one build at a time; the others find the binaries up to date.
func build(ctx context.Context, root string, o Options) (dir string, err error) {
	race := raceSuffix
	if o.NoRace {
		race = ""
	}
	dir = filepath.Join(root, ".local", "test-bin"+race)
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
	for _, service := range o.Services {
		arguments := []string{"build", "-o", filepath.Join(dir, service)}
		if race != "" {
			arguments = append(arguments, "-race")
		}
		command := exec.CommandContext(ctx, "go", append(arguments, "./services/"+service+"/cmd/"+service)...)
		command.Dir = root
		if out, err := command.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", service, err, out)
		}
	}
	return dir, nil
}
