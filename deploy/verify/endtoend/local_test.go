package endtoend_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
)

const (
	// startTimeout bounds a start with stores of its own and the demo school, on a busy machine.
	startTimeout = 5 * time.Minute
	stopTimeout  = time.Minute
)

// localBinary builds the command behind make run, once.
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
	command   *exec.Cmd
	output    *output
	ended     chan error
}

// output keeps what a run prints and tells when it says where Belfry is.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
	url  chan string
}

func (o *output) follow(r io.Reader) {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		o.mu.Lock()
		o.text.WriteString(lines.Text() + "\n")
		o.mu.Unlock()
		if url, found := strings.CutPrefix(lines.Text(), "Belfry is at "); found {
			o.url <- url
		}
	}
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// newLocalCommand returns the command, not started, with a folder and an environment of its own: the stores of other tests are not its.
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

// startLocal returns once the run says where Belfry is, and ends it with the test.
func startLocal(t *testing.T, variables ...string) *localRun {
	t.Helper()
	r := &localRun{adminUUID: uuid.NewString(), output: &output{url: make(chan string, 1)}, ended: make(chan error, 1)}
	r.command = newLocalCommand(t, t.TempDir(), append(variables, "BOOTSTRAP_ADMIN_UUID="+r.adminUUID)...)
	reader, writer := io.Pipe()
	r.command.Stdout, r.command.Stderr = writer, writer
	go r.output.follow(reader)
	if err := r.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { r.ended <- r.command.Wait() }()
	t.Cleanup(func() { r.stop(t) })
	select {
	case r.url = <-r.output.url:
	case err := <-r.ended:
		r.ended <- err
		t.Fatalf("it ended: %v\n%s", err, r.output)
	case <-time.After(startTimeout):
		t.Fatalf("it does not start:\n%s", r.output)
	}
	return r
}

// stop ends the run as Ctrl-C does and fails the test when it is not in order.
func (r *localRun) stop(t *testing.T) {
	t.Helper()
	if err := r.command.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	select {
	case err := <-r.ended:
		if err != nil {
			t.Errorf("it did not end in order: %v\n%s", err, r.output)
		}
	case <-time.After(stopTimeout):
		t.Errorf("it does not end:\n%s", r.output)
		_ = r.command.Process.Kill()
	}
}

// failing runs the command to its end and returns what it said; it must fail.
func failing(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	select {
	case err := <-ended:
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() < 1 {
			t.Errorf("it ended with %v, want a non-zero exit", err)
		}
	case <-ctx.Done():
		_ = command.Process.Kill()
		t.Fatalf("it does not end:\n%s", out.String())
	}
	return out.String()
}
