package apidoctest_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestNoBinaryHasTheChecker(t *testing.T) {
	root := checkout.Folder(t)
	commands, err := filepath.Glob(filepath.Join(root, "services", "*", "cmd", "*"))
	valuetest.MustHold(t, err == nil && len(commands) == 5, "%v: %v", commands, err)
	commands = append(commands, filepath.Join(root, "deploy", "local"), filepath.Join(root, "cmd", "belfryctl"))
	list := exec.CommandContext(t.Context(), "go", append([]string{"list", "-deps"}, commands...)...)
	list.Dir = root
	out, err := list.Output()
	errortest.None(t, err)
	for _, checker := range []string{"/apidoctest", "/kin-openapi/", "/jsonschema/"} {
		valuetest.Lacks(t, string(out), checker, "a binary has %s", checker)
	}
}
