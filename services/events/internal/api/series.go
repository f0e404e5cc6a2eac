package api

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/series"
)

// createSeries is POST /api/events with repeat: what is read of the event is the same.
func (h handlers) createSeries(c *fiber.Ctx, body web.Object, fields event.Fields, submission event.Submission) error {
	q := readRepeat(body["repeat"])
	q.Clashes = submission.Clashes
	v, err := h.series.Create(c.UserContext(), web.Principal(c), fields, submission, q)
	if err != nil {
		return h.refuse(c, err)
	}
	shown := h.shape.series(v.Series)
	shown.Events = sequence.Map(v.Plan, func(o series.Occurrence) shownPlanned {
		return h.shape.occurrence(o.Place, o.EventID, o.Span)
	})
	answer := []web.Field{{Name: "series", Value: shown}, {Name: "failures", Value: failures(v.Failures, v.Elements)}}
	answer = h.shape.addClashes(answer, v.Clashes, func(i int) int { return v.Plan[i].Place })
	return web.Answer(c, fiber.StatusOK, "Created", answer...)
}

// getSeries is GET /api/series/<id>.
func (h handlers) getSeries(c *fiber.Ctx, id int64) error {
	v, err := h.series.Get(c.UserContext(), web.Principal(c), id)
	if err != nil {
		return err
	}
	included, err := h.includedIn(c, v.Events)
	if err != nil {
		return err
	}
	shown := h.shape.series(v.Series)
	shown.Events = sequence.Map(v.Events, func(e event.Event) shownOccurrence {
		return shownOccurrence{e.Place, h.shape.including(&e, included), own(e)}
	})
	return web.OK(c, web.Field{Name: "series", Value: shown})
}

// readScope reads which events of a series are meant: one alone, unless the query says so.
func readScope(c *fiber.Ctx) series.Scope { return series.Scope(c.Query("scope", string(series.One))) }

// readRepeat reads how an event is to be repeated. Faults are named by the field inside repeat.
func readRepeat(raw json.RawMessage) series.Request {
	q := series.Request{Faults: problem.Fields{}}
	o, err := web.ParseObject(raw)
	if err != nil {
		q.Faults.Add("repeat", problem.NotAnObject)
		return q
	}
	faults := problem.Fields{}
	if rule := o.Text("rule", faults); rule != nil {
		q.Rule = *rule
	} else if faults["rule"] == nil {
		faults.Add("rule", problem.Blank)
	}
	q.Except = readExcept(o, faults)
	if o.Has("during") {
		q.During = readCalendar(o["during"], "during", faults)
	}
	q.NotDuring = readCalendars(o, "not_during", faults)
	for field, messages := range faults {
		q.Faults["repeat."+field] = messages
	}
	return q
}

// readExcept reads the days that a series leaves out.
func readExcept(o web.Object, faults problem.Fields) (days []wiretime.Day) {
	if !o.Has("except") {
		return nil
	}
	var texts []string
	if json.Unmarshal(o["except"], &texts) != nil {
		faults.Add("except", "is not an array of dates")
		return nil
	}
	for _, text := range texts {
		day, err := wiretime.ParseDay(text)
		if err != nil {
			faults.Add("except", problem.NotADate)
			return nil
		}
		days = append(days, day)
	}
	return days
}

// readCalendars reads several calendars: an array of them, or one alone.
func readCalendars(o web.Object, field string, faults problem.Fields) (all []series.Calendar) {
	if !o.Has(field) {
		return nil
	}
	values := []json.RawMessage{o[field]}
	if o[field][0] == '[' && json.Unmarshal(o[field], &values) != nil {
		faults.Add(field, problem.NotAnObject)
	}
	for _, raw := range values {
		if c := readCalendar(raw, field, faults); c != nil {
			all = append(all, *c)
		}
	}
	return all
}

