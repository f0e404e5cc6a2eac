// Package upload reads uploaded files for an import into memory: CSV files, a zip file of them, a workbook, or
// OneRoster files.
package upload

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/url"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/importer/load"
	"github.com/belfry-schools/belfry/pkg/importer/oneroster"
	"github.com/belfry-schools/belfry/pkg/importer/workbook"
)

// Files are sent together.
type Files []File

// File is one of them.
type File struct {
	Name string
	Text []byte
}

// Read reads the files of the field "files" of a form in the media type multipart/form-data, and its other fields.
func Read(form []byte, boundary string) (files Files, fields url.Values, err error) {
	fields = url.Values{}
	for parts := multipart.NewReader(bytes.NewReader(form), boundary); ; {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return files, fields, nil
		}
		if err != nil {
			return nil, nil, err
		}
		text, err := io.ReadAll(part)
		switch {
		case err != nil:
			return nil, nil, err
		case part.FormName() != "files":
			fields.Add(part.FormName(), string(text))
		case part.FileName() != "": // without files, browsers send one without a name
			files = append(files, File{part.FileName(), text})
		}
	}
}

// Digest is the same for the same names and contents in the same order.
func (f Files) Digest() []byte {
	sum := sha256.New()
	for _, file := range f {
		fmt.Fprintf(sum, "%q %d\n", file.Name, len(file.Text))
		sum.Write(file.Text)
	}
	return sum.Sum(nil)
}

// Open checks the files, which take at most that many bytes unpacked. Prune is that of the import. The error is a
// *csvfile.FaultsError where the files could be read.
func (f Files) Open(o bundle.Options, prune bool, unpacked int64) (load.Resolver, error) {
	first := f[0]
	if len(f) == 1 && workbook.IsWorkbook(first.Name) {
		b, err := bundle.OpenWorkbook(first.Text, unpacked, first.Name, o)
		return load.OfBundle(b, o.Zone), err
	}
	packed, err := first.Text, error(nil)
	if len(f) > 1 || !csvfile.IsArchive(first.Name) {
		if packed, err = f.pack(); err != nil {
			return nil, err
		}
	}
	found, err := csvfile.Archive(packed, unpacked, "*.csv")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", first.Name, err)
	}
	if oneroster.Is(found) {
		roster, err := oneroster.OpenFiles(found, first.Name, o.Zone)
		return roster.Resolver(oneroster.Options{Today: o.From.String(), Prune: prune}), err
	}
	b, err := bundle.OpenFiles(found, first.Name, o)
	return load.OfBundle(b, o.Zone), err
}

// pack puts the files into an archive.
func (f Files) pack() ([]byte, error) {
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for _, file := range f {
		entry, err := w.CreateHeader(&zip.FileHeader{Name: file.Name, Method: zip.Store})
		if err == nil {
			_, err = entry.Write(file.Text)
		}
		if err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return packed.Bytes(), err
}
