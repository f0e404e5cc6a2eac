package rights

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// lines are the requirements of ASVS 5.0 that docs/asvs.md is about.
var lines = strings.Fields(`7.1.1 7.1.2 7.1.3 7.2.1 7.2.2 7.2.3 7.2.4 7.3.1 7.3.2 7.4.1 7.4.2 7.4.3 7.4.4 7.4.5 7.5.1
	7.5.2 7.5.3 7.6.1 7.6.2 8.1.1 8.1.2 8.1.3 8.1.4 8.2.1 8.2.2 8.2.3 8.2.4 8.3.1 8.3.2 8.3.3 8.4.1 8.4.2 4.1.1 4.1.2
	4.1.3 4.1.4 4.1.5 4.2.1 4.2.2 4.2.3 4.2.4 4.2.5 4.3.1 4.3.2 4.4.1 4.4.2 4.4.3 4.4.4`)

func TestASVS_EachLineHasATestThatExistsOrSaysWhyNot(t *testing.T) {
	root := checkout.Folder(t)
	tests := declared(t, root)
	row := regexp.MustCompile(`(?m)^\| (\d\.\d\.\d) \| ([^|]+) \| (yes|no|n/a|operator) \| ([^|]+) \|$`)
	named := regexp.MustCompile("`(Test\\w+)`")
	var listed []string
	for _, found := range row.FindAllStringSubmatch(checkout.Read(t, "docs/asvs.md"), -1) {
		listed = append(listed, found[1])
		shown := named.FindAllStringSubmatch(found[4], -1)
		if found[3] == "yes" && len(shown) == 0 {
			t.Errorf("%s: no test shows it", found[1])
		}
		for _, test := range shown {
			if !tests[test[1]] {
				t.Errorf("%s: there is no %s", found[1], test[1])
			}
		}
	}
	valuetest.List(t, listed, lines, "the page has the lines")
}

// declared returns the names of all tests of the checkout.
func declared(t *testing.T, root string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	form := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, folder := range []string{"cmd", "deploy", "pkg", "services", "test"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, found := range form.FindAllStringSubmatch(string(text), -1) {
				all[found[1]] = true
			}
			return err
		})
		errortest.None(t, err)
	}
	return all
}
