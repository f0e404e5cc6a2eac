package api

import (
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/console/internal/board"
	"github.com/belfry-schools/belfry/services/console/internal/page"
)

// boardTypes are the types of what a board shows.
var boardTypes = []string{"Location", "Service", "Staff", "Property"}

// boardForm has the fields of the board's form.
type boardForm struct {
	Type     string
	Date     wiretime.Day
	Five     bool // days, rather than one
	Find     string
	School   string // whose things are shown; "" for all, or the visitor's
	From, To string // only what is free from … to …, such as 09:00; "" both: all
}

// roomsBody is what the board's page shows.
type roomsBody struct {
	Form        boardForm
	Types       []string
	Board       board.Board
	Style       template.CSS // of the places of the board
	Rows, Of    int          // rows that are shown, of all
	Fault       string       // a text: why the form can't be answered; "" for none
	Back, Later boardForm
	Screen      string // where a corridor screen of these is; "" for too many
}

// days are those of the board.
func (f boardForm) days() wiretime.Days {
	if f.Five {
		return wiretime.Days{First: f.Date, Last: f.Date.AddDays(4)}
	}
	return wiretime.Days{First: f.Date, Last: f.Date}
}

// Path is the page's address.
func (f boardForm) Path() string {
	query := url.Values{"date": {f.Date.String()}}
	for name, value := range map[string]string{
		"type": f.Type, "find": f.Find, "school": f.School, "from": f.From, "to": f.To,
	} {
		if value != "" && (name != "type" || value != boardTypes[0]) {
			query.Set(name, value)
		}
	}
	if f.Five {
		query.Set("days", "5")
	}
	return "/rooms?" + query.Encode()
}

// On is the form for one other day.
func (f boardForm) On(d wiretime.Day) boardForm {
	f.Date, f.Five = d, false
	return f
}

// moved is the form for the days after its own, or by -1 for those before.
func (f boardForm) moved(by int) boardForm {
	days := f.days()
	f.Date = f.Date.AddDays(by * int(days.Last-days.First+1))
	return f
}

// Book is the address for booking a free time of a thing, or the part of it that was asked for.
func (f boardForm) Book(id int64, d wiretime.Day, t board.Time) string {
	from, to := t.Starts(), t.Ends()
	if f.From != "" && from <= f.From && f.To <= to {
		from, to = f.From, f.To
	}
	return "/book?" + url.Values{"who": {strconv.FormatInt(id, 10)}, "date": {d.String()}, "from": {from},
		"to": {to}}.Encode()
}

// readBoardForm reads the query. Fault is the text for its fault.
func (v *visit) readBoardForm() (f boardForm, fault string) {
	f = boardForm{
		Type: v.c.Query("type", boardTypes[0]), Date: v.zone.DayOf(v.now), Five: v.c.Query("days") == "5",
		Find: strings.TrimSpace(v.c.Query("find")), From: page.ReadHours(v.c.Query("from")),
		To: page.ReadHours(v.c.Query("to")), School: v.c.Query("school"),
	}
	if !slices.Contains(boardTypes, f.Type) {
		f.Type, fault = boardTypes[0], "rooms.fault.type"
	}
	if text := v.c.Query("date"); text != "" {
		day, err := wiretime.ParseDay(text)
		if err != nil {
			return f, "rooms.fault.date"
		}
		f.Date = day
	}
	if f.From == "" && f.To == "" {
		return f, fault
	}
	starts, errStarts := wiretime.ParseTimeOfDay(f.From)
	ends, errEnds := wiretime.ParseTimeOfDay(f.To)
	if errStarts != nil || errEnds != nil || starts.String() >= ends.String() {
		return f, "rooms.fault.times"
	}
	f.From, f.To = starts.String(), ends.String()
	return f, fault
}

// rooms shows the bookings of all rooms, or other things, on one day or five.
func (h handlers) rooms(v *visit) error {
	form, fault := v.readBoardForm()
	body := roomsBody{Form: form, Types: boardTypes, Fault: fault, Back: form.moved(-1), Later: form.moved(1)}
	if fault == "" {
		if err := v.layOut(&body); err != nil {
			return v.askSchool(err)
		}
	}
	code := fiber.StatusOK
	if body.Fault != "" {
		code = fiber.StatusBadRequest
	}
	return v.answer(code, "rooms", v.texts.T("rooms.title"), body)
}

// layOut reads the bookings, and leaves out things that are not free if the form says so.
func (v *visit) layOut(body *roomsBody) error {
	form, days := body.Form, body.Form.days()
	found, err := v.timetablesOf(form.Type, form.School, url.Values{
		"include": {"staff,busy"}, "start_date": {days.First.String()}, "end_date": {days.Last.String()},
	})
	if err != nil {
		return err
	}
	things := thingsOf(found)
	body.Of = len(things)
	var from, to time.Time // zero: all are free then
	if form.From != "" {
		date := form.Date.String() + " "
		if from, to, err = v.zone.ParseTimes(date+form.From, date+form.To); err != nil { // the clock skips one
			body.Fault = "rooms.fault.times"
			return nil //nolint:nilerr // the page says it
		}
	}
	find := strings.ToLower(form.Find)
	things = slices.DeleteFunc(things, func(t board.Thing) bool {
		return !t.Free(from, to) || !strings.Contains(strings.ToLower(t.Name), find)
	})
	slices.SortStableFunc(things, func(a, b board.Thing) int { return strings.Compare(a.Name, b.Name) })
	body.Rows, body.Screen = len(things), screenOf(things)
	body.Board = board.New(things, board.Options{Zone: v.zone, Days: days, Now: v.now})
	body.Style = template.CSS(body.Board.Style()) // #nosec G203 -- numbers alone are put in
	return nil
}

// thingsOf are timetables for the board.
func thingsOf(found []timetable) (things []board.Thing) {
	for _, t := range found {
		thing := board.Thing{ID: t.Element.ID, Name: t.Element.Name}
		for _, c := range t.Commitments {
			thing.Bookings = append(thing.Bookings, board.Booking{
				Event: c.Event.ID, Title: c.Event.Body, Who: c.Event.Staff, State: string(c.Status),
				AllDay: c.Event.AllDay, Idle: !c.Event.Busy,
				Starts: instant(c.Event.StartsAt), Ends: instant(c.Event.EndsAt),
			})
		}
		things = append(things, thing)
	}
	return things
}

// instant reads a time of the interface; the zero time where there is none.
func instant(text string) time.Time {
	at, _ := wiretime.Parse(text)
	return at
}
