// Package sealed makes texts that a client keeps for a deployment and can neither read nor change.
package sealed

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// encoding has one text for each run of bytes.
var encoding = base64.RawURLEncoding.Strict()

// longest is longer than any sealed text.
const longest = 4000

// Box seals texts, and opens those that it has sealed. It is safe for concurrent use.
type Box struct {
	aead cipher.AEAD
	key  []byte // for nonces
}

// New returns the Box of a deployment's secret for one purpose. It does not open texts sealed with another secret or
// for another purpose.
func New(secret, purpose string) Box {
	derive := func(use string) []byte {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(use + purpose))
		return mac.Sum(nil)
	}
	block, err := aes.NewCipher(derive("sealed, cipher: "))
	if err != nil {
		panic(err) // a key of 32 bytes has a cipher
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // and a cipher of 16 bytes this mode
	}
	return Box{aead, derive("sealed, nonce: ")}
}

// Seal returns a text encrypted, as characters that need no escape in an address. The same text with the same context
// is the same whenever it is sealed: the nonce follows from both, so that answers with the same content are equal.
func (b Box) Seal(text []byte, context string) string {
	nonce := b.nonce(text, context)
	return encoding.EncodeToString(b.aead.Seal(nonce, nonce, text, []byte(context)))
}

// Open returns the text that Seal was given with the same context; false for anything else.
func (b Box) Open(sealed, context string) ([]byte, bool) {
	if len(sealed) > longest {
		return nil, false
	}
	bytes, err := encoding.DecodeString(sealed)
	if n := b.aead.NonceSize(); err != nil || len(bytes) < n {
		return nil, false
	}
	nonce, rest := bytes[:b.aead.NonceSize()], bytes[b.aead.NonceSize():]
	text, err := b.aead.Open(nil, nonce, rest, []byte(context))
	if err != nil || b.Seal(text, context) != sealed { // a decoder passes over line breaks
		return nil, false
	}
	return text, true
}

func (b Box) nonce(text []byte, context string) []byte {
	mac := hmac.New(sha256.New, b.key)
	mac.Write(binary.AppendUvarint(nil, uint64(len(context))))
	mac.Write([]byte(context))
	mac.Write(text)
	return mac.Sum(nil)[:b.aead.NonceSize():b.aead.NonceSize()]
}
