package demo

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
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

// dice is the only source of randomness. It uses the generator directly, whose algorithm is fixed; the methods of
// rand.Rand may draw otherwise in another Go release.
type dice struct {
	source *rand.PCG
}

// newDice returns a sequence of its own for each topic, so that a change of one topic does not affect the others.
func newDice(seed uint64, topic string) dice {
	h := fnv.New64a()
	h.Write([]byte(topic)) // never fails
	return dice{rand.NewPCG(seed, h.Sum64())}
}

// below returns 0 to n-1. The bias of the remainder does not matter for numbers this small.
func (d dice) below(n int) int { return int(d.source.Uint64() % uint64(n)) }

// chance is true once in n times.
func (d dice) chance(n int) bool { return d.below(n) == 0 }

func pick[T any](d dice, list []T) T { return list[d.below(len(list))] }

// shuffled is a copy in another order.
func shuffled[T any](d dice, list []T) []T {
	mixed := slices.Clone(list)
	for i := len(mixed) - 1; i > 0; i-- {
		j := d.below(i + 1)
		mixed[i], mixed[j] = mixed[j], mixed[i]
	}
	return mixed
}
