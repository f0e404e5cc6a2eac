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

// schoolYear is the calendar of one school year in England. Days are midnights in UTC; there are no zones here.
type schoolYear struct {
	start      int         // 2026 of 2026/27
	first      time.Time   // of memberships: 1 September
	last       time.Time   // 31 August
	days       []time.Time // with lessons, in order
	weeks      [][]time.Time
	breaks     []span
	inset      []time.Time
	studyLeave time.Time // from here on years 11 and 13 have exams in place of lessons
}

// span is a break or another run of days, both inclusive.
type span struct {
	name        string
	first, last time.Time
}

func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// onOrAfter is the first such weekday from a day on.
func onOrAfter(day time.Time, weekday time.Weekday) time.Time {
	return day.AddDate(0, 0, (int(weekday)-int(day.Weekday())+7)%7)
}

// onOrBefore is the last such weekday up to a day.
func onOrBefore(day time.Time, weekday time.Weekday) time.Time {
	return onOrAfter(day.AddDate(0, 0, -6), weekday)
}

// easter is Easter Sunday by the rule of Meeus, Jones and Butcher.
func easter(year int) time.Time {
	a, b, c := year%19, year/100, year%100
	d, e := b/4, b%4
	g := (8*b + 13) / 25
	h := (19*a + b - d - g + 15) % 30
	i, k := c/4, c%4
	l := (32 + 2*e + 2*i - h - k) % 7
	m := (a + 11*h + 22*l) / 451
	n := h + l - 7*m + 114
	return date(year, time.Month(n/31), n%31+1)
}

func newSchoolYear(start int) schoolYear {
	next := start + 1
	sunday := easter(next)
	autumn, autumnEnd := onOrAfter(date(start, time.September, 1), time.Thursday),
		onOrBefore(date(start, time.December, 21), time.Friday)
	spring, springEnd := onOrAfter(date(next, time.January, 4), time.Tuesday), sunday.AddDate(0, 0, -9)
	summer, summerEnd := sunday.AddDate(0, 0, 8), onOrBefore(date(next, time.July, 18), time.Friday)
	october := onOrBefore(date(start, time.October, 31), time.Monday)
	february := onOrAfter(date(next, time.February, 12), time.Monday)
	may := onOrBefore(date(next, time.May, 31), time.Monday)
	mayDay := onOrAfter(date(next, time.May, 1), time.Monday)
	y := schoolYear{
		start: start, first: date(start, time.September, 1), last: date(next, time.August, 31),
		studyLeave: may.AddDate(0, 0, 7),
		inset:      []time.Time{autumn.AddDate(0, 0, -2), autumn.AddDate(0, 0, -1), spring.AddDate(0, 0, -1)},
		breaks: []span{
			{"Autumn half term", october, october.AddDate(0, 0, 4)},
			{"Christmas holidays", autumnEnd.AddDate(0, 0, 3), spring.AddDate(0, 0, -4)},
			{"Spring half term", february, february.AddDate(0, 0, 4)},
			{"Easter holidays", springEnd.AddDate(0, 0, 3), summer.AddDate(0, 0, -3)},
			{"May Day", mayDay, mayDay},
			{"Summer half term", may, may.AddDate(0, 0, 4)},
			{"Summer holidays", summerEnd.AddDate(0, 0, 3), date(next, time.August, 31)},
		},
	}
	y.collect(autumn, autumnEnd)
	y.collect(spring, springEnd)
	y.collect(summer, summerEnd)
	return y
}

// collect adds the days of a term, by weeks.
func (y *schoolYear) collect(first, last time.Time) {
	for day := first; !day.After(last); day = day.AddDate(0, 0, 1) {
		if day.Weekday() == time.Saturday || day.Weekday() == time.Sunday || y.off(day) {
			continue
		}
		if len(y.days) == 0 || day.Weekday() < y.days[len(y.days)-1].Weekday() ||
			day.Sub(y.days[len(y.days)-1]) > 6*24*time.Hour {
			y.weeks = append(y.weeks, nil)
		}
		y.days = append(y.days, day)
		y.weeks[len(y.weeks)-1] = append(y.weeks[len(y.weeks)-1], day)
	}
}

func (y *schoolYear) off(day time.Time) bool {
	for _, b := range y.breaks {
		if !day.Before(b.first) && !day.After(b.last) {
			return true
		}
	}
	return false
}

// name is 2026/27.
func (y *schoolYear) name() string { return fmt.Sprintf("%d/%02d", y.start, (y.start+1)%100) }

// day returns a school day by the number of its week and of the day in it. When the year or the week is shorter, it
// is the last one.
func (y *schoolYear) day(week, n int) time.Time {
	days := y.weeks[min(week, len(y.weeks)-1)]
	return days[min(n, len(days)-1)]
}

// midYear is a Monday about half-way through the weeks, when pupils change sets.
func (y *schoolYear) midYear() time.Time { return onOrBefore(y.weeks[len(y.weeks)/2][0], time.Monday) }

func iso(day time.Time) string { return day.Format(time.DateOnly) }

// at is a local date-time: the clock is HH:MM.
func at(day time.Time, clock string) string { return iso(day) + " " + clock }
