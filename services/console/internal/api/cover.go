package api

import (
	"cmp"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

const (
	// lessonsAtMost bounds the lessons of a person for which others are looked for: two calls each.
	lessonsAtMost = 12
	// standInsAtMost bounds the people who are offered for a lesson.
	standInsAtMost = 6
	// absentAtMost bounds the listed events whose pupils are elsewhere.
	absentAtMost = 100
)

// lesson is an event that someone else could take over.
type lesson struct {
	api.EventSummary
	Also  []api.EventSummary // what the person is at as well
	Free  []api.Element      // who is free then, those who share most groups with the person first
	Notes []shownNote        // which the system wrote: the pupils that are away
}

// coverBody is what the page shows.
type coverBody struct {
	Day, Earlier, Later wiretime.Day
	Staff               []timetable // who is at something on that day, by name
	Twice               []timetable // of them, who is wanted in two places at once
	Former              []timetable // of them, who has left the school, for administrators
	Who                 *timetable  // nil: no one is chosen
	Lessons             []lesson
	Left                int  // lessons, or events with absent pupils, that are not shown
	Pupils              bool // the events whose pupils are elsewhere are asked for
	Absent              []api.AbsentPupils
	Undo                *undo
	Fault, School       string
}

// At is the address of a day, and of a person on it; 0: no one.
func (b coverBody) At(day wiretime.Day, who int64) string {
	query := url.Values{"date": {day.String()}}
	if who != 0 {
		query.Set("who", id(who))
	}
	if b.School != "" {
		query.Set("school", b.School)
	}
	return "/cover?" + query.Encode()
}

// AtWork is how many events of the day a person is at.
func (b coverBody) AtWork(person int64) int {
	for _, t := range b.Staff {
		if t.Element.ID == person {
			return len(t.events())
		}
	}
	return 0
}

// cover shows who is needed in two places on a day, and who is free to stand in for a person.
func (h handlers) cover(v *visit) error {
	if v.me.Kind != "staff" {
		return v.refuse(fiber.StatusForbidden, "forbidden")
	}
	return v.showCover(v.c.Query("date"), v.c.Query("who"), "", fiber.StatusOK)
}

func (v *visit) showCover(date, who, fault string, code int) error {
	day, err := v.readDay(date)
	if err != nil {
		return v.refuse(fiber.StatusBadRequest, "date")
	}
	b := coverBody{Day: day, Earlier: day.AddDays(-1), Later: day.AddDays(1), Undo: v.readUndo(), Fault: fault,
		School: cmp.Or(v.c.Query("school"), v.typed.Get("school"))}
	if err := v.staff(&b); err != nil {
		return v.askSchool(err)
	}
	for i := range b.Staff {
		if id(b.Staff[i].Element.ID) == who {
			b.Who = &b.Staff[i]
		}
	}
	if b.Who != nil {
		err = v.lessons(&b)
	} else if b.Pupils = v.c.Query("pupils") != ""; b.Pupils {
		err = v.absent(&b)
	}
	if err != nil {
		return err
	}
	return v.answer(code, "cover", v.texts.T("cover"), b)
}

// absent lists the events of the day whose pupils are elsewhere. It is for admins, and writes no note.
func (v *visit) absent(b *coverBody) error {
	day := b.Day.String()
	found, err := v.api.CheckAbsences(v.ctx, day, day, true, func(client.Absences, string) {})
	b.Absent = client.Each[api.AbsentPupils](found.Clashes[:min(len(found.Clashes), absentAtMost)])
	b.Left = len(found.Clashes) - len(b.Absent)
	return err
}

// staff lists those who are at something on the day.
func (v *visit) staff(b *coverBody) error {
	day := b.Day.String()
	query := url.Values{"start_date": {day}, "end_date": {day}, "include": {"locations,busy"}}
	current, err := v.timetablesOf("Staff", b.School, query)
	if err != nil {
		return err
	}
	former, err := v.former(query)
	for i, t := range slices.Concat(current, former) {
		t.Commitments = slices.DeleteFunc(t.Commitments, func(c api.ListedCommitment) bool {
			return c.Status == "rejected"
		})
		if len(t.Commitments) > 0 {
			b.Staff = append(b.Staff, t)
			if i >= len(current) {
				b.Former = append(b.Former, t)
			}
		}
		if slices.ContainsFunc(t.Commitments, func(c api.ListedCommitment) bool { return len(t.also(c.Event)) > 0 }) {
			b.Twice = append(b.Twice, t)
		}
	}
	return err
}

// former asks for the timetables of staff who are no longer current: their lessons stay when they leave. Each read of a
// timetable is recorded, so it asks only for those whose initials an event of the day has. Only administrators may list
// former staff.
func (v *visit) former(query url.Values) ([]timetable, error) {
	if !v.me.LooksAfter() {
		return nil, nil
	}
	former := map[string][]int64{} // by their initials
	for e, err := range v.api.List(v.ctx, elementsPath, "elements",
		url.Values{"type": {"Staff"}, "current": {"false"}, "limit": {"1000"}}) {
		if err != nil {
			return nil, err
		}
		initials := e.Text("initials")
		former[initials] = append(former[initials], e.ID("id"))
	}
	if len(former) == 0 {
		return nil, nil
	}
	var ids []int64
	for e, err := range v.api.List(v.ctx, "/api/events", "events", url.Values{"include": {"staff"}, "limit": {"1000"},
		"start_date": query["start_date"], "end_date": query["end_date"]}) {
		if err != nil {
			return nil, err
		}
		for initials := range strings.SplitSeq(e.Text("staff"), ",") {
			ids = append(ids, former[initials]...)
			delete(former, initials)
		}
	}
	slices.Sort(ids)
	return v.timetablesBy(ids, query)
}

// events lists those of the commitments, each once: a person may be at one by itself and through groups.
func (t timetable) events() (all []api.EventSummary) {
	for _, c := range t.Commitments {
		if !slices.ContainsFunc(all, func(e api.EventSummary) bool { return e.ID == c.Event.ID }) {
			all = append(all, c.Event)
		}
	}
	return all
}

// also lists the events that need the person at the same time as one: both make the person busy.
func (t timetable) also(e api.EventSummary) []api.EventSummary {
	return slices.DeleteFunc(t.events(), func(other api.EventSummary) bool {
		return other.ID == e.ID || !e.Busy || !other.Busy || !overlap(other, e)
	})
}

// lessons fills in the lessons of the chosen person: the events, at a time of the day, to which the person is committed
// directly.
func (v *visit) lessons(b *coverBody) error {
	for _, c := range b.Who.Commitments {
		switch {
		case c.Element.ID != 0 || c.Event.AllDay:
			continue
		case len(b.Lessons) == lessonsAtMost:
			b.Left++
			continue
		}
		l := lesson{EventSummary: c.Event, Also: b.Who.also(c.Event)}
		notes, err := v.notes("/api/events/" + id(c.Event.ID))
		if err != nil {
			return err
		}
		if l.Free, err = v.standIns(c.Event.ID, b.Who.Element.ID); err != nil {
			return err
		}
		for _, n := range notes {
			if n.Owner.ID == 0 {
				l.Notes = append(l.Notes, n)
			}
		}
		b.Lessons = append(b.Lessons, l)
	}
	return nil
}

// standIns lists who is free during an event, besides the one to stand in for.
func (v *visit) standIns(event, instead int64) ([]api.Element, error) {
	free, err := find[api.Element](v, "/api/free", "elements", url.Values{
		"type": {"Staff"}, "event": {id(event)}, "near": {id(instead)},
	})
	free = slices.DeleteFunc(free, func(e api.Element) bool { return e.ID == instead })
	return free[:min(len(free), standInsAtMost)], err
}

// notes are those of the event at a path of the interface.
func (v *visit) notes(path string) (all []shownNote, err error) {
	notes, err := list[api.Note](v, path+"/notes", "notes", nil)
	for _, n := range notes {
		all = append(all, shownNote{n, template.HTML(n.FormattedContents)}) //nolint:gosec // made safe
	}
	return all, err
}

// coverSent swaps one person for another in an event, unless that one is taken meanwhile. Undo swaps back anyway, since
// the absent person is at another event, unless what was decided on the other since would be lost.
func (h handlers) coverSent(v *visit) error {
	date, who := v.typed.Get("date"), v.typed.Get("who")
	if _, err := v.readDay(date); err != nil { // it leads back there
		return v.refuse(fiber.StatusBadRequest, "date")
	}
	ids, err := readEach([]string{v.typed.Get("event"), v.typed.Get("out"), v.typed.Get("in")}, 3)
	if err != nil {
		return v.refuse(fiber.StatusBadRequest, "invalid")
	}
	changed := func() error { return v.showCover(date, who, v.texts.T("error.conflict.text"), fiber.StatusConflict) }
	was, err := v.api.Get(v.ctx, "/api/events/"+id(ids[0]), "event")
	if client.Missing(err) {
		return changed()
	}
	if err != nil {
		return err
	}
	undoes, back := v.typed.Get("anyway") != "", comesBack(client.As[api.Event](was), ids[1])
	if undoes && !back {
		return changed()
	}
	clashes := attempt{Anyway: undoes}.clashes("refuse")
	swapped, err := v.api.Replace(v.ctx, ids[0], []client.Replacement{{Element: ids[1], With: ids[2]}}, clashes)
	switch {
	case refused(err, fiber.StatusConflict) != nil:
		return v.showCover(date, who, v.texts.T("cover.taken"), fiber.StatusConflict)
	case refused(err, fiber.StatusUnprocessableEntity) != nil || client.Missing(err): // someone else covered it first
		return changed()
	}
	done := "covered"
	for _, c := range client.As[api.EventAnswer](swapped.Event).Commitments {
		if c.Element.ID == ids[2] && c.Status == "requested" {
			done = "asked"
		}
	}
	form := ""
	if back {
		form = "/cover"
	}
	school := v.typed.Get("school")
	query := v.undoQuery(done, form, url.Values{"date": {date}, "who": {who}, "school": {school},
		"event": {id(ids[0])}, "out": {id(ids[2])}, "in": {id(ids[1])}, "anyway": {"1"}})
	return v.after(err, "/cover?"+url.Values{"date": {date}, "who": {who}, "school": {school}}.Encode()+"&"+query)
}
