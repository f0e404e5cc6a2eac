package erasure

import (
	"bytes"
	"encoding/json"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Texts finds and replaces a person's names in texts. A name counts in any letter case and with any space between its
// words, when it is not part of another name: "Zoe Abbott" is in "Zoe  ABBOTT's lesson", and neither in "Zoe
// Abbotts" nor in "Zoe Abbott-Jones". It is found as HTML, JSON and Markdown write it, with any apostrophe and hyphen,
// and with letters of one character or with combining marks, too. It is safe for concurrent use.
type Texts struct {
	any     *regexp.Regexp   // nil: there is no name
	each    []*regexp.Regexp // the same names one by one, at the beginning of a text; longer ones first
	parts   [][]byte         // in small letters: a text without any of them has no name; nil: any text may have one
	instead string
}

// MostName bounds a name, in characters, in the texts that cut names: of a longer one the last is an ellipsis.
const MostName = 60

// NewTexts returns the Texts that replace the names, also as fact.OneLine cuts them to MostName, by another text.
func NewTexts(names []string, instead string) *Texts {
	names = slices.Clone(names)
	for _, name := range names {
		if runes := []rune(strings.Join(strings.Fields(name), " ")); len(runes) > MostName {
			names = append(names, string(runes[:MostName-1])+"…")
		}
	}
	t := &Texts{instead: instead, parts: partsOf(names)}
	var patterns []string
	// Longer names first, so that the whole of a name is replaced.
	longest := func(a, b string) int { return len(b) - len(a) }
	for _, name := range slices.SortedStableFunc(slices.Values(written(names)), longest) {
		words := strings.Fields(name)
		for i, w := range words {
			words[i] = patternOf(w)
		}
		if len(words) > 0 {
			pattern := strings.Join(words, `(?:[\s\x{a0}]|\\[fnrt])+`)
			patterns = append(patterns, pattern)
			t.each = append(t.each, regexp.MustCompile(`\A(?i)(?:`+pattern+`)`))
		}
	}
	if len(patterns) > 0 {
		t.any = regexp.MustCompile(`(?i)(?:` + strings.Join(patterns, "|") + `)`)
	}
	return t
}

const (
	apostrophes = "'\u2018\u2019\u02bc" // phones write ’ for '
	hyphens     = "-\u2010\u2011"
)

// alike replaces characters of a name by expressions that match all their forms.
var alike = strings.NewReplacer("'", "["+apostrophes+"]", "-", "["+hyphens+"]")

// patternOf matches a word of a name, with or without Markdown's backslashes before its punctuation.
func patternOf(word string) string {
	var b strings.Builder
	for _, r := range word {
		if r < utf8.RuneSelf && (unicode.IsPunct(r) || unicode.IsSymbol(r)) {
			b.WriteString(`\\?`)
		}
		b.WriteString(alike.Replace(regexp.QuoteMeta(string(r))))
	}
	return b.String()
}

// plain is a name with the usual apostrophes and hyphens.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(apostrophes, r):
			return '\''
		case strings.ContainsRune(hyphens, r):
			return '-'
		}
		return r
	}, name)
}

// Fold returns the form of a name that is the same for all that Texts takes for the same name.
func Fold(name string) string {
	return strings.ToLower(norm.NFC.String(plain(strings.Join(strings.Fields(name), " "))))
}

// partsOf returns the longest run of ASCII letters of each name, which is quick to find and the same in HTML and JSON;
// nil when a name has no such run.
func partsOf(names []string) (parts [][]byte) {
	const least = 3
	for _, name := range names {
		longest := ""
		for _, run := range strings.FieldsFunc(strings.ToLower(norm.NFC.String(name)), notSmall) {
			if len(run) > len(longest) {
				longest = run
			}
		}
		if len(longest) < least {
			return nil
		}
		parts = append(parts, []byte(longest))
	}
	slices.SortFunc(parts, bytes.Compare)
	return slices.CompactFunc(parts, bytes.Equal)
}

