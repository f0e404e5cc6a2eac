package user

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// Limits of a uuid in characters. Shorter ones could be guessed.
const (
	minUUID = 16
	maxUUID = 255
)

// HashUUID is the form in which a uuid is stored and looked up: its SHA-256, in hexadecimal. A uuid is random
// enough that neither salt nor a slow hash would add anything.
func HashUUID(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// CheckUUID says what is wrong with a chosen uuid: it needs 16 to 255 printable ASCII characters without
// spaces. The error does not contain the uuid.
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

// newUUID returns a random uuid (version 4, 122 random bits).
func newUUID() string { return uuid.NewString() }
