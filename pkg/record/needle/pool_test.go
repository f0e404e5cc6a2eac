package needle

import (
	"strings"
	"sync"
	"testing"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// TestFoldingKeepsNothingOfOtherTexts compares with a folding that was never used before, several at once.
func TestFoldingKeepsNothingOfOtherTexts(t *testing.T) {
	letters := rapid.StringOf(rapid.RuneFrom([]rune("aB %ßéÉİıσςΣ世👩\u0301\u0327\U0001d15e")))
	long := rapid.Map(letters, func(text string) string { return strings.Repeat(text+"é", 300) }) // above all buffers
	texts := rapid.OneOf(rapid.String(), letters, long, rapid.Map(rapid.SliceOf(rapid.Byte()),
		func(b []byte) string { return string(b) }))
	rapid.Check(t, func(t *rapid.T) {
		drawn := rapid.SliceOfN(texts, 1, 4).Draw(t, "texts")
		got := make([]string, len(drawn))
		var wg sync.WaitGroup
		for i, text := range drawn {
			wg.Go(func() { got[i] = Fold(text) })
		}
		wg.Wait()
		for i, text := range drawn {
			want, _, err := transform.String(transform.Chain(cases.Fold(), runes.Map(unicode.ToLower), norm.NFD,
				runes.Remove(runes.Predicate(accent)), norm.NFC), text)
			if err != nil || got[i] != want {
				t.Fatalf("%q: %q, not %q, %v", text, got[i], want, err)
			}
		}
	})
}
