package element

import (
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

const (
	// maxHits bounds a search with namelike (contract part 8).
	maxHits = 100
	// longestGram is how many characters a gram has at most.
	longestGram = 3
	// needleGrams bounds how many grams of a needle the store is asked for; the rest is verified here anyway.
	needleGrams = 12
)

// Fold returns the text in which letter case does not matter, nor how accents are composed: Unicode's full case folding, in
// composed form.
func Fold(text string) string {
	return norm.NFC.String(cases.Fold().String(norm.NFD.String(text))) // a Caser has state: each use needs its own
}

// Grams returns all runs of one, two and three characters of a name, folded, each once: what the store indexes, so that a part of
// a name of any length is found without reading the names that lack it.
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
	// Grams are those that every name with the needle has: the needle itself when it is short.
	Grams []string
}

// NewNeedle makes a needle of a text that is not empty.
func NewNeedle(text string) Needle {
	folded := Fold(text)
	runes := []rune(folded)
	grams := distinct(runs(runes, min(len(runes), longestGram)))
	return Needle{folded: folded, Grams: grams[:min(len(grams), needleGrams)]}
}

// In says whether the name contains the needle, literally but for letter case.
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
