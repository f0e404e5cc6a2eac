package problem

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is the rule of a text that people read, such as a title or a name. All services use it wherever such a text
// comes in, by creation, change, import or administration. The spaces around the text are the caller's to remove.
type Text struct {
	Most     int  // characters
	Required bool // it may not be empty
	Lines    bool // it may have line breaks and tabs
}

// Check adds what is wrong with a text to the faults of a field; a field that has one already is not checked.
func (r Text) Check(faults Fields, field, text string) {
	if len(faults[field]) > 0 {
		return
	}
	control := func(c rune) bool { return unicode.IsControl(c) && !(r.Lines && strings.ContainsRune("\n\r\t", c)) }
	switch {
	case !r.Required && strings.TrimSpace(text) == "" && !strings.ContainsFunc(text, control): // as if it were empty
	case text == "":
		faults.Add(field, Blank)
	case utf8.RuneCountInString(text) > r.Most:
		faults.Add(field, TooLong(r.Most))
	case strings.ContainsFunc(text, control):
		faults.Add(field, ControlCharacter)
	case !strings.ContainsFunc(text, visible):
		faults.Add(field, Invisible)
	}
}

// visible says whether a character is visible alone: no space, no mark on another one, and nothing that only says how
// the text around it is written. What Unicode has given no character yet counts, since it may be a new one.
func visible(c rune) bool {
	const blankBraille = '\u2800'
	return c != blankBraille && !unicode.In(c, unicode.Z, unicode.Cc, unicode.Cf, unicode.M,
		unicode.White_Space, unicode.Other_Default_Ignorable_Code_Point)
}
