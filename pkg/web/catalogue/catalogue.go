// Package catalogue reads the texts of pages in each language, and picks the language that a browser accepts most.
package catalogue

import (
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/text/language"
)

// tags are the available languages; the first is the default.
var (
	tags    = []language.Tag{language.English, language.German}
	matcher = language.NewMatcher(tags)
)

// Catalogue has the texts of each language, in the order of tags.
type Catalogue []Texts

// Texts are those of one language.
type Texts struct {
	Language string // its name in HTML
	ByKey    map[string]string
}

// Read reads texts/LANGUAGE.txt of each language, which has lines "key = text", comments that begin with #, and empty
// lines. Any other line, and a repeated key, is an error.
func Read(files fs.FS) (Catalogue, error) {
	var all Catalogue
	for _, tag := range tags {
		t := Texts{Language: tag.String(), ByKey: map[string]string{}}
		source, err := fs.ReadFile(files, "texts/"+t.Language+".txt")
		if err != nil {
			return nil, fmt.Errorf("read the texts of pages: %w", err)
		}
		for line := range strings.Lines(string(source)) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			key, text, found := strings.Cut(line, " = ")
			if _, twice := t.ByKey[key]; !found || twice {
				return nil, fmt.Errorf("texts/%s.txt: the line %q", t.Language, line)
			}
			t.ByKey[key] = text
		}
		all = append(all, t)
	}
	return all, nil
}

// For returns the texts of the language that a header Accept-Language asks for most.
func (c Catalogue) For(accept string) Texts {
	asked, _, _ := language.ParseAcceptLanguage(accept) // an invalid header asks for nothing
	_, i, _ := matcher.Match(asked...)
	return c[i]
}
