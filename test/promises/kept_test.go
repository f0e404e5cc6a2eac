package promises_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/service/release"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// major is the release's major version, within which the promises hold.
func major() string {
	number, _, _ := strings.Cut(release.Version(), ".")
	return number
}

// mustKeep compares lines with those of the file testdata/NAME-MAJOR.txt. Each of these must be there still. New ones
// must be added to the file, which UPDATE=1 does; it takes none away.
func mustKeep(t *testing.T, name string, lines []string) {
	t.Helper()
	file := filepath.Join("testdata", name+"-"+major()+".txt")
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	kept := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
	gone, added := compared(kept, lines)
	for _, line := range gone {
		t.Errorf("%s: within a major version it stays as it was released: %s", file, line)
	}
	if os.Getenv("UPDATE") == "" {
		for _, line := range added {
			t.Errorf("%s: UPDATE=1 adds it: %s", file, line)
		}
		return
	}
	all := append(kept, added...)
	slices.Sort(all)
	errortest.None(t, os.WriteFile(file, []byte(strings.Join(all, "\n")+"\n"), 0o600))
}

// compared returns which of the kept lines are gone, and which lines are new.
func compared(kept, lines []string) (gone, added []string) {
	gone = slices.DeleteFunc(slices.Clone(kept), func(line string) bool { return slices.Contains(lines, line) })
	added = slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(kept, line) })
	return gone, added
}
