package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// whoAtMost bounds the people and things that the form books at once.
const whoAtMost = 50

// times are what the form asks of an event, as they were typed.
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
	Repeat  int                  // weeks between two events; 0: none
	Until   string
	Without int64  // the category on whose days there is none
	Only    int64  // the category on whose days there is one; 0: on any day
	Letter  string // the title of the events of Only that count; "" for all
	Who     []chosen
	Find    string
	Found   []api.Element
	Key     string // so that the form, sent twice, books once
	attempt

	Checked bool
	Dates   []date
}

// attempt is what came of a form that writes an event.
type attempt struct {
	Anyway  bool // whatever clashes
	Clashes []clash
	Fault   string
}

// try makes the call of a form, which is refused where something clashes, unless it is to be made anyway. Where the
// form is to be shown again, with what clashes or what is wrong, it returns the code of that page, 0 otherwise.
func (v *visit) try(
	ctx context.Context, a *attempt, call func(ctx context.Context, clashes string) ([]client.Record, error),
) (again int, err error) {
	clashes := "refuse"
	if a.Anyway {
		clashes = "allow"
	}
	_, err = call(ctx, clashes)
	if refused(err, fiber.StatusConflict) != nil {
		would, err := call(client.DryRun(v.ctx), "report")
		a.Clashes = client.Each[clash](would)
		return fiber.StatusConflict, err
	}
	if invalid(err, &a.Fault) {
		return fiber.StatusUnprocessableEntity, nil
	}
	return 0, err
}

// chosen is a person or thing to book, and what would come of it.
type chosen struct {
	api.Element
	State string // the text of what would come of it; "" before the check
}

// clash is what takes up a person or thing.
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
	ids, err := readIDs(v.c.Query("who"))
	if err != nil && v.me.Element.ID != 0 {
		ids = []int64{v.me.Element.ID}
	}
	for _, id := range ids {
		record, err := v.api.Get(v.ctx, fmt.Sprintf("/api/elements/%d", id), "element")
		if err != nil {
			return err
		}
		b.Who = append(b.Who, chosen{Element: client.As[api.Element](record)})
	}
	return v.showBook(b, fiber.StatusOK)
}

func (v *visit) showBook(b bookBody, code int) error {
	if !v.me.Permissions.CanAddEvents {
		return v.refuse(fiber.StatusForbidden, "forbidden")
	}
	var err error
	if b.Kinds, err = list[api.ListedCategory](v, "/api/eventcategories", "eventcategories", nil); err != nil {
		return err
	}
	if b.Key == "" {
		b.Key = rand.Text()
	}
	return v.answer(code, "book", v.texts.T("book"), b)
}

// readTimes reads what the form says of an event.
func (v *visit) readTimes() times {
	kind, _ := strconv.ParseInt(v.typed.Get("kind"), 10, 64) // one that is none is refused as a category
	return times{
		Title: v.typed.Get("title"), Kind: kind, Date: v.typed.Get("date"), From: v.typed.Get("from"),
		To: v.typed.Get("to"), Last: v.typed.Get("last"), AllDay: v.typed.Get("allday") != "",
	}
}

// fields are those of the event, as the interface takes them.
func (t times) fields() map[string]any {
	f := map[string]any{"body": t.Title, "event_category_id": t.Kind, "all_day_field": t.AllDay}
	if t.AllDay {
		f["starts_at_text"], f["ends_at_text"] = t.Date, t.Last
		return f
	}
	f["starts_at_text"] = strings.TrimSpace(t.Date + " " + t.From)
	if t.To != "" { // on the last day, where it ends on another
		f["ends_at_text"] = cmp.Or(t.Last, t.Date) + " " + t.To
	}
	return f
}

