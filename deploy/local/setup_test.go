package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// As root, make run did not start where apt had no network, for want of curl and jq.
func TestSetup_ARunNeedsNoAptNetwork(t *testing.T) {
	programs := t.TempDir()
	for name, script := range map[string]string{
		"dirname": `exec /usr/bin/dirname "$@"`, "id": "echo 0", "go": "exit 0", "apt-get": "exit 100",
	} {
		text := "#!/bin/sh\n" + script + "\n"
		errortest.None(t, os.WriteFile(filepath.Join(programs, name), []byte(text), 0o755))
	}
	for argument, goesOn := range map[string]bool{"run": true, "": false} {
		setup := exec.Command("/bin/bash", filepath.Join(checkout.Folder(t), ".ci", "setup"), argument)
		setup.Env = []string{"PATH=" + programs}
		printed, err := setup.CombinedOutput()
		valuetest.Same(t, err == nil, goesOn, "%q: %v, %s", argument, err, printed)
		if goesOn {
			valuetest.Has(t, string(printed), "need curl jq; Belfry itself runs without")
		}
	}
}
