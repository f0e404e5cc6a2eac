package bundle

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// The files of a timetable. They are not kinds of records: an import makes events of each row of lessons.csv.
const (
	Periods Kind = "periods"
	Weeks   Kind = "weeks"
	Lessons Kind = "lessons"
)

// LessonKeys is the prefix of the keys of events that were made of lessons: "timetable:KEY:2026-09-07". So other times
// change an event, while another day makes another event: past events stay.
const LessonKeys = "timetable:"

// maxLessonKey bounds the key of a lesson, so that those of its events have at most 255 characters.
const maxLessonKey = csvfile.MaxKey - len(LessonKeys+":2026-09-07")

// Limits of a timetable.
const (
	maxPeriods  = 10_000  // names and weekdays
	maxWeekDays = 50_000  // days of all rows of weeks.csv
	maxLessons  = 500_000 // events of all rows of lessons.csv
	maxDouble   = 20      // periods of a lesson
)

type (
	// periodRow is a row of periods.csv.
	periodRow struct {
		Name     string `json:"name"`
		Weekdays string `json:"weekdays,omitempty"`
		Starts   string `json:"starts" csv:"clock"`
		Ends     string `json:"ends" csv:"clock"`
		School   string `json:"school,omitempty" csv:"key of groups"`
	}
	// weekRow is a row of weeks.csv.
	weekRow struct {
		FirstDay *string `json:"first_day,omitempty"`
		LastDay  *string `json:"last_day,omitempty"`
		Week     string  `json:"week,omitempty"`
		Off      *bool   `json:"off,omitempty"`
		Category string  `json:"category,omitempty" csv:"key of eventcategories"`
		School   string  `json:"school,omitempty" csv:"key of groups"`
	}
	// lessonRow is a row of lessons.csv.
	lessonRow struct {
		Key       string   `json:"key" csv:"key"`
		Body      string   `json:"body" csv:"title"`
		Category  string   `json:"category" csv:"key of eventcategories"`
		Week      string   `json:"week,omitempty"`
		Weekday   string   `json:"weekday"`
		Period    string   `json:"period"`
		Elements  []string `json:"elements,omitempty"`
		FirstDay  *string  `json:"first_day,omitempty"`
		LastDay   *string  `json:"last_day,omitempty"`
		Organiser string   `json:"organiser,omitempty" csv:"key of staff"`
		Owner     string   `json:"owner,omitempty" csv:"key of users"`
		School    string   `json:"school,omitempty" csv:"key of groups"`
	}
)

// timetable is what periods.csv and weeks.csv say, and the events that they refer to.
type timetable struct {
	periods map[periodKey]period
	rows    []weekRule
	from    map[string][]weekRule // by category: rows whose days are those of events
	taken   map[string]bool       // categories of these that events.csv has
	days    int                   // of all rows
	broken  bool                  // a file has a fault, so that lessons are not checked against it
	terms   map[string]*calendar  // by school; "" has the rows of no school
	events  int                   // made of lessons
}

func newTimetable() timetable {
	return timetable{periods: map[periodKey]period{}, from: map[string][]weekRule{},
		taken: map[string]bool{}, terms: map[string]*calendar{}}
}

type periodKey struct {
	school, name string
	weekday      time.Weekday
}

type period struct{ starts, ends string }

// weekRule is a row of weeks.csv, or an event that one refers to.
type weekRule struct {
	file   string
	line   int
	days   wiretime.Days
	weeks  []string // that take turns; none: a term, or days off
	off    bool
	school string
}

// week is the name of the week that has the day. Each week counts, also one without lessons.
func (r weekRule) week(day wiretime.Day) string {
	if len(r.weeks) == 0 {
		return ""
	}
	return r.weeks[int(monday(day)-monday(r.days.First))/7%len(r.weeks)]
}

func monday(day wiretime.Day) wiretime.Day { return day - wiretime.Day(day.Date().Weekday()+6)%7 }

// calendar has the days of a school with lessons, in their order.
type calendar struct {
	days  []wiretime.Day
	weeks []string        // of each day
	known map[string]bool // names of weeks
}

var weekdays = []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}

