package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/belfry-schools/belfry/pkg/service/names"
)

// program is a command that gets an image of its own.
type program struct {
	name    string
	path    string // of its package, seen from the checkout
	title   string
	listens bool // on the ports of a service
}

// purposes say what each service is for.
var purposes = map[string]string{
	"identity": "users and sessions",
	"elements": "people, rooms, groups and calendars",
	"events":   "events, commitments and requests",
	"notes":    "notes on events",
	"console":  "pages for people",
}

func programs() []program {
	var all []program
	for _, name := range names.All() {
		all = append(all, program{name: name, path: "./services/" + name + "/cmd/" + name,
			title: "Belfry " + name + ": " + purposes[name], listens: true})
	}
	return append(all, program{name: "belfryctl", path: "./cmd/belfryctl",
		title: "belfryctl, the operators' command of Belfry"})
}

// compile builds the programs for a platform into a folder of its own below dir, and returns that folder. The
// binaries do not depend on the machine: no path, no C library, no setting of the user. The Go toolchain writes the
// commit into each.
func compile(ctx context.Context, o options, platform v1.Platform, dir string) (string, error) {
	folder := filepath.Join(dir, platform.Architecture)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	args := []string{"build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o",
		folder + string(filepath.Separator)}
	for _, p := range o.programs {
		args = append(args, p.path)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = o.checkout
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+platform.OS, "GOARCH="+platform.Architecture, "GOFLAGS=",
		"GOWORK=", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building for %s: %w\n%s", platform, err, strings.TrimSpace(string(said)))
	}
	return folder, nil
}
