package element

import (
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

const (
	// longestGram is how many characters a gram has at most.
	longestGram = 3
	// needleGrams bounds the grams of a needle by which the store searches; Needle.In then looks at the whole name.
	needleGrams = 12
)

// Fold returns a text that is the same for texts which differ only in letter case, or in how accents are composed. It
// is Unicode's full case folding, in composed form.
func Fold(text string) string {
	caser := cases.Fold() // has state, so each call needs its own
	return norm.NFC.String(caser.String(norm.NFD.String(text)))
}

// Grams returns all runs of one, two and three characters of a folded name, each once. The store indexes them, so
// that it finds a part of a name without reading the names that lack it.
func Grams(name string) []string {
	runes := []rune(Fold(name))
	var grams []string
	for size := 1; size <= longestGram; size++ {
		grams = append(grams, runs(runes, size)...)
	}
	return distinct(grams)
}

// Needle is what a search by part of the name looks for.
type Needle struct {
	folded string
	// Grams are in every name that contains the needle; of a short needle it is the needle itself.
	Grams []string
}

// NewNeedle returns the needle of a text that is not empty.
func NewNeedle(text string) Needle {
	folded := Fold(text)
	runes := []rune(folded)
	grams := distinct(runs(runes, min(len(runes), longestGram)))
	return Needle{folded: folded, Grams: grams[:min(len(grams), needleGrams)]}
}

// In says whether the name contains the needle. Letter case does not count; no character has a special meaning.
func (n Needle) In(name string) bool { return strings.Contains(Fold(name), n.folded) }

func runs(runes []rune, size int) []string {
	var all []string
	for i := range len(runes) - size + 1 {
		all = append(all, string(runes[i:i+size]))
	}
	return all
}

func distinct(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}
