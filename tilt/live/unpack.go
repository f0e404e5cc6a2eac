package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// unpack writes the files of a tar below dir, and nowhere else. Each is written under a temporary name and then
// renamed, so that a running program is not disturbed and a new one is started whole.
func unpack(dir string, in io.Reader) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for r := tar.NewReader(in); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		path := strings.Trim(header.Name, "/")
		switch header.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(path, 0o755)
		case tar.TypeReg:
			err = writeWhole(root, path, r, header.FileInfo().Mode().Perm())
		default:
			err = fmt.Errorf("%s is neither a file nor a folder", header.Name)
		}
		if err != nil {
			return err
		}
	}
}

func writeWhole(root *os.Root, path string, text io.Reader, mode os.FileMode) (err error) {
	half, err := root.OpenFile(path+".half", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(half, text)
	if err = errors.Join(err, half.Chmod(mode), half.Close()); err == nil {
		err = root.Rename(path+".half", path)
	}
	if err != nil {
		return errors.Join(err, root.Remove(path+".half"))
	}
	return nil
}