// readBook reads the form. Each person and thing comes as ID:NAME, so that showing them again needs no call.
func (v *visit) readBook() (bookBody, error) {
	b := bookBody{times: v.readTimes(), Until: v.typed.Get("until"), Key: v.typed.Get("key"),
		Find: strings.TrimSpace(v.typed.Get("find")), attempt: attempt{Anyway: v.typed.Get("anyway") != ""}}
	b.Repeat, _ = strconv.Atoi(v.typed.Get("repeat")) // what is no number is 0, no repeat
	b.Without, _ = strconv.ParseInt(v.typed.Get("without"), 10, 64)
	b.Only, _ = strconv.ParseInt(v.typed.Get("only"), 10, 64)
	b.Letter = strings.TrimSpace(v.typed.Get("letter"))
	if b.Repeat < 0 || b.Repeat > 2 || len(v.typed["who"]) > whoAtMost || len(b.Key) > 64 {
		return b, errIDs
	}
	for _, text := range v.typed["who"] {
		number, name, _ := strings.Cut(text, ":")
		id, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return b, errIDs
		}
		if !slices.ContainsFunc(b.Who, func(c chosen) bool { return c.ID == id }) {
			b.Who = append(b.Who, chosen{Element: api.Element{ID: id, Name: name}})
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
	switch v.typed.Get("do") {
	case "book":
		return v.makeBooking(b)
	case "find":
		if b.Found, err = v.elements(b.Find); err != nil {
			return err
		}
		return v.showBook(b, fiber.StatusOK)
	default:
		return v.showCheck(b, fiber.StatusOK)
	}
}

func (b bookBody) ids() (ids []int64) {
	for _, c := range b.Who {
		ids = append(ids, c.ID)
	}
	return ids
}

// rule is how the event repeats, nil for one that does not.
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

// showCheck asks what a booking would come to, and writes nothing.
func (v *visit) showCheck(b bookBody, code int) error {
	trial := client.DryRun(v.ctx)
	booked, err := v.api.BookWith(trial, b.fields(), b.ids(), "report")
	if invalid(err, &b.Fault) {
		return v.showBook(b, fiber.StatusUnprocessableEntity)
	}
	if err != nil {
		return err
	}
	b.Checked = true
	b.Clashes = client.Each[clash](booked.Clashes)
	event, states := client.As[api.EventAnswer](booked.Event), map[int64]string{}
	for _, c := range event.Commitments {
		states[c.Element.ID] = "book.free"
		if c.Status == "requested" {
			states[c.Element.ID] = "book.asks"
		}
	}
	for _, r := range event.Requests {
		states[r.Element.ID] = "book.asks"
	}
	for _, c := range b.Clashes {
		states[c.Element.ID] = "book.clash"
	}
	for i := range b.Who {
		b.Who[i].State = cmp.Or(states[b.Who[i].ID], "book.not-added")
	}
	if rule := b.rule(); rule != nil {
		planned, err := v.api.Repeat(trial, b.fields(), b.ids(), rule, b.clashMode())
		if invalid(err, &b.Fault) {
			return v.showBook(b, fiber.StatusUnprocessableEntity)
		}
		if err != nil {
			return err
		}
		if b.Dates, err = v.dates(client.As[api.PlannedSeries](planned.Series)); err != nil {
			return err
		}
	}
	return v.showBook(b, code)
}

// clashMode is what happens to clashes: those of a series leave a date out, one event is not made.
func (b bookBody) clashMode() string {
	switch {
	case b.Anyway:
		return "allow"
	case b.Repeat != 0:
		return "skip"
	}
	return "refuse"
}

// dates are those of a series in their order, with what is left out.
func (v *visit) dates(s api.PlannedSeries) (all []date, err error) {
	for _, e := range s.Events {
		day, err := v.texts.DayText(e.StartsAt)
		if err != nil {
			return nil, err
		}
		all = append(all, date{Day: day})
	}
	for _, l := range s.LeftOut {
		day, err := wiretime.ParseDay(l.Date)
		if err != nil {
			return nil, err
		}
		all = append(all, date{day, fmt.Sprint(l.Reason)})
	}
	slices.SortStableFunc(all, func(a, b date) int { return int(a.Day) - int(b.Day) })
	return all, nil
}

// invalid says whether the interface refuses a form that has to be corrected, and what is wrong with it.
func invalid(err error, fault *string) bool {
	failed := refused(err, fiber.StatusUnprocessableEntity, fiber.StatusBadRequest)
	if failed != nil {
		*fault = failed.Problems()
	}
	return failed != nil
}

// makeBooking books. What clashes is shown instead, with the choice to book all the same.
func (v *visit) makeBooking(b bookBody) error {
	if !v.me.Permissions.CanAddEvents {
		return v.refuse(fiber.StatusForbidden, "forbidden")
	}
	once, which := context.WithValue(v.ctx, onceKey{}, b.Key), "one"
	var booked client.Booked
	var err error
	if rule := b.rule(); rule == nil {
		booked, err = v.api.BookWith(once, b.fields(), b.ids(), b.clashMode())
	} else {
		var planned client.Planned
		planned, err = v.api.Repeat(once, b.fields(), b.ids(), rule, b.clashMode())
		if made := planned.Series.Records("events"); len(made) > 0 {
			booked.Event = made[0]
		}
		which = "all"
	}
	if refused(err, fiber.StatusConflict) != nil {
		b.Key = "" // another try is another booking
		return v.showCheck(b, fiber.StatusConflict)
	}
	if invalid(err, &b.Fault) {
		b.Key = ""
		return v.showBook(b, fiber.StatusUnprocessableEntity)
	}
	if err != nil {
		return err
	}
	return v.leave(fmt.Sprintf("/events/%d?%s", booked.Event.ID("id"),
		v.undoQuery("booked", "cancel", map[string]string{"which": which})))
}
