package endtoend_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// walkGenerated makes a client of the run's own document by oapi-codegen, in a module of its own as
// another program would be, and takes the README's walk with it. Nothing of the document is changed before. go.mod
// there pins the generator.
func walkGenerated(t *testing.T, run *localRun) {
	t.Helper()
	dir := t.TempDir()
	errortest.None(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "generated"))))
	document := servicetest.NewClient(t, run.URL).Get(t, "/api/openapi.json").Must(t, 200).Body
	errortest.None(t, os.WriteFile(filepath.Join(dir, "openapi.json"), []byte(document), 0o600))
	errortest.None(t, os.Mkdir(filepath.Join(dir, "api"), 0o700))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute) // the first time, Go builds the generator
	defer cancel()
	command := func(name string, arguments ...string) string {
		c := exec.CommandContext(ctx, name, arguments...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GOWORK=off", "BELFRY="+run.URL)
		for _, user := range []string{"TEACHER", "SCRIPT"} {
			uuid := regexp.MustCompile(user + `=(\S+)`).FindStringSubmatch(checkout.Read(t, "docs/tutorial.md"))
			c.Env = append(c.Env, user+"="+uuid[1])
		}
		var faults strings.Builder
		c.Stderr = &faults
		out, err := c.Output()
		errortest.None(t, err, "%s\n%s%s", name, out, &faults)
		return string(out)
	}
	command("go", "tool", "oapi-codegen", "-generate", "types,client", "-package", "api", "-o", "api/api.go",
		"openapi.json")
	command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", "walk", ".")
	want := checkout.Read(t, "test/endtoend/testdata/generated/prints.txt") // `make generators` reads it too
	valuetest.Same(t, command(filepath.Join(dir, "walk")), want, "the walk prints")
}
