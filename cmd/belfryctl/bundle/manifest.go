package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Manifest is the file in which an export records what the folder holds, and whether it is complete.
const Manifest = "export.json"

// readManifest reports whether an export wrote the folder. It returns an error for an incomplete export.
func readManifest(path string) (exported bool, err error) {
	text, err := os.ReadFile(filepath.Join(path, Manifest))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	var manifest struct{ Whole bool }
	if err == nil {
		err = json.Unmarshal(text, &manifest)
	}
	if err != nil {
		return false, fmt.Errorf("reading the bundle: %s: %w", Manifest, err)
	}
	if !manifest.Whole {
		return false, fmt.Errorf("reading the bundle: %s is an export that was interrupted; belfryctl export with the "+
			"same flags goes on with it", path)
	}
	return true, nil
}
