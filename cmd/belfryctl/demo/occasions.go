package demo

import (
	"fmt"
	"time"
)

// timed writes an event between two clock times of a day.
func (y *year) timed(category, body string, day time.Time, from, to string, organiser int, owner string,
	elements ...string) (key string) {
	return y.write(event{category: category, body: body, starts: at(day, from), ends: at(day, to),
		organiser: organiser, owner: owner, elements: elements})
}

// allDay writes an all-day event of the office; both days are inclusive.
func (y *year) allDay(category, body string, first, last time.Time, elements ...string) {
	y.write(event{category: category, body: body, starts: iso(first), ends: iso(last.AddDate(0, 0, 1)), allDay: true,
		organiser: none, owner: officeUser, elements: elements})
}

// dates writes the calendar of the year: breaks, training days, parents' evenings, deadlines, and periods of several
// weeks.
func (y *year) dates() {
	for _, b := range y.breaks {
		y.allDay("holiday", b.name, b.first, b.last, wholeSchool, publicCalendar)
	}
	for _, day := range y.inset {
		y.allDay("inset", "Staff training day", day, day, allStaff, staffCalendar)
	}
	y.allDay("calendar", "Term begins", y.days[0], y.days[0], publicCalendar)
	y.allDay("calendar", "Term ends", y.days[len(y.days)-1], y.days[len(y.days)-1], publicCalendar)
	y.allDay("exam", "GCSE and A level examinations", y.studyLeave, y.studyLeave.AddDate(0, 0, 25), y.form(11),
		y.form(13), publicCalendar)
	y.allDay("calendar", "Art exhibition", y.day(8, 0), y.day(14, 0), y.rooms[theatre].ref(), publicCalendar)
	y.allDay("works", "Chapel roof repairs", y.last.AddDate(0, 0, -75), y.last, y.rooms[chapel].ref())
	for i, title := range data.Evenings {
		y.timed("evening", title, y.day(4+i*3, 3), "19:00", "21:30", pick(y.dice, y.staffed), officeUser,
			y.rooms[theatre].ref(), publicCalendar, "Service:sound-and-lighting", "Service:catering")
	}
	for form := firstForm; form <= lastForm; form++ {
		y.timed("evening", fmt.Sprintf("Year %d parents' evening", form), y.day(6+4*(form-firstForm), 1), "17:00",
			"19:30", y.leaders[1], officeUser, y.form(form), teachers, y.rooms[hall].ref(), publicCalendar)
		for i, what := range data.Deadlines {
			y.timed("deadline", fmt.Sprintf("%s due: Year %d", what, form), y.day(5+9*i+(form-firstForm)%4, 4),
				"12:00", "12:00", none, officeUser, staffCalendar, y.form(form))
		}
	}
	night := y.day(12, 4)
	y.write(event{category: "trip", body: "Stargazing on the field", starts: at(night, "21:00"),
		ends: at(night.AddDate(0, 0, 1), "00:30"), organiser: y.leaders[0], owner: officeUser,
		elements: []string{y.form(12), y.rooms[playground].ref()}})
}

// runs writes the bus runs from the station and back, on every school day, by the first minibus.
func (y *year) runs() {
	for _, day := range y.days {
		y.timed("run", "Station run", day, "07:40", "08:20", none, transportUser, "Service:minibus1")
		y.timed("run", "Late bus", day, "17:30", "18:15", none, transportUser, "Service:minibus1")
	}
}

// gatherings writes the assemblies and the meetings of the houses.
func (y *year) gatherings() {
	for i, week := range y.weeks {
		y.timed("assembly", "Whole school assembly", week[0], "08:30", "08:50", y.leaders[0], officeUser, wholeSchool,
			y.rooms[hall].ref(), y.staff[y.leaders[0]].ref())
		for form := firstForm; form <= lastForm; form++ {
			place, leader := lectureTheatre, y.leaders[form%len(y.leaders)]
			if form%2 == 0 {
				place = chapel
			}
			y.timed("assembly", fmt.Sprintf("Year %d assembly", form), week[(form+1)%len(week)], "08:30", "08:50",
				leader, officeUser, y.form(form), y.rooms[place].ref(), y.staff[leader].ref())
		}
		if i%2 == 1 {
			continue
		}
		for house, name := range data.Houses {
			leader := y.staffed[house%len(y.staffed)]
			y.timed("assembly", name+" house meeting", week[len(week)-1], "10:50", "11:05", leader, "",
				"Group:"+houseKey(house), y.staff[leader].ref(), y.classroom(house))
		}
	}
}

// classroom refers to the n-th classroom, counted round.
func (y *year) classroom(n int) string {
	return y.rooms[y.suites["classroom"][n%len(y.suites["classroom"])]].ref()
}

