// Package layers makes the layers of container images: the ground layer that all images of Belfry share, and
// programs.
package layers

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/gzip"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// User is the programs' user, as a number: Kubernetes cannot see that a name is not root's.
const User = "65532:65532"

const users = "root:x:0:0:root:/:/sbin/nologin\nbelfry:x:65532:65532:Belfry:/tmp:/sbin/nologin\n"

const groups = "root:x:0:\nbelfry:x:65532:\n"

// The levels of gzip for images that are kept, and for those that are loaded at once. Kept is not gzip's best, which
// takes most of a build's time and saves hardly a byte.
const (
	Kept   = 8
	Loaded = gzip.NoCompression
)

// Ground has what a program may need of a system. It changes only with the certificate authorities, so a node stores
// one for all images. Time zones are not in it: the programs embed them.
func Ground() (v1.Layer, error) {
	never := time.Unix(0, 0)
	return layer(Kept, func(w *tar.Writer) error {
		for _, f := range []struct {
			header tar.Header
			text   []byte
		}{
			{header: tar.Header{Typeflag: tar.TypeDir, Name: "etc/", Mode: 0o755}},
			{header: tar.Header{Typeflag: tar.TypeReg, Name: "etc/group", Mode: 0o644}, text: []byte(groups)},
			{header: tar.Header{Typeflag: tar.TypeReg, Name: "etc/passwd", Mode: 0o644}, text: []byte(users)},
			{header: tar.Header{Typeflag: tar.TypeDir, Name: "etc/ssl/", Mode: 0o755}},
			{header: tar.Header{Typeflag: tar.TypeDir, Name: "etc/ssl/certs/", Mode: 0o755}},
			{header: tar.Header{Typeflag: tar.TypeReg, Name: "etc/ssl/certs/ca-certificates.crt", Mode: 0o644},
				text: Authorities()},
			{header: tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}},
		} {
			f.header.ModTime, f.header.Size = never, int64(len(f.text))
			if err := w.WriteHeader(&f.header); err != nil {
				return err
			}
			if _, err := w.Write(f.text); err != nil {
				return err
			}
		}
		return nil
	})
}

// Authorities are the certificate authorities that Mozilla trusts, for webhooks and mail over TLS. Those that it
// trusts only in part are left out, because a certificate file cannot express that.
func Authorities() []byte {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			text.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return text.Bytes()
}

// Program returns a layer with one program, at the root, under a name. Level is Kept or Loaded.
func Program(name, binary string, modified time.Time, level int) (v1.Layer, error) {
	text, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	return layer(level, func(w *tar.Writer) error {
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: int64(len(text)),
			ModTime: modified})
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
}

// layer returns the layer of the tar that write makes. Root owns all files, so that a program can change none of
// them.
func layer(level int, write func(*tar.Writer) error) (v1.Layer, error) {
	var text bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&text, level)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(compressed)
	if err := write(w); err != nil {
		return nil, err
	}
	if err := errors.Join(w.Close(), compressed.Close()); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
}
