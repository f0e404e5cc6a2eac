package demo

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// name draws a forename, the name that the person goes by if it is another, and a surname.
func name(d dice) (forename, knownAs, surname string) {
	forename, knownAs, _ = strings.Cut(pick(d, data.Forenames), "/")
	if knownAs != "" && !d.chance(2) {
		knownAs = ""
	}
	return forename, knownAs, pick(d, data.Surnames)
}

// withoutMarks are the letters that Unicode does not decompose.
var withoutMarks = strings.NewReplacer("ł", "l", "Ł", "L", "ø", "o", "Ø", "O", "ı", "i")

// ascii is a name in the letters a to z and A to Z.
func ascii(name string) string {
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) {
			return -1
		}
		return r
	}, norm.NFD.String(withoutMarks.Replace(name)))
}

// initials returns about three letters, unique in the school.
func initials(forename, surname string, taken map[string]bool) string {
	f, s := strings.ToUpper(ascii(forename)), strings.ToUpper(ascii(surname))
	for _, third := range s[1:] {
		if code := f[:1] + s[:1] + string(third); !taken[code] {
			taken[code] = true
			return code
		}
	}
	for n := 1; ; n++ {
		if code := fmt.Sprintf("%s%s%d", f[:1], s[:1], n); !taken[code] {
			taken[code] = true
			return code
		}
	}
}

// address returns a unique e-mail address in the school's domain, which is a reserved one.
func (s *school) address(forename, surname string) string {
	local := strings.ToLower(ascii(forename) + "." + ascii(surname))
	candidate := local
	for n := 2; s.addresses[candidate]; n++ {
		candidate = fmt.Sprintf("%s%d", local, n)
	}
	s.addresses[candidate] = true
	return candidate + "@" + s.domain
}