// readCalendar reads a calendar: the days that events of a category touch.
func readCalendar(raw json.RawMessage, field string, faults problem.Fields) *series.Calendar {
	of, err := web.ParseObject(raw)
	if err != nil {
		faults.Add(field, problem.NotAnObject)
		return nil
	}
	if err := of.Spell(); err != nil {
		faults.Add(field, problem.As(err).Detail())
		return nil
	}
	wrong := problem.Fields{}
	category, body := readCategoryID(of, wrong), of.Text("body", wrong)
	if category == nil && len(wrong) == 0 {
		wrong.Add(categoryField, problem.Blank)
	}
	for name, messages := range wrong {
		for _, message := range messages {
			faults.Add(field, of.Sent(name)+" "+message)
		}
	}
	if len(wrong) > 0 {
		return nil
	}
	return &series.Calendar{CategoryID: *category, Body: strings.TrimSpace(form.OrZero(body))}
}

// shownSeries is a series in the answer that made it, and by itself.
type shownSeries struct {
	ID        *int64          `json:"id"` // null: a trial
	Rule      string          `json:"rule"`
	Except    []string        `json:"except"`
	During    *shownCalendar  `json:"during"`
	NotDuring []shownCalendar `json:"not_during"`
	Clashes   event.Clashing  `json:"clashes"`
	Events    any             `json:"events"` // shownPlanned or shownOccurrence
	LeftOut   []shownLeftOut  `json:"left_out"`
}

type shownCalendar struct {
	CategoryID int64   `json:"eventcategory_id"`
	Body       *string `json:"body"`
}

// shownPlanned is an event of a series in the answer that made it.
type shownPlanned struct {
	Place    int    `json:"place"`
	ID       *int64 `json:"id"` // null: a trial
	StartsAt string `json:"starts_at"`
	EndsAt   string `json:"ends_at"`
}

// shownOccurrence is an event of a series as it is now.
type shownOccurrence struct {
	Place   int         `json:"place"`
	Event   form.Event  `json:"event"` // event summary
	Changed []event.Own `json:"changed_alone"`
}

// shownLeftOut is an occurrence of the rule that has no event, and why.
type shownLeftOut struct {
	Date      string `json:"date"`
	StartsAt  string `json:"starts_at"`
	Reason    string `json:"reason"`
	EventID   *int64 `json:"event_id"`
	ElementID *int64 `json:"element_id"`
}

// series is a series without its events.
func (s shape) series(of series.Series) shownSeries {
	shown := shownSeries{
		ID: form.OrNull(of.ID), Rule: of.Repeat.Rule, Clashes: of.Repeat.Clashes,
		Except:    sequence.Map(of.Repeat.Except, wiretime.Day.String),
		NotDuring: sequence.Map(of.Repeat.NotDuring, calendar),
		LeftOut: sequence.Map(of.LeftOut, func(l series.LeftOut) shownLeftOut {
			return shownLeftOut{
				Date: s.zone.DayOf(l.Starts).String(), StartsAt: s.zone.Format(l.Starts), Reason: string(l.Reason),
				EventID: form.OrNull(l.EventID), ElementID: form.OrNull(l.ElementID),
			}
		}),
	}
	if of.Repeat.During != nil {
		shown.During = new(calendar(*of.Repeat.During))
	}
	return shown
}

// occurrence is an event of a series by itself.
func (s shape) occurrence(place int, id int64, span wiretime.Span) shownPlanned {
	return shownPlanned{place, form.OrNull(id), s.zone.Format(span.Starts), s.zone.Format(span.Ends)}
}

// addClashes adds the clashes of what was written, if they were asked for. Place says which event of a series is at an
// index.
func (s shape) addClashes(fields []web.Field, clashes [][]event.Clash, place func(int) int) []web.Field {
	if clashes == nil {
		return fields
	}
	shown := []shownClash{}
	for i, found := range clashes {
		shown = append(shown, s.clashes(place(i), found)...)
	}
	return append(fields, web.Field{Name: "clashes", Value: shown})
}