// weekday reads the name of a day or its first three letters, in any case.
func weekday(text string) (day time.Weekday, ok bool) {
	text = strings.TrimSpace(text)
	for i, name := range weekdays {
		if strings.EqualFold(text, name) || strings.EqualFold(text, name[:3]) {
			return time.Weekday((i + 1) % 7), true
		}
	}
	return 0, false
}

// weekdays reads days and runs of days, such as Mon-Thu;Sat.
func (r *row) weekdays(column, text string) (all []time.Weekday) {
	for part := range strings.SplitSeq(text, ";") {
		begin, end, run := strings.Cut(part, "-")
		if !run {
			end = begin
		}
		first, ok := weekday(begin)
		last, also := weekday(end)
		if !ok || !also {
			r.Fault(column, "%q is not a weekday, such as Mon, or a run of them, such as Mon-Thu", csvfile.Brief(part))
			return nil
		}
		for day := first; ; day = (day + 1) % 7 {
			all = append(all, day)
			if day == last {
				break
			}
		}
	}
	return all
}

// clock is a time of day, whose hour may have one digit.
func (r *row) clock(column string) string {
	text := r.Required(column, csvfile.MaxName)
	if len(text) == len("9:00") {
		text = "0" + text
	}
	if _, err := wiretime.ParseTimeOfDay(text); text != "" && err != nil {
		r.Fault(column, "is not a time of day (HH:MM)")
	}
	return text
}

func checkPeriod(r *row, p *periodRow) {
	t := &r.pass.index.timetable
	if !r.Bad("starts") && !r.Bad("ends") && p.Ends <= p.Starts {
		r.Fault("ends", "is not after starts")
	}
	if strings.Contains(p.Name, ";") {
		r.Fault("name", "has a semicolon")
	}
	for _, day := range r.weekdays("weekdays", cmp.Or(p.Weekdays, "Mon-Fri")) {
		key := periodKey{strings.Clone(p.School), strings.ToLower(p.Name), day}
		if _, twice := t.periods[key]; twice && p.Name != "" {
			r.Fault("name", "%q has other times on %s already", csvfile.Brief(p.Name), day)
		}
		t.periods[key] = period{strings.Clone(p.Starts), strings.Clone(p.Ends)}
	}
	if len(t.periods) > maxPeriods {
		r.Fault("name", "is beyond the maximum of %d periods and weekdays", maxPeriods)
	}
}

// weekName makes names equal that differ in case or a "Week" before them.
func weekName(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	if rest, ok := strings.CutPrefix(text, "week "); ok {
		text = strings.TrimSpace(rest)
	}
	return text
}

func checkWeek(r *row, w *weekRow) {
	t := &r.pass.index.timetable
	rule := weekRule{file: r.pass.file, line: r.Line(), off: form.OrZero(w.Off), school: strings.Clone(w.School),
		days: r.days(w.FirstDay, w.LastDay)}
	if rule.days.Last < rule.days.First {
		return
	}
	if w.Week != "" {
		if rule.off {
			r.Fault("week", "can't be given with off, which means no lessons")
		}
		for name := range strings.SplitSeq(w.Week, ";") {
			rule.weeks = append(rule.weeks, weekName(name))
		}
		if slices.Contains(rule.weeks, "") {
			r.Fault("week", "has an empty entry between semicolons")
		}
	}
	if w.Category != "" {
		if w.Week != "" {
			r.Fault("week", "can't be given with a category; title selects its events")
		}
		t.from[strings.Clone(w.Category)] = append(t.from[w.Category], rule)
		return
	}
	for _, column := range []string{"first_day", "last_day"} {
		if text := strings.TrimSpace(r.Raw(column)); text == "" && !r.Bad(column) {
			r.Fault(column, problem.Blank)
		}
	}
	if !r.Bad("first_day") && !r.Bad("last_day") && !t.add(rule) {
		r.Fault("last_day", tooManyDays, maxWeekDays)
	}
}

const tooManyDays = "the rows have more than %d days"

// add keeps a rule, while there is room.
func (t *timetable) add(rule weekRule) bool {
	if t.days += int(rule.days.Last-rule.days.First) + 1; t.days > maxWeekDays {
		t.broken = true
		return false
	}
	t.rows = append(t.rows, rule)
	return true
}

