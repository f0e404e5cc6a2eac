package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// unpack writes the files of a tar below dir. Each is written beside its place and then renamed, so a program that runs from it goes on, and whoever
// starts it gets all of it.
func unpack(dir string, in io.Reader) error {
	for r := tar.NewReader(in); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		path := filepath.Join(dir, header.Name)
		switch header.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, 0o755)
		case tar.TypeReg:
			err = writeWhole(path, r, header.FileInfo().Mode().Perm())
		default:
			err = fmt.Errorf("%s is neither a file nor a folder", header.Name)
		}
		if err != nil {
			return err
		}
	}
}

func writeWhole(path string, text io.Reader, mode os.FileMode) (err error) {
	half, err := os.CreateTemp(filepath.Dir(path), ".half-")
	if err != nil {
		return err
	}
	_, err = io.Copy(half, text)
	if err = errors.Join(err, half.Chmod(mode), half.Close()); err == nil {
		err = os.Rename(half.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(half.Name()))
	}
	return nil
}
