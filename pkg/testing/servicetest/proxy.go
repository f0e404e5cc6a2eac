package servicetest

import (
	"context"
	"os/exec"
	"syscall"
	"testing"

	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/output"
)

// RunProxy runs a proxy before services until the test ends, and returns when it answers at its address.
func RunProxy(t testing.TB, command *exec.Cmd, address string) {
	t.Helper()
	var printed output.Buffer
	command.Stdout, command.Stderr = &printed, &printed
	program, err := process.Start(command)
	errortest.None(t, err)
	t.Cleanup(func() {
		if err := program.Stop(syscall.SIGTERM, stopTimeout); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("%s said:\n%s", command.Path, printed.String())
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	if err := program.Await(ctx, process.Serves("http://"+address+"/healthz")); err != nil {
		t.Fatalf("%s: %v\n%s", command.Path, err, printed.String())
	}
}
