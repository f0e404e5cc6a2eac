package demo

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// data is what a school is made of. Another order of a list gives other schools for the same seeds.
var data = func() (d struct {
	Forenames                          []string // a few with a short form that the person may go by, after a slash
	Surnames, Titles, Houses, Services []string
	Schools                            []string // the names of several
	Subjects                           []subject
	Clock                              [periods][2]string // the start and the end of each period
	Curriculum                         []struct {
		Last   int // form
		Blocks []block
	}
	Categories []category
	Places     [][2]string          // name and short name; the constants hall and so on are their indexes
	Suites     map[string][2]string // of teaching rooms, the beginnings of their names and short names

	Clubs, Instruments, Ensembles, Opponents, Destinations, Evenings, Deadlines, Talks, Papers, Homework []string
	Seasons                                                                                              [][]string
}) {
	if err := json.Unmarshal(schoolJSON, &d); err != nil {
		panic(err) // it is part of the program
	}
	return d
}()

//go:embed school.json
var schoolJSON []byte

// subject is what is taught, by which department, in which suite of rooms.
type subject struct{ Code, Name, Department, Suite string }

func subjectOf(code string) subject {
	for _, s := range data.Subjects {
		if s.Code == code {
			return s
		}
	}
	return subject{}
}

// block is a part of a year group's week in which all its pupils are taught at the same time, in parallel sets. The
// blocks of a year group never share a period, and a pupil has one set in each block, so no pupil is double-booked.
type block struct {
	Letter   string   // of an option block, "" for a subject that all take
	Subjects []string // the codes of the sets, over and over
	Periods  int      // a week
	Largest  int      // set
}

// A week has 5 days of 6 periods. Years 7 to 11 fill all 30; the sixth form has free ones.
const (
	daysOfWeek = 5
	periods    = 6
	slots      = daysOfWeek * periods
)

// curriculum returns the blocks of a form.
func curriculum(form int) []block {
	for _, c := range data.Curriculum {
		if form <= c.Last {
			return c.Blocks
		}
	}
	return nil
}

// category is a row of eventcategories.csv.
type category struct {
	Key, Name string
	Order     int
	Flags     string // the names of those that are true
}

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
