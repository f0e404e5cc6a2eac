// Package checkout finds the source tree in which a developer's command or a test runs. No service uses it.
package checkout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// Root returns the checkout that the working directory is in: the nearest parent folder with a go.work.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("not inside a checkout of Belfry: no go.work here or above")
		}
		dir = parent
	}
}

// Build runs go build in the checkout: out is where the program goes, or the folder of the programs of several
// packages, ending in a slash. Arguments are flags and packages. The error has what go printed.
func Build(ctx context.Context, out string, arguments ...string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	return BuildIn(ctx, root, out, arguments...)
}

// BuildIn is Build in another folder of sources, such as that of another release.
func BuildIn(ctx context.Context, root, out string, arguments ...string) error {
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", append([]string{"build", "-o", out}, arguments...)...)
	build.Dir = root
	if printed, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", arguments[len(arguments)-1], err, printed)
	}
	return nil
}

// Folder is Root for a test, which fails without a checkout.
func Folder(t errortest.TB) string {
	t.Helper()
	root, err := Root()
	errortest.None(t, err)
	return root
}

// Read returns the text of a file of the checkout, named by its path in it, for a test: the test fails when there is
// none.
func Read(t errortest.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Folder(t), filepath.FromSlash(path)))
	errortest.None(t, err)
	return string(text)
}
