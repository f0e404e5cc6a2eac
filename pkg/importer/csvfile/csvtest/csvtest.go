// Package csvtest reads cases of tables with faults.
package csvtest

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// Case is files, by name, and the faults that they have.
type Case struct {
	Name   string
	Files  map[string]string
	Faults []string
}

// Read reads the cases of a text file. Each is "=== name", its files, each "--- file" and a text, and "--- faults", one
// to a line.
func Read(t testing.TB, path string) (all []Case) {
	t.Helper()
	text, err := os.ReadFile(path)
	errortest.None(t, err)
	for _, part := range strings.Split(string(text), "\n=== ")[1:] {
		files := strings.Split(part, "\n--- ")
		c := Case{Name: files[0], Files: map[string]string{}}
		for _, file := range files[1 : len(files)-1] {
			name, text, found := strings.Cut(file, "\n")
			if found {
				text += "\n"
			}
			c.Files[name] = text
		}
		if _, faults, _ := strings.Cut(strings.TrimSpace(files[len(files)-1]), "\n"); faults != "" {
			c.Faults = strings.Split(faults, "\n")
		}
		all = append(all, c)
	}
	return all
}

// Faults lists the faults of an error as they are printed, or the error itself.
func Faults(err error) (lines []string) {
	if err == nil {
		return nil
	}
	faults, ok := errors.AsType[*csvfile.FaultsError](err)
	if !ok {
		return []string{err.Error()}
	}
	for _, f := range faults.First {
		lines = append(lines, f.String())
	}
	return lines
}
