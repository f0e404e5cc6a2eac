package oneroster

import (
	"archive/zip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxUnpacked bounds the bytes of a zip file's files.
const maxUnpacked = 1 << 30

// IsArchive reports whether a path is that of a zip file, by its name.
func IsArchive(path string) bool { return strings.EqualFold(filepath.Ext(path), ".zip") }

// openArchive reads a zip file: one that a school was given, or that Fetch made. Its CSV files are at its top, or in
// the only folder that has a manifest.
func openArchive(file io.ReaderAt, size int64) (fs.FS, error) {
	archive, err := zip.NewReader(file, size)
	if err != nil {
		return nil, err
	}
	unpacked := uint64(0)
	for _, f := range archive.File {
		if unpacked += f.UncompressedSize64; unpacked > maxUnpacked || f.UncompressedSize64 > maxUnpacked {
			return nil, fmt.Errorf("takes more than %d MiB unpacked; unpack it, and give the folder", maxUnpacked>>20)
		}
	}
	if _, err := fs.Stat(archive, manifest); err == nil {
		return archive, nil
	}
	if found, err := fs.Glob(archive, "*/"+manifest); err == nil && len(found) == 1 {
		return fs.Sub(archive, strings.TrimSuffix(found[0], "/"+manifest))
	}
	return archive, nil
}

// openFile opens a folder or a zip file; the closer may be nil.
func openFile(path string) (fs.FS, io.Closer, error) {
	if !IsArchive(path) {
		return os.DirFS(path), nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, file, err
	}
	files, err := openArchive(file, info.Size())
	return files, file, err
}
