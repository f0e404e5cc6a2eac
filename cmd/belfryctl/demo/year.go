package demo

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// year is one school year while it is written.
type year struct {
	*school
	schoolYear
	board   *board
	dice    dice // of all but the timetable
	sets    map[int][]set
	taken   map[string]bool // who and what is taken at a time of the week outside lessons
	numbers map[string]int  // of events, by category
	notes   int
	staffed []int // those who teach this year
}

func newYear(s *school, start int) *year {
	return &year{school: s, schoolYear: newSchoolYear(start), board: newBoard(),
		dice: newDice(s.options.Seed, fmt.Sprintf("year %d", start)), sets: map[int][]set{}, taken: map[string]bool{},
		numbers: map[string]int{}}
}

func (y *year) build() {
	for form := firstForm; form <= lastForm; form++ {
		cohort := y.cohort(form)
		y.sets[form] = y.timetable(form, cohort)
		y.formGroups(form, cohort)
		y.setGroups(y.sets[form])
		for _, s := range y.sets[form] {
			if !slices.Contains(y.staffed, s.teacher) {
				y.staffed = append(y.staffed, s.teacher)
			}
		}
	}
	slices.Sort(y.staffed)
	y.teachesNow = y.staffed
	y.lessons()
	y.dates()
	y.runs()
	y.gatherings()
	y.meetings()
	y.duties()
	y.clubs()
	y.music()
	y.sport()
	y.exams()
	y.trips()
}

// cohort returns the pupils who are in a form this year.
func (y *year) cohort(form int) []int { return y.cohorts[y.start-(form-firstForm)] }

// group writes a group of this year, which is current only in the last one, with its members for the whole year.
func (y *year) group(code, name, description string, members ...string) (reference string) {
	current := y.start == y.options.LastYear
	if !current {
		name += " " + y.schoolYear.name()
	}
	key := y.groupKey(code)
	y.out.write(bundle.Groups, key, name, description, "false", "", strconv.FormatBool(current))
	for _, m := range members {
		y.join(key, m, y.first, y.last)
	}
	return "Group:" + key
}

// topGroup writes a group of this year that is in no other group but the school's own.
func (y *year) topGroup(code, name, description string, members ...string) (reference string) {
	reference = y.group(code, name, description, members...)
	y.own(reference, iso(y.first), iso(y.last))
	return reference
}

func (y *year) join(group, member string, first, last time.Time) {
	y.out.write(bundle.Memberships, group, member, iso(first), iso(last))
}

// formGroups nests the tutor groups in the form and the form in the whole school. It does the same for the houses.
func (y *year) formGroups(form int, cohort []int) {
	var tutors []string
	for _, of := range split(cohort, func(p int) int { return y.pupils[p].tutor }) {
		name := tutorGroup(form, y.pupils[of[0]].tutor)
		tutors = append(tutors, y.group(name, name, "Tutor group", y.refs(of)...))
	}
	y.join("school", y.group(formCode(form), fmt.Sprintf("Year %d", form), "Year group", tutors...), y.first, y.last)
	for _, of := range split(cohort, func(p int) int { return y.pupils[p].house }) {
		house := y.pupils[of[0]].house
		code := fmt.Sprintf("%s-%d", data.Houses[house], form)
		name := fmt.Sprintf("%s Year %d", data.Houses[house], form)
		y.join(houseKey(house), y.group(code, name, "House", y.refs(of)...), y.first, y.last)
	}
}

func formCode(form int) string { return fmt.Sprintf("year%d", form) }

func (y *year) form(form int) string { return "Group:" + y.groupKey(formCode(form)) }

// split divides a list by a number of its items, in the order of those numbers.
func split(list []int, number func(int) int) [][]int {
	parts := map[int][]int{}
	for _, item := range list {
		parts[number(item)] = append(parts[number(item)], item)
	}
	numbers := slices.Sorted(maps.Keys(parts))
	return sequence.Map(numbers, func(n int) []int { return parts[n] })
}

func (y *year) refs(pupils []int) []string {
	return sequence.Map(pupils, func(p int) string { return y.pupils[p].ref() })
}

// setGroups writes the sets. One pupil in twelve moves to another set of the same subject and periods in mid-year.
func (y *year) setGroups(sets []set) {
	for i, s := range sets {
		others := slices.DeleteFunc(slices.Clone(sets), func(o set) bool {
			return o.code == s.code || o.subject != s.subject || !slices.Equal(o.slots, s.slots)
		})
		key := y.groupKey(s.code)
		y.topGroup(s.code, s.name, "Teaching group")
		for _, p := range sets[i].pupils {
			if len(others) == 0 || !y.dice.chance(12) {
				y.join(key, y.pupils[p].ref(), y.first, y.last)
				continue
			}
			y.join(key, y.pupils[p].ref(), y.first, y.midYear().AddDate(0, 0, -1))
			y.join(y.groupKey(pick(y.dice, others).code), y.pupils[p].ref(), y.midYear(), y.last)
		}
	}
}

// event is a row of events.csv; no key means the next number of its category.
type event struct {
	key, category, body string
	starts, ends        string
	allDay              bool
	organiser           int // staff, none when negative
	owner               string
	elements            []string
}

// none is the index of no one.
const none = -1

// write writes an event and returns its key.
func (y *year) write(e event) string {
	if e.key == "" {
		y.numbers[e.category]++
		e.key = fmt.Sprintf("%d-%s-%d", y.start, e.category, y.numbers[e.category])
	}
	organiser := ""
	if e.organiser != none {
		organiser = y.staff[e.organiser].key
	}
	allDay := ""
	if e.allDay {
		allDay = "true"
	}
	y.out.write(bundle.Events, e.key, e.body, e.category, e.starts, e.ends, allDay, organiser, e.owner,
		strings.Join(e.elements, ";"))
	requested := false
	for _, element := range e.elements {
		if element == minibuses {
			requested = true
		} else {
			y.summary.Commitments++
		}
	}
	if requested {
		y.summary.Requests++
	}
	return e.key
}

// note writes a note on an event. One without an owner is the system's.
func (y *year) note(event, contents, owner string, guest, pupil bool) {
	y.notes++
	y.out.write(bundle.Notes, fmt.Sprintf("%d-note-%d", y.start, y.notes), event, contents, owner,
		strconv.FormatBool(guest), "true", strconv.FormatBool(pupil))
}

// lessons writes the timetable for every day of the year.
func (y *year) lessons() {
	for _, day := range y.days {
		for form := firstForm; form <= lastForm; form++ {
			if (form == 11 || form == 13) && !day.Before(y.studyLeave) {
				continue
			}
			for _, s := range y.sets[form] {
				y.lessonsOf(s, day)
			}
		}
	}
}

func (y *year) lessonsOf(s set, day time.Time) {
	for i, slot := range s.slots {
		if slot/periods != int(day.Weekday())-1 {
			continue
		}
		times := data.Clock[slot%periods]
		key := y.write(event{
			key: fmt.Sprintf("%s@%sP%d", y.groupKey(s.code), iso(day), slot%periods+1), category: "lesson",
			body:   s.name,
			starts: at(day, times[0]), ends: at(day, times[1]), organiser: none,
			elements: []string{"Group:" + y.groupKey(s.code), y.staff[s.teacher].ref(), y.rooms[s.rooms[i]].ref(),
				"Subject:" + s.subject.Code},
		})
		y.summary.Lessons++
		if y.dice.chance(150) {
			y.note(key, pick(y.dice, data.Homework), teacherKey(y.staff[s.teacher]), false, true)
		}
	}
}
