package session

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// FuzzParseToken checks that exactly the values that newToken can make are accepted: there is one way to write 32
// bytes.
func FuzzParseToken(f *testing.F) {
	made := newToken().Reveal()
	for _, value := range []string{made, made[:42], made + "A", made + "=", strings.Repeat("A", 42) + "B", "\n" + made,
		made[:20] + "\r\n" + made[20:], ""} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		token, ok := ParseToken(value)
		raw, err := base64.RawURLEncoding.DecodeString(value)
		want := err == nil && len(raw) == 32 && base64.RawURLEncoding.EncodeToString(raw) == value
		valuetest.MustSame(t, ok, want, "%q", value)
		if ok && token.Reveal() != value {
			t.Fatalf("%q: became %q", value, token.Reveal())
		}
	})
}
