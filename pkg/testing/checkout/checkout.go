// Package checkout finds the source tree in which a developer's command or a test runs. No service uses it.
package checkout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/frontdoor/routes"
	"github.com/belfry-schools/belfry/pkg/service/names"
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

// Routes reads the table of public paths of the checkout.
func Routes() (routes.Table, error) {
	root, err := Root()
	if err != nil {
		return routes.Table{}, err
	}
	text, err := os.ReadFile(filepath.Join(root, "charts", "belfry", "files", "routes.yaml"))
	if err != nil {
		return routes.Table{}, err
	}
	return routes.Parse(text)
}

var settingRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\|")

// Settings returns the variables that a service reads, from the table that the service itself writes. The test fails
// when the table does not have what all services need.
func Settings(t errortest.TB, service string) []string {
	t.Helper()
	var found []string
	for _, section := range strings.Split(Read(t, "docs/settings.md"), "\n## ") {
		title, body, _ := strings.Cut(section, "\n")
		keeps := title == "Services that keep data, besides" && service != names.Console
		if title != "All services" && !keeps && title != service+", besides" {
			continue
		}
		for _, row := range settingRow.FindAllStringSubmatch(body, -1) {
			found = append(found, row[1])
		}
	}
	needed := "MONGODB_URI"
	if service == names.Console {
		needed = "BELFRY_INTERNAL_TOKEN"
	}
	if !slices.Contains(found, needed) {
		t.Fatal("docs/settings.md gives", service, "the variables", found)
	}
	return found
}
