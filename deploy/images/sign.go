package main

import (
	"bytes"
	"crypto"
	"encoding/base64"
	"errors"
	"fmt"
	"os"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
	"github.com/sigstore/sigstore/pkg/signature/payload"
)

// The form in which cosign keeps a signature beside an image in a registry.
const (
	signatureType       = "application/vnd.dev.cosign.simplesigning.v1+json"
	signatureAnnotation = "dev.cosignproject.cosign/signature"
)

const (
	keyVariable      = "BELFRY_SIGNING_KEY" // the key itself, in PEM
	passwordVariable = "COSIGN_PASSWORD"    // of a key that is encrypted, named as by cosign
)

// signerFrom returns a signer with the private key of a file, else of the environment; nil when neither has one. The
// key is of cosign, or any in PEM.
func signerFrom(file string) (signature.Signer, error) {
	text := []byte(os.Getenv(keyVariable))
	if file != "" {
		var err error
		if text, err = os.ReadFile(file); err != nil {
			return nil, fmt.Errorf("the key for signatures: %w", err)
		}
	}
	if len(text) == 0 {
		return nil, nil //nolint:nilnil // no key means no signatures
	}
	key, err := cryptoutils.UnmarshalPEMToPrivateKey(text, func(bool) ([]byte, error) {
		return []byte(os.Getenv(passwordVariable)), nil
	})
	if err != nil {
		return nil, errors.New("the key for signatures is not a private key in PEM, or " + passwordVariable +
			" is not its password")
	}
	return signature.LoadSigner(key, crypto.SHA256)
}

// sign returns an image that holds a signature of a digest, and the tag under which cosign looks for it.
func sign(signer signature.Signer, repository string, digest v1.Hash) (v1.Image, string, error) {
	signed, err := name.NewDigest(repository + "@" + digest.String())
	if err != nil {
		return nil, "", fmt.Errorf("%s cannot be signed: %w", repository, err)
	}
	text, err := payload.Cosign{Image: signed, ClaimedIdentity: repository}.MarshalJSON()
	if err != nil {
		return nil, "", err
	}
	raw, err := signer.SignMessage(bytes.NewReader(text))
	if err != nil {
		return nil, "", fmt.Errorf("sign %s: %w", repository, err)
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.Append(image, mutate.Addendum{
		Layer:       static.NewLayer(text, signatureType),
		Annotations: map[string]string{signatureAnnotation: base64.StdEncoding.EncodeToString(raw)},
	})
	return image, digest.Algorithm + "-" + digest.Hex + ".sig", err
}
