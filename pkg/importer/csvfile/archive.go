package csvfile

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// MaxUnpacked bounds the bytes that the files of an archive take together.
const MaxUnpacked = 1 << 30

// IsArchive reports whether a path is that of a zip file, by its name.
func IsArchive(path string) bool { return strings.EqualFold(filepath.Ext(path), ".zip") }

// Folder returns the files at a path: of a folder or, read into memory, of a zip file, which Archive describes. Its
// errors name the path.
func Folder(path, pattern string) (fs.FS, error) {
	if !IsArchive(path) {
		_, err := os.ReadDir(path) // its error names the folder
		return os.DirFS(path), err
	}
	packed, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	files, err := Archive(packed, MaxUnpacked, pattern)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return files, nil
}

// Archive reads a zip file whose files take at most unpacked bytes. They are at its top, or in the only folder that has
// a file whose name matches the pattern.
func Archive(packed []byte, unpacked int64, pattern string) (fs.FS, error) {
	archive, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, err
	}
	left := uint64(unpacked)
	for _, f := range archive.File {
		if f.UncompressedSize64 > left {
			return nil, fmt.Errorf("takes more than %d MiB unpacked; unpack it, and give the folder", unpacked>>20)
		}
		left -= f.UncompressedSize64
	}
	if top, err := fs.Glob(archive, pattern); err == nil && len(top) > 0 {
		return archive, nil
	}
	found, err := fs.Glob(archive, "*/"+pattern)
	if err != nil {
		return nil, err
	}
	var folders []string
	for _, name := range found {
		// macOS adds a folder of its own.
		if folder := path.Dir(name); folder != "__MACOSX" && !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	if len(folders) == 1 {
		return fs.Sub(archive, folders[0])
	}
	return archive, nil
}
