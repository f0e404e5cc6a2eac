package user

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/google/uuid"
)

// Limits of a uuid in characters. Shorter ones could be guessed.
const (
	minUUID = 16
	maxUUID = 255
)

// HashUUID is the form in which a uuid is stored and looked up: its SHA-256, in hexadecimal. A uuid has enough chance in it that
// neither salt nor a slow hash would add anything.
func HashUUID(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// CheckUUID says what is wrong with a uuid that somebody chose: it needs 16 to 255 printable ASCII characters without spaces. The error
// does not repeat it.
func CheckUUID(text string) error {
	if len(text) < minUUID || len(text) > maxUUID {
		return errors.New("must have 16 to 255 characters")
	}
	for _, b := range []byte(text) {
		if b <= ' ' || b > '~' {
			return errors.New("must be printable ASCII without spaces")
		}
	}
	return nil
}

// newUUID makes a random one (version 4, 122 bits of chance).
func newUUID() string { return uuid.NewString() }
