package oneroster_test

import (
	"archive/zip"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/pkg/importer/csvfile/csvtest"
	"github.com/belfry-schools/belfry/pkg/importer/oneroster"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// archive writes a folder of the testdata as a zip file, whose files are in a folder.
func archive(t *testing.T, of, inside string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "Roster.ZIP")
	file, err := os.Create(path)
	errortest.None(t, err)
	w := zip.NewWriter(file)
	files := os.DirFS(filepath.Join("testdata", of))
	names, err := fs.Glob(files, "*.csv")
	errortest.None(t, err)
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		errortest.None(t, err)
		entry, err := w.Create(inside + name)
		errortest.None(t, err)
		errortest.None(t, errortest.Of(entry.Write(text)))
	}
	errortest.None(t, w.Close())
	errortest.None(t, file.Close())
	return path
}

// TestOneRoster_AZipFileIsTheSameAsItsFolder: wherever its files are.
func TestOneRoster_AZipFileIsTheSameAsItsFolder(t *testing.T) {
	for _, of := range []string{"1.1-bulk", "1.2-bulk"} {
		want := lines(t, roster(t, filepath.Join("testdata", of), newBelfry(), true))
		for _, inside := range []string{"", "roster/"} {
			if diff := cmp.Diff(want, lines(t, roster(t, archive(t, of, inside), newBelfry(), true))); diff != "" {
				t.Errorf("%s in %q: %s", of, inside, diff)
			}
		}
	}
}

// TestOneRoster_AZipFileThatCannotBeRead says so, and how large one may be.
func TestOneRoster_AZipFileThatCannotBeRead(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large.zip")
	file, err := os.Create(large)
	errortest.None(t, err)
	w := zip.NewWriter(file)
	errortest.None(t, errortest.Of(w.CreateRaw(&zip.FileHeader{Name: "users.csv", UncompressedSize64: 1<<30 + 1})))
	errortest.None(t, w.Close())
	errortest.None(t, file.Close())
	broken := filepath.Join(t.TempDir(), "broken.zip")
	errortest.None(t, os.WriteFile(broken, []byte("no zip"), 0o600))
	for path, want := range map[string]string{
		large:                          "large.zip: takes more than 1024 MiB unpacked; unpack it, and give the folder",
		broken:                         "broken.zip: zip: not a valid zip",
		archive(t, "1.1-bulk", "a/b/"): "holds no manifest.csv", filepath.Join(t.TempDir(), "x.zip"): "no such file",
	} {
		_, err := oneroster.Open(path, timetest.London(t))
		valuetest.Has(t, strings.Join(csvtest.Faults(err), ""), want, "%v", err)
	}
}
