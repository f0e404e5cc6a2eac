// Package needle finds a part of a text, ignoring letter case and accents: it folds both, chooses the runs of
// characters by which a store finds texts that may have the part, and says whether one does.
package needle

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
)

// Gram is the most characters of a gram.
const Gram = 3

// Fold returns a text that is the same for texts which differ only in letter case or in accents. It is Unicode's full
// case folding, in lower case, without combining marks, in composed form. Marks that one script alone has, such as the
// vowels of Thai, are letters of it and stay.
func Fold(text string) string {
	if ascii(text) {
		return strings.ToLower(text)
	}
	folding := foldings.Get().(transform.Transformer)
	defer foldings.Put(folding)
	folded, _, err := transform.String(folding, text) // resets it first
	if err != nil {                                   // none of these refuses a text
		return text
	}
	return folded
}

// foldings are kept: each has state, so that one call alone may use it, and buffers of kilobytes. Folding may make a
// mark: of İ it is i and a dot. Of the two cases of Cherokee letters the library makes one the other.
var foldings = sync.Pool{New: func() any {
	return transform.Chain(cases.Fold(), runes.Map(unicode.ToLower), norm.NFD,
		runes.Remove(runes.Predicate(accent)), norm.NFC)
}}

// ascii says whether a text has ASCII characters alone, which have no accents and one lower case.
func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func accent(r rune) bool { return unicode.Is(unicode.Mn, r) && unicode.Is(unicode.Inherited, r) }

// Grams returns all runs of shortest to three characters of a text, folded, each once. A store indexes them, so that it
// finds a part of a text without reading the texts that lack it.
func Grams(text string, shortest int) []string {
	characters := []rune(Fold(text))
	var grams []string
	for size := shortest; size <= Gram; size++ {
		grams = append(grams, runs(characters, size)...)
	}
	return distinct(grams)
}

// Needle is a part that is looked for in texts. The zero Needle is in every text.
type Needle struct{ folded string }

// New returns the needle of a text.
func New(text string) Needle { return Needle{Fold(text)} }

// Length is how many characters it has, folded.
func (n Needle) Length() int { return len([]rune(n.folded)) }

// Grams returns at most that many grams, each once, that every text with the needle has: runs of three characters,
// evenly spread over the needle, or a shorter needle itself. The empty needle has none.
func (n Needle) Grams(most int) []string {
	characters := []rune(n.folded)
	if len(characters) == 0 {
		return nil
	}
	all := runs(characters, min(len(characters), Gram))
	if len(all) <= most {
		return distinct(all)
	}
	chosen := make([]string, most)
	for i := range chosen {
		chosen[i] = all[i*(len(all)-1)/max(most-1, 1)]
	}
	return distinct(chosen)
}

// In says whether the text contains the needle. No character has a special meaning.
func (n Needle) In(text string) bool { return n.folded == "" || n.InFolded(Fold(text)) }

// InFolded is In of a text that Fold returned.
func (n Needle) InFolded(folded string) bool { return strings.Contains(folded, n.folded) }

func runs(characters []rune, size int) []string {
	var all []string
	for i := range len(characters) - size + 1 {
		all = append(all, string(characters[i:i+size]))
	}
	return all
}

func distinct(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}
