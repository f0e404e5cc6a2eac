package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/console/internal/page"
)

// whoAtMost bounds the people and things that the form books at once.
const whoAtMost = 50

// times are the form's fields of an event, as they were typed.
type times struct {
	Title          string
	Kind           int64 // the category
	Date, From, To string
	Last           string // the last day, "" for one day
	AllDay         bool
}

// bookBody is what the page for booking shows.
type bookBody struct {
	times
	Kinds   []api.ListedCategory // of which the visitor may make events
	Days    []api.ListedCategory // on whose days there may be none
	Repeat  int                  // weeks between two events; 0: none
	Until   string
	Without int64  // the category on whose days there is none
	Only    int64  // the category on whose days there is one; 0: on any day
	Letter  string // the title of the events of Only that count; "" for all
	Who     []api.Element
	Find    string
	Found   []api.Element
	Key     string // so that the form, sent twice, books once
	Dates   []date
	attempt
}

// attempt is the outcome of a form that writes an event.
type attempt struct {
	Anyway  bool             // whatever clashes
	States  map[int64]string // what would come of each person and thing; nil while that is not known
	Clashes []clash
	Fault   string
	Wrong   map[string][]string // the fields that it is about, as the interface names them
}

// try makes the call of a form, which is refused if something clashes, unless clashes are accepted. If the form must be
// shown again, with the clashes, faults or what could not be added, it returns the code of that page; otherwise 0.
func (v *visit) try(
	ctx context.Context, a *attempt, call func(ctx context.Context, clashes string) (client.Booked, error),
) (again int, err error) {
	booked, err := call(ctx, a.clashes("refuse"))
	if refused(err, fiber.StatusConflict) != nil {
		would, err := call(client.DryRun(v.ctx), "report")
		a.Clashes = client.Each[clash](would.Clashes)
		return fiber.StatusConflict, err
	}
	if v.invalid(err, a) {
		return fiber.StatusUnprocessableEntity, nil
	}
	if err == nil && len(booked.Failures) > 0 {
		a.Fault = v.notAdded(booked.Failures)
		return fiber.StatusConflict, nil
	}
	return 0, err
}

// notAdded says what could not be added, and why, as far as the interface does.
func (v *visit) notAdded(failures []client.Record) string {
	var all []string
	for _, f := range failures {
		item := f.Inner("item")
		all = append(all, strings.TrimSpace(item.Inner("element").Text("name")+" "+v.texts.T("book.not-added")))
		for _, field := range slices.Sorted(maps.Keys(item.Inner("errors"))) {
			all = append(all, item.Inner("errors").Text(field))
		}
	}
	return strings.Join(all, ", ")
}

// clashes is the value of clashes, unless clashes are accepted.
func (a attempt) clashes(otherwise string) string {
	if a.Anyway {
		return "allow"
	}
	return otherwise
}

// states are the states that people and things would get by a booking.
func (v *visit) states(booked client.Booked) map[int64]string {
	event, states := client.As[api.EventAnswer](booked.Event), map[int64]string{}
	for _, c := range event.Commitments {
		states[c.Element.ID] = v.texts.T("book.free")
		if c.Status == "requested" {
			states[c.Element.ID] = v.asks(c.Decision)
		}
	}
	for _, r := range event.Requests {
		states[r.Element.ID] = v.asks(r.Decision)
	}
	for _, c := range client.Each[clash](booked.Clashes) {
		states[c.Element.ID] = v.texts.T("book.clash")
	}
	for _, f := range booked.Failures {
		states[number(f.Text("element_id"))] = v.texts.T("book.not-added")
	}
	return states
}

// asks says that someone will decide, and who, as far as the visitor may know.
func (v *visit) asks(d api.Decision) string {
	if len(d.Deciders) == 0 {
		return v.texts.T("book.asks")
	}
	return v.texts.T("book.asks.whom", v.texts.Names(d.Deciders))
}

// idsOf are those of elements.
func idsOf(elements []api.Element) []int64 {
	return sequence.Map(elements, func(e api.Element) int64 { return e.ID })
}

// clash is another booking of a person or thing.
type clash struct {
	Element api.Element
	Event   api.EventSummary
}

// date is one of a series that is to be made.
type date struct {
	Day    wiretime.Day
	Reason string // why it is left out; "" for one that is made
}

