package endtoend_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/deploy/local/localrun"
	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/output"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// failsWithin bounds a start that fails, on a busy machine.
const failsWithin = 5 * time.Minute

// localBinary builds the command of make run, once.
var localBinary = sync.OnceValues(func() (string, error) {
	root, err := checkout.Root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, ".local", "test-bin", "local")
	return path, localrun.Build(context.Background(), path)
})

// localRun is a run of make run, with a folder of its own.
type localRun struct {
	*localrun.Run
	adminUUID string
}

// newLocalCommand returns the command, not started, with a folder and an environment of its own, without the stores
// of other tests.
func newLocalCommand(t *testing.T, dir string, variables ...string) *exec.Cmd {
	t.Helper()
	binary, err := localBinary()
	errortest.None(t, err)
	command := localrun.Command(binary, dir, variables...)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	return command
}

// startLocal starts a run and returns once it has printed its address. The run ends with the test, which fails when it
// does not end in order.
func startLocal(t *testing.T, variables ...string) *localRun {
	t.Helper()
	admin := uuid.NewString()
	command := newLocalCommand(t, t.TempDir(), append(variables, "BOOTSTRAP_ADMIN_UUID="+admin)...)
	run, err := localrun.Start(t.Context(), command)
	errortest.None(t, err)
	t.Cleanup(func() {
		errortest.Report(t, run.Stop(), "%s", run.Output)
	})
	return &localRun{run, admin}
}

// TestLocal_AnOpenStreamDoesNotHoldItsEnd: the week of a browser follows what changes.
func TestLocal_AnOpenStreamDoesNotHoldItsEnd(t *testing.T) {
	t.Parallel()
	run := startLocal(t, "DEMO=0")
	admin := servicetest.NewClient(t, run.URL)
	admin.Get(t, "/api/login?uuid="+run.adminUUID).Want(t, 200, `{"status":"OK"}`)
	admin.Stream(t, "/api/changes/stream")
	errortest.None(t, run.Stop())
	valuetest.Lacks(t, run.Output.String(), "cut off")
}

// failing runs the command, which must fail, and returns its output.
func failing(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	var out output.Buffer
	command.Stdout, command.Stderr = &out, &out
	p, err := process.Start(command)
	errortest.None(t, err)
	select {
	case <-p.Ended():
	case <-time.After(failsWithin):
		t.Fatalf("it does not end: %v\n%s", p.Stop(syscall.SIGKILL, failsWithin), &out)
	}
	if code := p.ExitCode(); code < 1 || code >= 128 {
		t.Errorf("it ended with %v, want a non-zero exit", p.Err())
	}
	return out.String()
}
