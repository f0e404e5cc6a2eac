package demo

import (
	"fmt"
	"slices"
	"strconv"
)

// set is some pupils of a form who are taught a subject together, at the same periods every week.
type set struct {
	code    string // such as 9Ma1 or 12A-Ph2, its key within the year
	name    string
	subject subject
	slots   []int
	teacher int   // one for all periods
	rooms   []int // one for each slot, the same one where it can be
	pupils  []int
}

const maxLoad = 22 // periods a week that a teacher teaches

// board is the timetable of one school year while it is made: which staff and rooms are taken when.
type board struct {
	demand map[string]*[slots]int // department to lessons at a slot
	staff  map[int]*[slots]bool
	rooms  map[int]*[slots]bool
	load   map[int]int
}

func newBoard() *board {
	return &board{demand: map[string]*[slots]int{}, staff: map[int]*[slots]bool{}, rooms: map[int]*[slots]bool{},
		load: map[int]int{}}
}

// entry returns the value of a key, and creates it when it does not exist.
func entry[K comparable, V any](m map[K]*V, key K) *V {
	if m[key] == nil {
		m[key] = new(V)
	}
	return m[key]
}

func free(taken *[slots]bool, slots []int) bool {
	return !slices.ContainsFunc(slots, func(slot int) bool { return taken[slot] })
}

// timetable makes the sets of one form, with their periods, teachers and rooms.
func (y *year) timetable(form int, cohort []int) []set {
	d := newDice(y.options.Seed, fmt.Sprintf("timetable %d %d", y.start, form))
	blocks := curriculum(form)
	placed := y.place(d, blocks, len(cohort))
	var all []set
	taken := map[int]map[string]bool{} // pupil to subjects of option blocks
	for i, b := range blocks {
		sets := b.sets(form, len(cohort))
		for j := range sets {
			sets[j].slots = placed[i]
			sets[j].teacher = y.findTeacher(sets[j])
			sets[j].rooms = y.findRooms(sets[j])
		}
		b.divide(d, cohort, sets, taken)
		all = append(all, sets...)
	}
	return all
}

// sets names the sets that a block needs for a number of pupils.
func (b block) sets(form, pupils int) []set {
	sets := make([]set, max(1, (pupils+b.Largest-1)/b.Largest))
	numbers := map[string]int{}
	for i := range sets {
		sub := subjectOf(b.Subjects[i%len(b.Subjects)])
		numbers[sub.Code]++
		sets[i] = set{subject: sub, code: fmt.Sprintf("%d%s%d", form, sub.Code, numbers[sub.Code]),
			name: fmt.Sprintf("%d %s %d", form, sub.Name, numbers[sub.Code])}
		if b.Letter != "" {
			sets[i].code = fmt.Sprintf("%d%s-%s%d", form, b.Letter, sub.Code, numbers[sub.Code])
			sets[i].name = fmt.Sprintf("%d %s %s%d", form, sub.Name, b.Letter, numbers[sub.Code])
		}
	}
	return sets
}

// place assigns each block its slots, no slot twice. It spreads a block over the days, and departments over the
// forms.
func (y *year) place(d dice, blocks []block, pupils int) [][]int {
	var used [slots]bool
	placed := make([][]int, len(blocks))
	for i, b := range blocks {
		sets := b.sets(0, pupils)
		var day [daysOfWeek]int
		for range b.Periods {
			best, least := 0, -1
			for slot := range slots {
				if used[slot] {
					continue
				}
				cost := 1000*day[slot/periods] + d.below(10)
				for _, s := range sets {
					cost += 10 * entry(y.board.demand, s.subject.Department)[slot]
				}
				if least < 0 || cost < least {
					best, least = slot, cost
				}
			}
			used[best] = true
			day[best/periods]++
			placed[i] = append(placed[i], best)
			for _, s := range sets {
				entry(y.board.demand, s.subject.Department)[best]++
			}
		}
		slices.Sort(placed[i])
	}
	return placed
}

// findTeacher returns the teacher of the department with the lightest load who is free at all periods of the set, or
// hires one.
func (y *year) findTeacher(s set) int {
	best := -1
	for _, t := range y.pools[s.subject.Department] {
		if y.board.load[t]+len(s.slots) <= maxLoad && free(entry(y.board.staff, t), s.slots) &&
			(best < 0 || y.board.load[t] < y.board.load[best]) {
			best = t
		}
	}
	if best < 0 {
		best = y.hire(s.subject.Department)
	}
	y.board.load[best] += len(s.slots)
	for _, slot := range s.slots {
		entry(y.board.staff, best)[slot] = true
	}
	return best
}

// findRooms returns one room of the suite for all periods; when there is none, one for each period. It adds rooms to
// a suite that is full.
func (y *year) findRooms(s set) []int {
	for _, r := range y.suites[s.subject.Suite] {
		if free(entry(y.board.rooms, r), s.slots) {
			return y.occupy(s, slices.Repeat([]int{r}, len(s.slots)))
		}
	}
	rooms := make([]int, len(s.slots))
	for i, slot := range s.slots {
		rooms[i] = -1
		for _, r := range y.suites[s.subject.Suite] {
			if !entry(y.board.rooms, r)[slot] {
				rooms[i] = r
				break
			}
		}
		if rooms[i] < 0 {
			rooms[i] = y.addTeachingRoom(s.subject.Suite)
		}
	}
	return y.occupy(s, rooms)
}

func (y *year) occupy(s set, rooms []int) []int {
	for i, slot := range s.slots {
		entry(y.board.rooms, rooms[i])[slot] = true
	}
	return rooms
}

// divide puts every pupil into one set of the block. In an option block it chooses the smallest set whose subject the
// pupil does not have yet, if there is one.
func (b block) divide(d dice, cohort []int, sets []set, taken map[int]map[string]bool) {
	for i, p := range shuffled(d, cohort) {
		best := i % len(sets)
		if b.Letter != "" {
			best = -1
			for j := range sets {
				if !taken[p][sets[j].subject.Code] && (best < 0 || len(sets[j].pupils) < len(sets[best].pupils)) {
					best = j
				}
			}
			best = max(best, 0)
			if taken[p] == nil {
				taken[p] = map[string]bool{}
			}
			taken[p][sets[best].subject.Code] = true
		}
		sets[best].pupils = append(sets[best].pupils, p)
	}
}

// groupKey is the key of a group that belongs to the year.
func (y *year) groupKey(code string) string { return strconv.Itoa(y.start) + "-" + code }
