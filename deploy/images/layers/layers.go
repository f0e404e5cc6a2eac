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
	return layer(Kept, time.Unix(0, 0), []entry{
		{"etc/", 0o755, nil},
		{"etc/group", 0o644, []byte(groups)},
		{"etc/passwd", 0o644, []byte(users)},
		{"etc/ssl/", 0o755, nil},
		{"etc/ssl/certs/", 0o755, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, Authorities()},
		{"tmp/", 0o1777, nil},
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
	return layer(level, modified, []entry{{name, 0o755, text}})
}

// entry is a file of a layer, or a folder, whose name ends in a slash.
type entry struct {
	name string
	mode int64
	text []byte
}

// layer returns the layer of the entries. Root owns all files, so that a program can change none of them.
func layer(level int, modified time.Time, entries []entry) (v1.Layer, error) {
	var text bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&text, level)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(compressed)
	for _, e := range entries {
		header := tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.text)), ModTime: modified}
		if err := w.WriteHeader(&header); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.text); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(w.Close(), compressed.Close()); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
}
