package endtoend_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/process"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/output"
)

const (
	// startTimeout bounds a start with stores of its own and the demo school, on a busy machine.
	startTimeout = 5 * time.Minute
	stopTimeout  = time.Minute
)

// localBinary builds the command of make run, once.
var localBinary = sync.OnceValues(func() (string, error) {
	root, err := checkout.Root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, ".local", "test-bin", "local")
	build := exec.Command("go", "build", "-o", path, "./deploy/dev/local")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build deploy/dev/local: %w\n%s", err, out)
	}
	return path, nil
})

// localRun is a run of make run, with a folder of its own.
type localRun struct {
	url       string
	adminUUID string
	process   *process.Process
	output    *output.Buffer
}

// urlOf returns the address in what a run has printed; "" before it is there.
func urlOf(printed string) string {
	for line := range strings.Lines(printed) {
		if url, found := strings.CutPrefix(line, "Belfry is at "); found && strings.HasSuffix(url, "\n") {
			return strings.TrimSpace(url)
		}
	}
	return ""
}

// newLocalCommand returns the command, not started, with a folder and an environment of its own, without the stores
// of other tests.
func newLocalCommand(t *testing.T, dir string, variables ...string) *exec.Cmd {
	t.Helper()
	binary, err := localBinary()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(binary)
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name != "MONGODB_URI" && name != "REDIS_URL" {
			command.Env = append(command.Env, v)
		}
	}
	command.Env = append(append(command.Env, "LOCAL_DIR="+dir, "PORT=0"), variables...)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	return command
}

// startLocal starts a run and returns once it has printed its address. The run ends with the test.
func startLocal(t *testing.T, variables ...string) *localRun {
	t.Helper()
	r := &localRun{adminUUID: uuid.NewString(), output: &output.Buffer{}}
	command := newLocalCommand(t, t.TempDir(), append(variables, "BOOTSTRAP_ADMIN_UUID="+r.adminUUID)...)
	command.Stdout, command.Stderr = r.output, r.output
	var err error
	if r.process, err = process.Start(command); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.stop(t) })
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	if err := r.process.Await(ctx, func(context.Context) bool { return urlOf(r.output.String()) != "" }); err != nil {
		t.Fatalf("it does not start: %v\n%s", err, r.output)
	}
	r.url = urlOf(r.output.String())
	return r
}

// stop stops the run as Ctrl-C does, and fails the test when the run does not end in order.
func (r *localRun) stop(t *testing.T) {
	t.Helper()
	if err := r.process.Stop(os.Interrupt, stopTimeout); err != nil || r.process.ExitCode() != 0 {
		t.Errorf("it did not end in order: %v, %v\n%s", err, r.process.Err(), r.output)
	}
}

// failing runs the command, which must fail, and returns its output.
func failing(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	var out output.Buffer
	command.Stdout, command.Stderr = &out, &out
	p, err := process.Start(command)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Ended():
	case <-time.After(startTimeout):
		t.Fatalf("it does not end: %v\n%s", p.Stop(syscall.SIGKILL, stopTimeout), &out)
	}
	if code := p.ExitCode(); code < 1 || code >= 128 {
		t.Errorf("it ended with %v, want a non-zero exit", p.Err())
	}
	return out.String()
}
