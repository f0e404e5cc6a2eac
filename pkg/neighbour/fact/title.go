package fact

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// A system note names other events by their ids alone: their titles are put into it when it is read, so that it never
// shows a title that has changed, or has become confidential.

// named is what TitleOf writes. A brace of any other text is escaped by PlainMarkdown.
var named = regexp.MustCompile(`\{([0-9]{1,18})\}`)

// TitleOf stands for the title of an event in the contents of a system note.
func TitleOf(eventID int64) string { return "{" + strconv.FormatInt(eventID, 10) + "}" }

// TitlesIn returns the ids of the events whose titles are to be put into the contents of a system note.
func TitlesIn(contents string) []int64 {
	var ids []int64
	for _, match := range named.FindAllStringSubmatch(contents, -1) {
		id, _ := strconv.ParseInt(match[1], 10, 64) // it has at most 18 digits
		ids = append(ids, id)
	}
	return ids
}

// WithTitles puts the titles of events into the contents of a system note.
func WithTitles(contents string, title func(eventID int64) string) string {
	return named.ReplaceAllStringFunc(contents, func(text string) string {
		return title(TitlesIn(text)[0])
	})
}

// OneLine makes a text that others wrote fit for one line: invisible characters become spaces, and it is cut to that
// many characters.
func OneLine(text string, most int) string {
	text = strings.Join(
		strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }),
		" ",
	)
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// PlainMarkdown makes a text of others' one line of Markdown that shows as it is: no character of it means anything.
func PlainMarkdown(text string, most int) string {
	var escaped strings.Builder
	for _, r := range OneLine(text, most) {
		// All of ASCII's punctuation may be escaped. The few that are left alone mean nothing where they can stand
		// here.
		if r < 0x80 && strings.ContainsRune("!\"#$%&*+./:;<=>?@[\\]^_`{|}~", r) {
			escaped.WriteByte('\\')
		}
		escaped.WriteRune(r)
	}
	return escaped.String()
}
