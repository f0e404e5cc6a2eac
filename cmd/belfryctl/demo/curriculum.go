package demo

// subject is what is taught, by which department, in which suite of rooms.
type subject struct {
	code, name, department, suite string
}

var subjects = []subject{
	{"Ma", "Mathematics", "Mathematics", "classroom"},
	{"FM", "Further Mathematics", "Mathematics", "classroom"},
	{"En", "English", "English", "classroom"},
	{"Sc", "Science", "Science", "laboratory"},
	{"Bi", "Biology", "Science", "laboratory"},
	{"Ch", "Chemistry", "Science", "laboratory"},
	{"Ph", "Physics", "Science", "laboratory"},
	{"Fr", "French", "Languages", "classroom"},
	{"Sp", "Spanish", "Languages", "classroom"},
	{"De", "German", "Languages", "classroom"},
	{"La", "Latin", "Classics", "classroom"},
	{"Hi", "History", "Humanities", "classroom"},
	{"Gg", "Geography", "Humanities", "classroom"},
	{"Po", "Politics", "Humanities", "classroom"},
	{"RS", "Religious Studies", "Religion and Philosophy", "classroom"},
	{"Ar", "Art", "Art", "studio"},
	{"DT", "Design and Technology", "Technology", "workshop"},
	{"Mu", "Music", "Music", "music room"},
	{"Dr", "Drama", "Drama", "drama studio"},
	{"CS", "Computer Science", "Computing", "computer room"},
	{"Ec", "Economics", "Economics and Business", "classroom"},
	{"Bs", "Business", "Economics and Business", "classroom"},
	{"Py", "Psychology", "Social Science", "classroom"},
	{"PE", "Physical Education", "Sport", "sports space"},
	{"Ga", "Games", "Sport", "sports space"},
	{"PS", "Personal, Social and Health Education", "Pastoral", "classroom"},
}

func subjectOf(code string) subject {
	for _, s := range subjects {
		if s.code == code {
			return s
		}
	}
	return subject{}
}

// block is a part of a year group's week in which all its pupils are taught at the same time, in parallel sets. The
// blocks of a year group never share a period, and a pupil has one set in each block, so no pupil is double-booked.
type block struct {
	letter   string   // of an option block, "" for a subject that all take
	subjects []string // the codes of the sets, over and over
	periods  int      // a week
	largest  int      // set
}

func core(code string, periods int) block {
	return block{subjects: []string{code}, periods: periods, largest: 24}
}

func option(letter string, periods, largest int, codes ...string) block {
	return block{letter, codes, periods, largest}
}

// A week has 5 days of 6 periods. Years 7 to 11 fill all 30; the sixth form has free ones.
const (
	daysOfWeek = 5
	periods    = 6
	slots      = daysOfWeek * periods
)

// clock holds the start and the end of each period.
var clock = [periods][2]string{{"08:55", "09:50"}, {"09:50", "10:45"}, {"11:10", "12:05"}, {"12:05", "13:00"},
	{"14:00", "14:55"}, {"14:55", "15:50"}}

// curriculum returns the blocks of a year group.
func curriculum(year int) []block {
	switch {
	case year <= 9:
		return []block{core("Ma", 4), core("En", 4), core("Sc", 4), core("Fr", 3), core("Ga", 3), core("Hi", 2),
			core("Gg", 2), core("DT", 2), option("L", 2, 24, "Sp", "La", "De"), core("RS", 1), core("Ar", 1),
			core("Mu", 1), core("CS", 1)}
	case year <= 11:
		return []block{core("Ma", 4), core("En", 4), option("A", 3, 24, "Fr", "Sp", "Fr", "De", "La", "Fr"),
			option("B", 3, 24, "Hi", "Gg", "Hi", "Ar", "Gg", "CS"),
			option("C", 3, 24, "Gg", "Hi", "DT", "Mu", "Dr", "Bs"),
			option("D", 3, 24, "CS", "Ar", "Dr", "DT", "Sp", "Hi"), core("Bi", 2), core("Ch", 2), core("Ph", 2),
			core("Ga", 2), core("RS", 1), core("PE", 1)}
	}
	return []block{
		option("A", 5, 16, "Ma", "Ph", "Hi", "Bi", "Ec", "Ma", "En", "Py", "Fr"),
		option("B", 5, 16, "Ch", "En", "Ma", "Gg", "Py", "Po", "CS", "Ar", "Bs"),
		option("C", 5, 16, "Bi", "FM", "Ec", "Gg", "RS", "Dr", "Hi", "Ph", "Sp"),
		option("D", 5, 16, "Py", "Ch", "Po", "Mu", "DT", "La", "De", "Bs", "En"),
		core("Ga", 3), core("PS", 1)}
}