// book shows the form, with what the address says filled in.
func (h handlers) book(v *visit) error {
	day, err := v.readDay(v.c.Query("date"))
	if err != nil {
		return v.refuse(fiber.StatusBadRequest, "date")
	}
	b := bookBody{times: times{
		Title: v.c.Query("what"), Date: day.String(), From: v.c.Query("from"), To: v.c.Query("to"),
	}}
	ids, _ := readIDs(v.c.Query("who")) // none where it names none
	if own := v.me.Element.ID; own != 0 && !slices.Contains(ids, own) {
		ids = append(ids, own)
	}
	for _, id := range ids {
		record, err := v.api.Get(v.ctx, fmt.Sprintf("/api/elements/%d", id), "element")
		if err != nil {
			return err
		}
		b.Who = append(b.Who, client.As[api.Element](record))
	}
	return v.showBook(b, fiber.StatusOK)
}

func (v *visit) showBook(b bookBody, code int) (err error) {
	if !v.me.Permissions.CanAddEvents {
		return v.refuse(fiber.StatusForbidden, "forbidden")
	}
	if b.Kinds, err = list[api.ListedCategory](v, "/api/eventcategories", "eventcategories", nil); err != nil {
		return err
	}
	avoid := url.Values{"for": {"not_during"}}
	if b.Days, err = list[api.ListedCategory](v, "/api/eventcategories", "eventcategories", avoid); err != nil {
		return err
	}
	b.Key = cmp.Or(b.Key, rand.Text())
	return v.answer(code, "book", v.texts.T("book"), b)
}

// readTimes reads the form's fields of an event.
func (v *visit) readTimes() times {
	return times{
		Title: v.typed.Get("title"), Kind: number(v.typed.Get("kind")), AllDay: v.typed.Get("allday") != "",
		Date: v.typed.Get("date"), Last: v.typed.Get("last"),
		From: page.ReadHours(v.typed.Get("from")), To: page.ReadHours(v.typed.Get("to")),
	}
}

// fields are those of the event, as the interface takes them.
func (t times) fields() map[string]any {
	f := map[string]any{"body": t.Title, "event_category_id": t.Kind, "all_day_field": t.AllDay}
	if t.AllDay {
		f["starts_at_text"], f["ends_at_text"] = t.Date, t.Last
		return f
	}
	// A missing time is sent as ?, which is refused: without it, the event would begin or end at midnight.
	f["starts_at_text"] = t.Date + " " + cmp.Or(t.From, "?")
	f["ends_at_text"] = cmp.Or(t.Last, t.Date) + " " + cmp.Or(t.To, "?")
	return f
}

// readBook reads the form. Each person and thing comes as ID:NAME, so that showing them again needs no call.
func (v *visit) readBook() (bookBody, error) {
	b := bookBody{
		times: v.readTimes(), Until: v.typed.Get("until"), Key: v.typed.Get("key"),
		Repeat: int(number(v.typed.Get("repeat"))), Without: number(v.typed.Get("without")),
		Only: number(v.typed.Get("only")), Letter: strings.TrimSpace(v.typed.Get("letter")),
		Find: strings.TrimSpace(v.typed.Get("find")), attempt: attempt{Anyway: v.typed.Get("anyway") != ""},
	}
	if b.Repeat < 0 || b.Repeat > 2 || len(v.typed["who"]) > whoAtMost || len(b.Key) > 64 {
		return b, errIDs
	}
	for _, text := range v.typed["who"] {
		number, name, _ := strings.Cut(text, ":")
		id, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return b, errIDs
		}
		if !slices.Contains(idsOf(b.Who), id) {
			b.Who = append(b.Who, api.Element{ID: id, Name: name})
		}
	}
	return b, nil
}

// bookSent does what the button says: searches, checks or books.
func (h handlers) bookSent(v *visit) error {
	b, err := v.readBook()
	if err != nil {
		return v.refuse(fiber.StatusBadRequest, "invalid")
	}
	do, code := v.typed.Get("do"), fiber.StatusOK // Enter sends none
	books, search := do == "book", do == "find" || b.Find != ""
	if search {
		found, err := v.elements(b.Find)
		if err != nil {
			return err
		}
		b.Found = slices.DeleteFunc(slices.Clone(found), func(e api.Element) bool {
			return slices.Contains(idsOf(b.Who), e.ID)
		})
		if books && len(b.Found) == len(found) { // none is chosen, and all would be left out without a word
			books, code = false, fiber.StatusUnprocessableEntity
			if b.Fault = v.texts.T("people.fault"); len(found) == 0 {
				b.Fault = v.texts.T("search.none")
			}
		}
	}
	switch {
	case books:
		return v.makeBooking(b)
	case search && (b.Title == "" || b.Kind == 0 || !b.AllDay && (b.From == "" || b.To == "")):
		return v.showBook(b, code)
	}
	return v.showCheck(b, code)
}

// Plan is everything that the dates of a series depend on.
func (b bookBody) Plan() string {
	return fmt.Sprint(b.at(), b.Repeat, b.Until, b.Without, b.Only, b.Letter, idsOf(b.Who))
}

