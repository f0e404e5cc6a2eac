package checkout_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// TestDependencies_EachHasAReason compares docs/dependencies.md with the direct dependencies of all modules. A row
// covers the modules below its own.
func TestDependencies_EachHasAReason(t *testing.T) {
	root := checkout.Folder(t)
	path := regexp.MustCompile("`([^`/]+\\.[^`/]+/[^`]+)`")
	unused := map[string]bool{}
	for _, name := range path.FindAllStringSubmatch(checkout.Read(t, "docs/dependencies.md"), -1) {
		unused[name[1]] = true
	}
	listed := make([]string, 0, len(unused))
	for name := range unused {
		listed = append(listed, name)
	}
	direct := regexp.MustCompile(`(?m)^(?:\t|require |tool )([a-z][^ \n]*/[^ \n]+)(?: v[^ \n]+)?$`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != root && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if err != nil || d.Name() != "go.mod" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range direct.FindAllStringSubmatch(string(text), -1) {
			covered := strings.HasPrefix(found[1], "github.com/belfry-schools/")
			for _, name := range listed {
				if found[1] == name || strings.HasPrefix(found[1], name+"/") {
					covered = true
					delete(unused, name)
				}
			}
			if !covered {
				t.Errorf("%s of %s has no row in docs/dependencies.md", found[1], path)
			}
		}
		return err
	})
	errortest.None(t, err)
	for name := range unused {
		t.Errorf("docs/dependencies.md has a row for %s, which no module requires", name)
	}
}
