// Package localrun starts the command of make run for tests and tools.
package localrun

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/output"
)

const (
	// startTimeout bounds a start with stores of its own and the demo school, compiling included, on a busy machine.
	startTimeout = 5 * time.Minute
	stopTimeout  = time.Minute
)

// Build builds the command at a path.
func Build(ctx context.Context, path string) error {
	return checkout.Build(ctx, path, "./deploy/local")
}

// Command returns the command of a binary that Build built, not started. It keeps data, logs and stores of its own in
// a folder, and listens on a free port; variables (NAME=value) are set in addition.
func Command(binary, folder string, variables ...string) *exec.Cmd {
	command := exec.Command(binary)
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name != "MONGODB_URI" && name != "REDIS_URL" {
			command.Env = append(command.Env, v)
		}
	}
	command.Env = append(append(command.Env, "LOCAL_DIR="+folder, "PORT=0"), variables...)
	return command
}

// Run is a run that is ready.
type Run struct {
	*process.Process
	URL    string         // of the front door
	Output *output.Buffer // all that it has printed
}

// Start starts a command that Build built, and returns once it has printed its address.
func Start(ctx context.Context, command *exec.Cmd) (*Run, error) {
	r := &Run{Output: &output.Buffer{}}
	command.Stdout, command.Stderr = r.Output, r.Output
	var err error
	if r.Process, err = process.Start(command); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := r.Await(ctx, func(context.Context) bool {
		r.URL = address(r.Output.String())
		return r.URL != ""
	}); err != nil {
		_ = r.Stop() // what matters is why it did not start
		return nil, fmt.Errorf("the local run does not start: %w\n%s", err, r.Output)
	}
	return r, nil
}

// Stop stops the run as Ctrl-C does. It returns an error when the run did not end in order.
func (r *Run) Stop() error {
	if err := r.Process.Stop(os.Interrupt, stopTimeout); err != nil {
		return err
	}
	if r.ExitCode() != 0 {
		return fmt.Errorf("the local run did not end in order: %w", r.Err())
	}
	return nil
}

// address returns the address in a run's output; "" until it is printed.
func address(printed string) string {
	for line := range strings.Lines(printed) {
		if url, found := strings.CutPrefix(line, "Belfry is at "); found && strings.HasSuffix(url, "\n") {
			return strings.TrimSpace(url)
		}
	}
	return ""
}