func calendar(c series.Calendar) shownCalendar {
	return shownCalendar{CategoryID: c.CategoryID, Body: form.OrNull(c.Body)}
}

// changesSeveral says whether a change is of several events of a series.
func changesSeveral(c *fiber.Ctx) bool { return readScope(c) != series.One }

// The fields that a change of several events takes, beside event and in it. Others are faults, since they would be
// ignored.
var (
	besideEvent = []string{"event", "overwrite", "clashes"}
	inEvent     = append(event.TextNames(), categoryField, categoryOther, "category", "organiser_id",
		"all_day_field", "starts_at_text", "ends_at_text", "all_day", "starts_at", "ends_at")
)

// readSeriesChange reads which events are to be changed, and how.
func (h handlers) readSeriesChange(c *fiber.Ctx, change web.Change) (series.ChangeRequest, error) {
	scope := readScope(c)
	body, err := web.Body(c)
	if err != nil {
		return series.ChangeRequest{}, err
	}
	q := series.ChangeRequest{
		Fields: readFields(change.Fields), Scope: scope, Match: change.Match, Key: web.IdempotencyKey(c),
	}
	q.Fields.Span.Order = h.dateOrder
	faults := q.Fields.Faults
	q.Overwrite = form.OrZero(body.Bool("overwrite", faults))
	if q.Overwrite && scope == series.One {
		return q, problem.New(problem.Malformed, "overwrite needs scope in the query (following, all)")
	}
	q.Clashes = readClashes(body, event.AllowClashes)
	if scope != series.One {
		refuseOthers(body, besideEvent, faults)
		refuseOthers(change.Fields, inEvent, faults)
	}
	return q, nil
}

// refuseOthers finds fault with fields that are none of those.
func refuseOthers(o web.Object, known []string, faults problem.Fields) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if !slices.Contains(known, name) && len(faults) < maxUnknown {
			faults.Add(name, problem.Fixed)
		}
	}
}

// maxUnknown bounds the faults of unknown fields.
const maxUnknown = 20

// shownChange is the outcome of a change for events of a series.
type shownChange struct {
	ID      int64          `json:"id"`
	Changed []shownPlanned `json:"changed"`
	LeftOut []shownKept    `json:"left_out"`
}

// shownKept is an event of a series that was left as it is, and why.
type shownKept struct {
	Place     int         `json:"place"`
	ID        *int64      `json:"id"`        // null: it is hidden
	StartsAt  *string     `json:"starts_at"` // null: it is deleted, or hidden
	Reason    string      `json:"reason"`
	Changed   []event.Own `json:"changed_alone"`
	EventID   *int64      `json:"event_id"`
	ElementID *int64      `json:"element_id"`
}

// changeOfSeries are the outcomes for the events other than the one named.
func (s shape) changeOfSeries(v series.ChangeView) []web.Field {
	changed := sequence.Map(v.Changed, func(e event.Event) shownPlanned { return s.occurrence(e.Place, e.ID, e.Span) })
	shown := shownChange{ID: v.SeriesID, Changed: changed, LeftOut: s.kept(v.Kept)}
	fields := []web.Field{{Name: "series", Value: shown}}
	return s.addClashes(fields, v.Clashes, func(i int) int { return v.Changed[i].Place })
}

func (s shape) kept(kept []series.KeptEvent) []shownKept {
	return sequence.Map(kept, func(k series.KeptEvent) shownKept {
		return shownKept{
			Place: k.Place, ID: form.OrNull(k.EventID), StartsAt: s.moment(k.Event.Span.Starts),
			Reason: string(k.Reason), Changed: own(k.Event),
			EventID: form.OrNull(k.OtherID), ElementID: form.OrNull(k.ElementID),
		}
	})
}

// own are the parts of an event that were changed individually, never nil.
func own(e event.Event) []event.Own { return append([]event.Own{}, e.Own...) }