// rule is how the event repeats; nil if it does not.
func (b bookBody) rule() map[string]any {
	if b.Repeat == 0 {
		return nil
	}
	rule := map[string]any{"rule": fmt.Sprintf("FREQ=WEEKLY;INTERVAL=%d;UNTIL=%s", b.Repeat,
		strings.ReplaceAll(b.Until, "-", ""))}
	if b.Only != 0 {
		during := map[string]any{"category": b.Only}
		if b.Letter != "" {
			during["body"] = b.Letter
		}
		rule["during"] = during
	}
	if b.Without != 0 {
		rule["not_during"] = []any{map[string]any{"category": b.Without}}
	}
	return rule
}

// showCheck shows what a booking would do, and writes nothing.
func (v *visit) showCheck(b bookBody, code int) error {
	trial := client.DryRun(v.ctx)
	booked, err := v.api.BookWith(trial, b.fields(), idsOf(slices.Concat(b.Who, b.Found)), "report")
	if err != nil {
		return v.askAgain(b, err)
	}
	b.Clashes = slices.DeleteFunc(client.Each[clash](booked.Clashes), func(c clash) bool {
		return !slices.Contains(idsOf(b.Who), c.Element.ID)
	})
	b.States = v.states(booked)
	if rule := b.rule(); rule != nil {
		planned, err := v.api.Repeat(trial, b.fields(), idsOf(b.Who), rule, b.clashes("skip"))
		if err != nil {
			return v.askAgain(b, err)
		}
		b.Dates = v.dates(client.As[api.PlannedSeries](planned.Series))
	}
	return v.showBook(b, code)
}

// askAgain shows the form with what is wrong.
func (v *visit) askAgain(b bookBody, err error) error {
	if v.invalid(err, &b.attempt) {
		return v.showBook(b, fiber.StatusUnprocessableEntity)
	}
	return err
}

// dates are those of a series in their order, with what is left out.
func (v *visit) dates(s api.PlannedSeries) (all []date) {
	for _, e := range s.Events {
		day, _ := v.texts.DayText(e.StartsAt) // as the interface writes it
		all = append(all, date{Day: day})
	}
	for _, l := range s.LeftOut {
		day, _ := wiretime.ParseDay(l.Date)
		all = append(all, date{day, fmt.Sprint(l.Reason)})
	}
	slices.SortStableFunc(all, func(a, b date) int { return int(a.Day) - int(b.Day) })
	return all
}

// invalid says whether the interface refuses a form that must be corrected, and the faults: the texts for its fields
// or, without such, the interface's message.
func (v *visit) invalid(err error, a *attempt) bool {
	failed := refused(err, fiber.StatusUnprocessableEntity, fiber.StatusBadRequest)
	if failed == nil {
		return false
	}
	var all []string
	for _, field := range slices.Backward(slices.Sorted(maps.Keys(failed.Fields))) { // the start before the end
		key := "fault." + field
		if slices.Contains(failed.Fields[field], problem.Skipped) {
			key = "fault.skipped"
		}
		if text := v.texts.T(key); text != key && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	a.Fault, a.Wrong = cmp.Or(strings.Join(all, " "), failed.Problems()), failed.Fields
	return true
}

// makeBooking books. Clashes are shown instead, with the choice to book anyway.
func (v *visit) makeBooking(b bookBody) error {
	once, which, done := v.once(), "one", "booked"
	b.Key = "" // another try is another booking
	var booked client.Booked
	var err error
	if rule := b.rule(); rule == nil {
		booked, err = v.api.BookWith(once, b.fields(), idsOf(b.Who), b.clashes("refuse"))
	} else {
		var planned client.Planned
		clashes := "refuse"
		if v.typed.Get("listed") == b.Plan() { // with what is left out
			clashes = "skip"
		}
		planned, err = v.api.Repeat(once, b.fields(), idsOf(b.Who), rule, b.clashes(clashes))
		if made := planned.Series.Records("events"); len(made) > 0 {
			booked.Event = made[0]
		}
		booked.Failures, which = planned.Failures, "all"
	}
	if refused(err, fiber.StatusConflict) != nil {
		return v.showCheck(b, fiber.StatusConflict)
	}
	if err != nil {
		return v.askAgain(b, err)
	}
	if len(booked.Failures) > 0 {
		done = "partly"
	}
	at := fmt.Sprintf("/events/%d", booked.Event.ID("id"))
	deleted := v.undoQuery("again", "", url.Values{"title": {b.Title}, "date": {b.Date}})
	return v.leave(at + "?" + v.undoQuery(done, at+"/cancel", url.Values{"which": {which}, "deleted": {deleted}}))
}
