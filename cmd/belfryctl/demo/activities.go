package demo

import (
	"fmt"
	"time"
)

// weekly is a time of the week outside lessons.
type weekly struct {
	weekday  int // 0 is Monday
	from, to string
}

// findTime reserves a time at which one of the staff and one of the rooms are both free. In a school too small for
// that it keeps the last try, which is a double-booking.
func (y *year) findTime(staff, rooms []int, times ...[2]string) (when weekly, who, where int) {
	for range 200 {
		t := pick(y.dice, times)
		when, who, where = weekly{y.dice.below(daysOfWeek), t[0], t[1]}, pick(y.dice, staff), pick(y.dice, rooms)
		if !y.taken[when.key("staff", who)] && !y.taken[when.key("room", where)] {
			break
		}
	}
	y.taken[when.key("staff", who)], y.taken[when.key("room", where)] = true, true
	return when, who, where
}

func (w weekly) key(what string, n int) string {
	return fmt.Sprintf("%s %d %d %s", what, n, w.weekday, w.from)
}

// meets finds a time for what a group does every week, and writes its events in some weeks, which may lack the day. Who
// leads it owns them, or no one does.
func (y *year) meets(
	category, body, group string, weeks [][]time.Time, owned bool, staff, rooms []int, times ...[2]string,
) {
	when, who, where := y.findTime(staff, rooms, times...)
	owner := ""
	if owned {
		owner = teacherKey(y.staff[who])
	}
	for _, week := range weeks {
		for _, day := range week {
			if int(day.Weekday())-1 == when.weekday {
				y.timed(category, body, day, when.from, when.to, who, owner, group, y.staff[who].ref(),
					y.rooms[where].ref())
			}
		}
	}
}

// someOf draws pupils of some forms.
func (y *year) someOf(n int, forms ...int) []string {
	var all []int
	for _, form := range forms {
		all = append(all, y.cohort(form)...)
	}
	return y.refs(shuffled(y.dice, all)[:min(n, len(all))])
}

var allForms = []int{7, 8, 9, 10, 11, 12, 13}

// numbered returns the n-th of some names, counted round, with a number from the second round on.
func numbered(names []string, n int, suffix string) string {
	name := names[n%len(names)] + suffix
	if n >= len(names) {
		name += fmt.Sprintf(" %d", n/len(names)+1)
	}
	return name
}

// clubs meet at lunch or after school, every week but the first and the last.
func (y *year) clubs() {
	for n := range y.scale(34) {
		name := numbered(data.Clubs, n, " Club")
		group := y.topGroup(fmt.Sprintf("club%d", n+1), name, "Club", y.someOf(30, allForms...)...)
		y.meets("club", name, group, y.weeks[1:len(y.weeks)-1], true, y.staffed, y.suites["classroom"],
			[2]string{"13:05", "13:45"}, [2]string{"16:00", "17:00"})
	}
}

// music writes the ensembles and the lessons that one pupil has with one visiting teacher.
func (y *year) music() {
	for n := range y.scale(10) {
		name := numbered(data.Ensembles, n, "")
		group := y.topGroup(fmt.Sprintf("ensemble%d", n+1), name, "Ensemble", y.someOf(40, allForms...)...)
		for range 2 {
			y.meets("rehearsal", name, group, y.weeks[1:len(y.weeks)-1], false, y.pools["Music"],
				y.suites["music room"], [2]string{"08:00", "08:30"}, [2]string{"16:00", "17:30"})
		}
	}
	for n, p := range y.someOf(y.scale(58), allForms...) {
		y.meets("music", data.Instruments[n%len(data.Instruments)], p, y.weeks[2:min(34, len(y.weeks))], false,
			y.musicians, y.suites["practice"], [2]string{"13:00", "13:30"}, [2]string{"13:30", "14:00"},
			[2]string{"16:00", "16:30"}, [2]string{"16:30", "17:00"})
	}
}

