package audit

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// FuzzParseActor holds that an actor that was read, written again, is read as the same, and that a header is one line.
func FuzzParseActor(f *testing.F) {
	for _, text := range []string{"", "{}", Actor{User: 1, Original: 2, From: "192.0.2.1", Request: "a"}.HeaderValue(),
		"null",
		`{"User":"1"}`, `{"From":"\u000d\u000a"}`, "[", `{"User":1e3}`, "{} x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ParseActor(text)
		if err != nil {
			return
		}
		written := a.HeaderValue()
		for _, c := range []byte(written) {
			valuetest.MustHold(t, c >= ' ', "%q is written as %q", text, written)
		}
		if again, err := ParseActor(written); err != nil || again != a {
			t.Fatalf("%q, written as %q: %+v, %v, before %+v", text, written, again, err, a)
		}
	})
}
