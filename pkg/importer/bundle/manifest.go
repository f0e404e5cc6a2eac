package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// Manifest is the file in which an export records what the folder holds, and whether it is complete.
const Manifest = "export.json"

// readManifest reports whether an export wrote the files at path. It returns an error for an incomplete export.
func readManifest(files fs.FS, path string) (exported bool, err error) {
	text, err := fs.ReadFile(files, Manifest)
	if errors.Is(err, fs.ErrNotExist) {
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