// sport writes the teams, their practices after school, and their fixtures on Saturdays and Wednesdays. An away
// fixture requests minibuses. The fixtures of first teams are in the public calendar.
func (y *year) sport() {
	coaches := y.pools["Sport"]
	perSeason := len(y.weeks) / len(data.Seasons)
	for n := range y.scale(60) {
		season, rank := n%len(data.Seasons), n/len(data.Seasons)
		sports := data.Seasons[season]
		age, forms := "U12", []int{7}
		if i := rank / len(sports) % 6; i > 0 {
			age, forms = fmt.Sprintf("U%d", 12+i), []int{firstForm + i}
			if i == 5 {
				age, forms = "U18", []int{12, 13}
			}
		}
		name := fmt.Sprintf("%s %s %s", age, sports[rank%len(sports)], letter(rank/len(sports)/6%26))
		group := y.topGroup(fmt.Sprintf("team%d", n+1), name, "Team", y.someOf(18, forms...)...)
		weeks := y.weeks[season*perSeason : (season+1)*perSeason]
		for range 2 {
			y.meets("practice", name+" practice", group, weeks, false, coaches, y.suites["sports space"],
				[2]string{"16:00", "17:15"})
		}
		y.fixtures(name, group, pick(y.dice, coaches), weeks, forms[0] >= 12)
	}
}

func (y *year) fixtures(team, group string, coach int, weeks [][]time.Time, firstTeam bool) {
	for i, week := range weeks {
		if i%3 == 2 {
			continue
		}
		day, from, to := onOrAfter(week[0], time.Saturday), "10:00", "12:30"
		if y.dice.chance(2) {
			day, from, to = onOrAfter(onOrBefore(week[0], time.Monday), time.Wednesday), "16:00", "18:30"
		}
		opponent := pick(y.dice, data.Opponents)
		elements := []string{group, y.staff[coach].ref()}
		away := y.dice.chance(2)
		if away {
			elements = append(elements, minibuses)
			if y.dice.chance(2) {
				elements = append(elements, minibuses)
			}
			opponent += " (A)"
		} else {
			elements = append(elements, y.rooms[pick(y.dice, y.suites["sports space"])].ref())
			opponent += " (H)"
		}
		if firstTeam {
			elements = append(elements, publicCalendar)
		}
		owner := teacherKey(y.staff[coach])
		key := y.timed("fixture", team+" v "+opponent, day, from, to, coach, owner, elements...)
		if away {
			y.note(key, "Meet at the bus stop **45 minutes** before the start.\nBring: kit, water, packed lunch.",
				owner, firstTeam, true)
		}
	}
}

// trips writes a day's trip for a set and longer ones for a form. Belfry shows the teachers which lessons are
// affected.
func (y *year) trips() {
	for n := range y.scale(55) {
		form := allForms[n%len(allForms)]
		s := pick(y.dice, y.sets[form])
		day := y.day(1+y.dice.below(len(y.weeks)-3), 1)
		helper := pick(y.dice, y.support)
		owner := teacherKey(y.staff[s.teacher])
		e := event{category: "trip", body: pick(y.dice, data.Destinations), starts: at(day, "08:15"),
			ends:      at(day, "17:30"),
			organiser: s.teacher, owner: owner,
			elements: []string{"Group:" + y.groupKey(s.code), y.staff[s.teacher].ref(), y.staff[helper].ref(),
				minibuses}}
		if len(s.pupils) > 14 {
			e.elements = append(e.elements, minibuses)
		}
		switch n % 5 {
		case 3: // over a night, by the clock
			e.ends = at(day.AddDate(0, 0, 2), "16:00")
		case 4: // whole days
			e.starts, e.ends, e.allDay = iso(day), iso(day.AddDate(0, 0, 3)), true
			e.elements = append(e.elements, publicCalendar)
		}
		key := y.write(e)
		y.note(key, "## "+e.body+"\n\n1. Consent forms by Friday\n2. Packed lunch\n3. Coats: we'll walk a lot", owner,
			false, true)
		y.note(key, fmt.Sprintf("Projected absences: all %d pupils of %s are out of school.", len(s.pupils), s.name),
			"", false, false)
	}
	for form := firstForm; form <= lastForm; form++ {
		day := y.day(len(y.weeks)-1, 0)
		y.allDay("trip", fmt.Sprintf("Year %d activities days", form), day, day.AddDate(0, 0, 1), y.form(form),
			publicCalendar)
	}
}
