package sealed_test

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/web/sealed"
)

// FuzzOpen holds that a Box opens what it has sealed for that context, and nothing else.
func FuzzOpen(f *testing.F) {
	b := sealed.New("a secret", "places")
	others := []sealed.Box{sealed.New("another", "places"), sealed.New("a secret", "tokens")}
	for _, text := range []string{"", "AQ", "....", b.Seal(nil, ""), b.Seal([]byte("text"), "of one") + "\n"} {
		f.Add(text, []byte(text), "of one")
	}
	f.Fuzz(func(t *testing.T, given string, text []byte, context string) {
		if opened, ok := b.Open(given, context); ok && b.Seal(opened, context) != given {
			t.Errorf("%q and %q are one text", given, b.Seal(opened, context))
		}
		if len(text) > 200 {
			return
		}
		made := b.Seal(text, context)
		if again, ok := b.Open(made, context); !ok || string(again) != string(text) || b.Seal(text, context) != made {
			t.Errorf("%q is sealed as %q, which is %q, %v", text, made, again, ok)
		}
		if _, ok := b.Open(made, context+" "); ok {
			t.Errorf("%q is opened for another context", made)
		}
		for _, other := range others {
			if _, ok := other.Open(made, context); ok {
				t.Errorf("another Box opens %q", made)
			}
		}
		for i := range made {
			forged := []byte(made)
			forged[i] ^= 1
			for _, wrong := range []string{string(forged), made[:i], made[:i] + "\n" + made[i:]} {
				if _, ok := b.Open(wrong, context); ok {
					t.Errorf("%q is opened, which was made of %q", wrong, made)
				}
			}
		}
	})
}
