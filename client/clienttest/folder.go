package clienttest

import (
	"os"
	"path/filepath"
	"testing"
)

// Folder writes files, by name, into a folder that goes when the test ends.
func Folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
