package main

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// writeArchive writes an image, or an index of images, as an OCI archive: the tar of an OCI layout, which containerd,
// Podman, skopeo and crane read. It uses the folder layoutDir. The archive is written completely or not at all.
func writeArchive(path, layoutDir string, content mutate.Appendable, reference, tag string) error {
	target, err := layout.Write(layoutDir, empty.Index)
	if err != nil {
		return err
	}
	names := map[string]string{"io.containerd.image.name": reference, "org.opencontainers.image.ref.name": tag}
	if index, ok := content.(v1.ImageIndex); ok {
		err = target.AppendIndex(index, layout.WithAnnotations(names))
	} else if image, ok := content.(v1.Image); ok {
		err = target.AppendImage(image, layout.WithAnnotations(names))
	}
	if err != nil {
		return err
	}
	half, err := os.Create(layoutDir + ".tar")
	if err != nil {
		return err
	}
	if err := errors.Join(tarFolder(half, layoutDir), half.Close()); err != nil {
		return err
	}
	return os.Rename(half.Name(), path)
}

// tarFolder writes the files of a folder in the order of their names, without owners, times and modes, which differ
// between machines.
func tarFolder(out io.Writer, folder string) error {
	w := tar.NewWriter(out)
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		err = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(name), Mode: 0o644,
			Size: int64(len(text)), ModTime: time.Unix(0, 0)})
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	return w.Close()
}