// take keeps the days of an event of a category that weeks.csv names.
func (t *timetable) take(at Row, zone wiretime.Zone, faults *csvfile.FaultsError) {
	e, _ := at.Record.(EventRecord)
	if t.from[e.Category] == nil {
		return
	}
	t.taken[strings.Clone(e.Category)] = true
	span, wrong := zone.NewSpan(wiretime.SpanFields{AllDay: e.AllDay, StartsAt: &e.StartsAt, EndsAt: &e.EndsAt})
	if wrong == nil {
		days := zone.Days(span.Starts, span.Ends)
		t.give(CalendarEvent{Category: e.Category, Title: e.Body, Days: days, row: at}, faults)
	}
}

// CalendarEvent is an event that names a week, or days off.
type CalendarEvent struct {
	Category string // key
	Title    string
	Days     wiretime.Days
	row      Row // of one in events.csv
}

// give adds the days of an event to the rows of weeks.csv that refer to its category.
func (t *timetable) give(e CalendarEvent, faults *csvfile.FaultsError) {
	for _, rule := range t.from[e.Category] {
		if !rule.days.Overlaps(e.Days) {
			continue
		}
		rule.days = wiretime.Days{First: max(rule.days.First, e.Days.First), Last: min(rule.days.Last, e.Days.Last)}
		if e.row.File != "" {
			rule.file, rule.line = e.row.File, e.row.Line
		}
		if !rule.off {
			rule.weeks = []string{weekName(e.Title)}
		}
		if !t.add(rule) {
			faults.Add(csvfile.Fault{File: rule.file, Line: rule.line, Column: "category",
				Reason: fmt.Sprintf(tooManyDays, maxWeekDays)})
		}
	}
}

// plan makes the calendars, and reports days that belong to two weeks.
func (t *timetable) plan(faults *csvfile.FaultsError) {
	t.terms[""] = t.calendarOf("", faults)
	for _, rule := range t.rows {
		if t.terms[rule.school] == nil {
			t.terms[rule.school] = t.calendarOf(rule.school, faults)
		}
	}
}

// of is the calendar of a school; without rows of its own, that of no school.
func (t *timetable) of(school string) *calendar {
	return cmp.Or(t.terms[school], t.terms[""])
}

// calendarOf lists the days with lessons of a school: those of its terms, which are rows without a week, or where it
// has none, those of its weeks. A day off has none.
func (t *timetable) calendarOf(school string, faults *csvfile.FaultsError) *calendar {
	weeks, terms, off := map[wiretime.Day]weekRule{}, map[wiretime.Day]bool{}, map[wiretime.Day]bool{}
	c := &calendar{known: map[string]bool{}}
	for _, rule := range t.rows {
		if rule.school != "" && rule.school != school {
			continue
		}
		for _, name := range rule.weeks {
			c.known[name] = true
		}
		for day := rule.days.First; day <= rule.days.Last; day++ {
			switch earlier, twice := weeks[day]; {
			case rule.off:
				off[day] = true
			case rule.weeks == nil:
				terms[day] = true
			case !twice:
				weeks[day] = rule
			case earlier.week(day) != rule.week(day):
				t.broken = true
				faults.Add(csvfile.Fault{File: rule.file, Line: rule.line, Column: "week",
					Reason: fmt.Sprintf("%s is in the week %q by %s:%d", day, earlier.week(day), earlier.file,
						earlier.line)})
			}
		}
	}
	days := slices.Collect(maps.Keys(terms))
	if len(terms) == 0 {
		days = slices.Collect(maps.Keys(weeks))
	}
	slices.Sort(days)
	for _, day := range days {
		if !off[day] {
			c.days = append(c.days, day)
			c.weeks = append(c.weeks, weeks[day].week(day))
		}
	}
	return c
}

