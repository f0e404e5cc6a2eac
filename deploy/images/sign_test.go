package main

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
	"github.com/sigstore/sigstore/pkg/signature/payload"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// keys returns a new private key in PEM, encrypted when there is a password, and the verifier of its public key.
func keys(t *testing.T, password string) (private []byte, verifier signature.Verifier) {
	t.Helper()
	pass := cryptoutils.PassFunc(nil)
	if password != "" {
		pass = cryptoutils.StaticPasswordFunc([]byte(password))
	}
	private, public, err := cryptoutils.GeneratePEMEncodedECDSAKeyPair(elliptic.P256(), pass)
	errortest.None(t, err)
	block, _ := pem.Decode(public)
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	errortest.None(t, err)
	verifier, err = signature.LoadVerifier(key, crypto.SHA256)
	errortest.None(t, err)
	return private, verifier
}

// signed builds the archive of notes with a key, and returns the digest of its index, what its signature archive holds
// (payload and signature), and the tag of that.
func signed(t *testing.T, args ...string) (index v1.Hash, text, raw []byte, tag string) {
	t.Helper()
	out := t.TempDir()
	args = append([]string{"-out", out, "-only", "notes", "-platforms", "linux/amd64", "-version", "1.2.3", "-registry",
		"registry.test/belfry"}, args...)
	errortest.None(t, execute(root, command, args...))
	outer := func(archive string) v1.Descriptor {
		errortest.None(t, execute(out, "tar", "-xf", archive))
		index, err := layout.ImageIndexFromPath(out)
		errortest.None(t, err)
		manifest, err := index.IndexManifest()
		if err != nil || len(manifest.Manifests) != 1 {
			t.Fatal(manifest, err)
		}
		return manifest.Manifests[0]
	}
	index = outer("belfry-notes.tar").Digest
	d := outer("belfry-notes.sig.tar")
	path, err := layout.FromPath(out)
	errortest.None(t, err)
	image, err := path.Image(d.Digest)
	errortest.None(t, err)
	manifest, err := image.Manifest()
	if err != nil || len(manifest.Layers) != 1 || manifest.Layers[0].MediaType != signatureType {
		t.Fatal(manifest, err)
	}
	raw, err = base64.StdEncoding.DecodeString(manifest.Layers[0].Annotations[signatureAnnotation])
	errortest.None(t, err)
	blob, err := path.Blob(manifest.Layers[0].Digest)
	errortest.None(t, err)
	defer func() { _ = blob.Close() }()
	text, err = io.ReadAll(blob)
	errortest.None(t, err)
	return index, text, raw, d.Annotations["org.opencontainers.image.ref.name"]
}

// A signature by a key, from a file or the environment, plain or encrypted, verifies with its public key: the index of
// the image, under the tag where cosign looks. Another key, image or payload is not.
func TestHardToBreak_Watching_SignaturesAreVerified(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cosign.key")
	private, verifier := keys(t, "open sesame")
	errortest.None(t, os.WriteFile(file, private, 0o600))
	t.Setenv(passwordVariable, "open sesame")
	verify(t, verifier, "-sign-key", file)

	t.Setenv(passwordVariable, "")
	private, verifier = keys(t, "")
	t.Setenv(keyVariable, string(private))
	verify(t, verifier)
}

func verify(t *testing.T, verifier signature.Verifier, args ...string) {
	t.Helper()
	index, text, raw, tag := signed(t, args...)
	errortest.Report(t, verifier.VerifySignature(bytes.NewReader(raw), bytes.NewReader(text)), "not verified")
	var said payload.Cosign
	errortest.None(t, said.UnmarshalJSON(text))
	if said.Image.DigestStr() != index.String() || said.Image.Repository.Name() != "registry.test/belfry/belfry-notes" {
		t.Errorf("signed is %s, the image is %s", said.Image, index)
	}
	valuetest.Same(t, tag, "sha256-"+index.Hex+".sig", "tag")
	_, other := keys(t, "")
	errortest.Some(t, other.VerifySignature(bytes.NewReader(raw), bytes.NewReader(text)), "another key verifies it")
	errortest.Some(t, verifier.VerifySignature(bytes.NewReader(raw), bytes.NewReader(append(text, ' '))),
		"another payload is verified")
}

// A key that cannot be used ends the build, and the message has nothing of it.
func TestKeysThatCannotBeUsedAreRefused(t *testing.T) {
	private, _ := keys(t, "right")
	t.Setenv(passwordVariable, "wrong")
	for _, text := range []string{string(private), "no key"} {
		t.Setenv(keyVariable, text)
		_, err := parse(nil)
		valuetest.Holds(t, err != nil && !bytes.Contains([]byte(err.Error()), []byte("no key")), "%.20s: %v", text, err)
	}
	errortest.Some(t, errortest.Of(parse([]string{"-sign-key", filepath.Join(t.TempDir(), "missing")})),
		"a missing file is accepted")
}
