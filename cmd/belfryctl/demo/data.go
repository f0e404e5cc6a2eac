package demo

import (
	_ "embed"
	"encoding/json"
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