// meetings writes the meetings of staff: the weekly ones, the departments', and the many between two people.
func (y *year) meetings() {
	for i, week := range y.weeks {
		y.timed("meeting", "Staff briefing", week[0], "08:10", "08:25", y.leaders[0], officeUser, allStaff,
			y.rooms[staffRoom].ref())
		leaders := []string{y.rooms[boardroom].ref()}
		for _, m := range y.leaders {
			leaders = append(leaders, y.staff[m].ref())
		}
		y.timed("meeting", "Leadership team", week[len(week)-1], "16:00", "18:00", y.leaders[0], officeUser, leaders...)
		if i%3 != 1 {
			continue
		}
		for n, department := range y.departments() {
			if y.teaching(department) {
				y.timed("meeting", department+" department", week[0], "16:10", "17:10", y.pools[department][0], "",
					"Group:"+departmentKey(department), y.classroom(n))
			}
		}
	}
	for range y.scale(850) {
		pair := shuffled(y.dice, y.staffed)[:min(2, len(y.staffed))]
		day, times := pick(y.dice, y.days),
			pick(y.dice, [][2]string{{"13:05", "13:35"}, {"16:00", "16:30"}, {"16:30", "17:00"}, {"08:00", "08:25"}})
		elements := []string{y.rooms[pick(y.dice, y.suites["meeting"])].ref()}
		for _, m := range pair {
			elements = append(elements, y.staff[m].ref())
		}
		y.timed("meeting", pick(y.dice, data.Talks), day, times[0], times[1], pair[0], teacherKey(y.staff[pair[0]]),
			elements...)
	}
	for _, form := range []int{11, 12} {
		for i, p := range y.cohort(form) {
			adviser := y.support[i%min(2, len(y.support))]
			day := y.days[(i*3+form)%(len(y.days)-40)]
			y.timed("interview", "Careers interview", day, "13:10", "13:30", adviser, officeUser, y.pupils[p].ref(),
				y.staff[adviser].ref(), y.rooms[y.suites["meeting"][0]].ref())
		}
	}
}

// duties writes the supervision duties in the breaks.
func (y *year) duties() {
	rota := []struct {
		body, from, to string
		place          int
		staff          []int
	}{
		{"Break duty", "10:45", "11:10", playground, y.staffed},
		{"Lunch duty", "13:00", "13:30", diningHall, y.support},
		{"Bus duty", "15:50", "16:20", busStop, y.support},
		{"Break duty", "10:45", "11:10", library, y.staffed},
		{"Lunch duty", "13:30", "14:00", playground, y.support},
		{"Break duty", "10:45", "11:10", diningHall, y.staffed},
		{"Reception duty", "08:00", "08:30", reception, y.support},
		{"Library duty", "16:00", "17:00", library, y.support},
	}
	for i, day := range y.days {
		for n := range min(y.scale(8), len(rota)) {
			duty := rota[n]
			// Neighbours in the rota never fall on the same person at the same time, if there are enough of them.
			one, other := duty.staff[(i*16+2*n)%len(duty.staff)], duty.staff[(i*16+2*n+1)%len(duty.staff)]
			elements := []string{y.rooms[duty.place].ref(), y.staff[one].ref()}
			if other != one {
				elements = append(elements, y.staff[other].ref())
			}
			y.timed("duty", duty.body, day, duty.from, duty.to, none, "", elements...)
		}
	}
}

// exams writes the internal exams in June, the mock exams in January, and the public ones in study leave.
func (y *year) exams() {
	sit := func(day time.Time, form int, body string, from, to string) {
		half := len(y.support) / 2
		first, second := y.support[y.dice.below(half)], y.support[half+y.dice.below(half)]
		place := hall
		if form%2 == 1 {
			place = sportsHall
		}
		y.timed("exam", body, day, from, to, y.leaders[1], officeUser, y.form(form), y.rooms[place].ref(),
			y.staff[first].ref(), y.staff[second].ref())
	}
	paper := func(n int) string { return data.Papers[n%len(data.Papers)] }
	for day := y.studyLeave; day.Before(y.studyLeave.AddDate(0, 0, 26)); day = day.AddDate(0, 0, 1) {
		if day.Weekday() == time.Saturday || day.Weekday() == time.Sunday {
			continue
		}
		for i, form := range []int{11, 13} {
			sit(day, form, fmt.Sprintf("%s, paper %d", paper(day.YearDay()+i), 1+i), "09:00", "11:00")
			sit(day, form, fmt.Sprintf("%s, paper %d", paper(day.YearDay()+i+5), 1+i), "13:30", "15:30")
		}
	}
	for i, paper := range data.Papers {
		january, june := y.day(15+i/5, i%5), y.day(len(y.weeks)-3+i/5, i%5)
		for _, form := range []int{11, 13} {
			sit(january, form, paper+" mock", "09:00", "10:30")
		}
		for _, form := range []int{7, 8, 9, 10, 12} {
			sit(june, form, paper, "11:10", "12:30")
		}
	}
}