func notSmall(r rune) bool { return r < 'a' || r > 'z' }

// may says whether a text may have a name.
func (t *Texts) may(text []byte) bool {
	if t.any == nil || len(t.parts) == 0 {
		return t.any != nil
	}
	small := make([]byte, len(text))
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		small[i] = c
	}
	return slices.ContainsFunc(t.parts, func(part []byte) bool { return bytes.Contains(small, part) })
}

// written returns the forms of names, with combining marks and without, and in HTML and JSON.
func written(names []string) (all []string) {
	for _, name := range names {
		name = plain(name)
		for _, name := range []string{norm.NFC.String(name), norm.NFD.String(name)} {
			asJSON, _ := json.Marshal(name) // texts always encode
			all = append(all, name, html.EscapeString(name), strings.Trim(string(asJSON), `"`))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// In says whether a text, or the bytes of a document, names the person.
func (t *Texts) In(text []byte) bool {
	if !t.may(text) {
		return false
	}
	_, found := t.replace(string(text), false)
	return found
}

// Replace returns the text with all names replaced, and whether there was any.
func (t *Texts) Replace(text string) (string, bool) {
	if !t.may([]byte(text)) {
		return text, false
	}
	return t.replace(text, true)
}

// ReplaceKey is Replace for the import key of a record with that id. Two keys that differed only in the names still
// differ.
func (t *Texts) ReplaceKey(key string, id int64) (string, bool) {
	without, found := t.Replace(key)
	if !found {
		return key, false
	}
	return without + "-" + strconv.FormatInt(id, 10), true
}

func (t *Texts) replace(text string, all bool) (string, bool) {
	var b strings.Builder
	written, found := 0, false
	for at := 0; at < len(text); {
		place := t.any.FindStringIndex(text[at:])
		if place == nil {
			break
		}
		from := at + place[0]
		to, alone := t.end(text, from)
		if !alone {
			_, width := utf8.DecodeRuneInString(text[from:])
			at = from + width
			continue
		}
		if !all {
			return text, true
		}
		b.WriteString(text[written:from])
		b.WriteString(t.instead)
		written, at, found = to, to, true
	}
	if !found {
		return text, false
	}
	b.WriteString(text[written:])
	return b.String(), true
}

// end returns where the longest name that begins at a place and stands alone there ends.
func (t *Texts) end(text string, from int) (to int, found bool) {
	for _, name := range t.each {
		if place := name.FindStringIndex(text[from:]); place != nil && alone(text, from, from+place[1]) {
			return from + place[1], true
		}
	}
	return 0, false
}

// alone says whether a part of a text stands alone, outside longer words, double names and addresses.
func alone(text string, from, to int) bool {
	before := last(text[:from])
	after, width := utf8.DecodeRuneInString(text[to:])
	if joins(before) || joins(after) {
		return false
	}
	if strings.Contains(text[from:to], "@") { // zoe@school.example is not x.zoe@school.example, nor ...example.org
		next, _ := utf8.DecodeRuneInString(text[to+width:])
		return before != '.' && before != '_' && before != '+' && (after != '.' || !joins(next))
	}
	return true
}

// escape is how JSON may write the last character of a text.
var escape = regexp.MustCompile(`\\(?:[bfnrt]|u[0-9a-fA-F]{4})$`)

// last returns the last character of a text, also as JSON escapes it; for its short escapes a space.
func last(text string) rune {
	const longest = len(`\u003c`)
	code := escape.FindString(text[max(0, len(text)-longest):])
	until := strings.TrimSuffix(text, code)
	slashes := len(until) - len(strings.TrimRight(until, `\`))
	switch {
	case code == "" || slashes%2 > 0: // the backslash is escaped itself
		r, _ := utf8.DecodeLastRuneInString(text)
		return r
	case len(code) == longest:
		r, _ := strconv.ParseInt(code[2:], 16, 32) // it is of such digits
		return rune(r)
	}
	return ' '
}

func joins(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || strings.ContainsRune(hyphens, r)
}