// times are those of a lesson's periods on a weekday, as one. A school's own come before those of no school.
func (r *row) times(column, school string, day time.Weekday) (all period) {
	periods := r.pass.index.timetable.periods
	list := r.list(column, "periods", maxDouble)
	for _, name := range list {
		p, ok := periods[periodKey{school, strings.ToLower(name), day}]
		if !ok {
			p, ok = periods[periodKey{"", strings.ToLower(name), day}]
		}
		if !ok {
			r.Fault(column, "no row of %s has the period %q on %s", r.pass.index.file(Periods),
				csvfile.Brief(name), day)
			return period{}
		}
		if all.starts == "" || p.starts < all.starts {
			all.starts = p.starts
		}
		all.ends = max(all.ends, p.ends)
	}
	return all
}

// lesson is a row of lessons.csv, from which events are made.
type lesson struct {
	lessonRow
	week  string
	times map[time.Weekday]period
	days  wiretime.Days
}

// checkLesson checks a row against the other files.
func checkLesson(r *row, l *lessonRow) {
	if n := len([]rune(l.Key)); n > maxLessonKey {
		r.Fault("key", "has %d characters, at most %d are allowed", n, maxLessonKey)
	}
	days := r.days(l.FirstDay, l.LastDay)
	t := &r.pass.index.timetable
	if l.Weekday == "" || l.Period == "" || t.broken ||
		slices.ContainsFunc([]string{"key", "weekday", "period", "school", "first_day", "last_day"}, r.Bad) {
		return
	}
	times := map[time.Weekday]period{}
	for _, day := range r.weekdays("weekday", l.Weekday) {
		times[day] = r.times("period", l.School, day)
	}
	if r.Bad("weekday") || r.Bad("period") {
		return
	}
	if l.Week != "" && !t.of(l.School).known[weekName(l.Week)] {
		r.Fault("week", "no row of %s has the week %q", r.pass.index.file(Weeks), csvfile.Brief(l.Week))
		return
	}
	r.pass.lesson = &lesson{lessonRow: *l, week: weekName(l.Week), times: times, days: days}
	if r.pass.checked {
		return
	}
	count, ahead := 0, 0
	for range t.daysOf(r.pass.lesson, wiretime.FirstDay) { // also those that have been
		count++
	}
	for on := range t.daysOf(r.pass.lesson, r.pass.from) {
		ahead++
		r.checkOccurrence(r.pass.lesson, on)
	}
	if t.events += ahead; t.events > maxLessons {
		r.Fault("key", "the lessons have more than %d events", maxLessons)
		t.broken = true
	}
	if count == 0 {
		r.Fault("weekday", "%s has no such day between the first and the last day of the lesson",
			r.pass.index.file(Weeks))
	}
}

// checkOccurrence checks what depends on the day of a lesson.
func (r *row) checkOccurrence(l *lesson, on wiretime.Day) {
	e := l.on(on)
	if _, wrong := r.pass.zone.NewSpan(wiretime.SpanFields{StartsAt: &e.StartsAt, EndsAt: &e.EndsAt}); wrong != nil {
		r.Fault("period", "the clock skips its time on %s", on)
	}
	if r.pass.index.has(Events, e.Key) {
		r.Fault("key", "its event %q is in %s too", e.Key, r.pass.index.file(Events))
	}
}

// daysOf yields the days of a lesson from a day on.
func (t *timetable) daysOf(l *lesson, from wiretime.Day) func(yield func(wiretime.Day) bool) {
	return func(yield func(wiretime.Day) bool) {
		c := t.of(l.School)
		begin, _ := slices.BinarySearch(c.days, max(from, l.days.First))
		for i := begin; i < len(c.days) && c.days[i] <= l.days.Last; i++ {
			_, fits := l.times[c.days[i].Date().Weekday()]
			if fits && (l.week == "" || l.week == c.weeks[i]) && !yield(c.days[i]) {
				return
			}
		}
	}
}

// on is the event of a lesson on a day.
func (l *lesson) on(day wiretime.Day) EventRecord {
	text, times := day.String(), l.times[day.Date().Weekday()]
	return EventRecord{Key: LessonKeys + l.Key + ":" + text, Body: l.Body, Category: l.Category,
		StartsAt: text + " " + times.starts, EndsAt: text + " " + times.ends, Organiser: l.Organiser, Owner: l.Owner,
		Elements: l.Elements}
}
