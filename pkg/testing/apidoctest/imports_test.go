package apidoctest_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
)

func TestNoBinaryHasTheChecker(t *testing.T) {
	root, err := checkout.Root()
	if err != nil {
		t.Fatal(err)
	}
	commands, err := filepath.Glob(filepath.Join(root, "services", "*", "cmd", "*"))
	if err != nil || len(commands) != 5 {
		t.Fatalf("%v: %v", commands, err)
	}
	commands = append(commands, filepath.Join(root, "deploy", "local"),
		filepath.Join(root, "cmd", "belfryctl"))
	list := exec.CommandContext(t.Context(), "go", append([]string{"list", "-deps"}, commands...)...)
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, checker := range []string{"/apidoctest", "/kin-openapi/", "/jsonschema/"} {
		if strings.Contains(string(out), checker) {
			t.Errorf("a binary has %s", checker)
		}
	}
}
