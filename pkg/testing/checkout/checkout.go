// Package checkout finds the source tree in which a developer's command or a test runs. No service uses it.
package checkout

import (
	"errors"
	"os"
	"path/filepath"
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
