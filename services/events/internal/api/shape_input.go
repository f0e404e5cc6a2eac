package api

import (
	"encoding/json"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// The two spellings of an event's category (decisions, part 4); errors use the first.
const (
	categoryField = "event_category_id"
	categoryOther = "eventcategory_id"
)

// readFields reads the basic fields of an event (contract 4.2). Its caller sets the order of dates.
func readFields(o web.Object) event.Fields {
	faults := problem.Fields{}
	return event.Fields{
		Texts:       readTexts(o, faults),
		CategoryID:  readCategoryID(o, faults),
		OrganiserID: readOrganiserID(o, faults),
		Span: wiretime.SpanFields{
			AllDayField: readAllDay(o, "all_day_field", faults), StartsAtText: readMoment(o, "starts_at_text"),
			EndsAtText: readMoment(o, "ends_at_text"), AllDay: readAllDay(o, "all_day", faults),
			StartsAt: readMoment(o, "starts_at"), EndsAt: readMoment(o, "ends_at"),
		},
		Faults: faults,
	}
}

// readTexts reads the texts of an event that are given, by name.
func readTexts(o web.Object, faults problem.Fields) map[string]string {
	texts := map[string]string{}
	for _, name := range event.TextNames() {
		if text := o.Text(name, faults); text != nil {
			texts[name] = *text
		}
	}
	return texts
}

func readCategoryID(o web.Object, faults problem.Fields) *int64 {
	var given []int64
	for _, spelling := range []string{categoryField, categoryOther} {
		if !o.Has(spelling) {
			continue
		}
		id, ok := web.ParseBodyID(o[spelling])
		switch {
		case string(o[spelling]) == `""`:
			faults[categoryField] = []string{problem.Blank}
			return nil
		case !ok:
			faults[categoryField] = []string{problem.MustExist}
			return nil
		}
		given = append(given, id)
	}
	switch {
	case len(given) == 0:
		return nil
	case len(given) == 2 && given[0] != given[1]:
		faults.Add(categoryField, "differs from "+categoryOther)
		return nil
	}
	return &given[0]
}

// readOrganiserID takes null and "" as none.
func readOrganiserID(o web.Object, faults problem.Fields) *int64 {
	const field = "organiser_id"
	raw, given := o[field]
	if !given {
		return nil
	}
	id, ok := web.ParseBodyID(raw)
	if !ok && o.Has(field) && string(raw) != `""` {
		faults.Add(field, problem.NotStaff)
		return nil
	}
	return &id
}

// readAllDay reports faults of both spellings as all_day.
func readAllDay(o web.Object, field string, faults problem.Fields) *bool {
	unreadable := problem.Fields{}
	value := o.Bool(field, unreadable)
	for _, message := range unreadable[field] {
		faults.Add("all_day", message)
	}
	return value
}

// readMoment returns a date or date-time as it was sent. A value that is not a string is kept, and is not a date.
func readMoment(o web.Object, field string) *string {
	if !o.Has(field) {
		return nil
	}
	return new(textOf(o[field]))
}

// textOf is the value as text: of a string its characters, of anything else its JSON.
func textOf(raw json.RawMessage) string {
	if raw[0] != '"' {
		return string(raw)
	}
	var text string
	_ = json.Unmarshal(raw, &text) // it was read as JSON before, and is a string
	return text
}

// readSubmission reads a request that adds elements, which must be given, to the record whose id is in the path.
func readSubmission(c *fiber.Ctx, usual event.Clashing) (id int64, submission event.Submission, err error) {
	if id, err = web.PathID(c, "id"); err != nil {
		return 0, submission, err
	}
	body, err := web.Body(c)
	if err != nil {
		return 0, submission, err
	}
	if !body.Has("elements") {
		return 0, submission, problem.New(problem.Malformed, "elements is missing")
	}
	faults := problem.Fields{}
	submission, err = readAdditions(body, faults, usual)
	submission.Faults = faults
	submission.IdempotencyKey, submission.People = web.IdempotencyKey(c), readInclude(c).People
	return id, submission, err
}

// readAdditions reads elements and clashes; usual is the default for clashes.
func readAdditions(o web.Object, faults problem.Fields, usual event.Clashing) (submission event.Submission, err error) {
	elements, err := readElements(o, faults)
	if err != nil {
		return submission, err
	}
	submission = event.NewSubmission(elements)
	submission.Clashes = readClashes(o, usual)
	return submission, nil
}

// readReplacement reads which elements replace which, and clashes, which are refused by default.
func readReplacement(o web.Object) (r event.Replacement, err error) {
	var pairs []json.RawMessage
	if err := json.Unmarshal(o["replace"], &pairs); err != nil || pairs == nil {
		return r, problem.New(problem.Malformed, "replace is not an array")
	}
	if len(pairs) > event.MaxSubmitted {
		r.Faults = problem.Fields{"replace": {problem.TooMany(event.MaxSubmitted)}}
		return r, nil
	}
	var with []event.Submitted
	for i, raw := range pairs {
		pair, err := web.ParseObject(raw)
		if err == nil && !(pair.Has("element") && pair.Has("with")) {
			err = problem.New(problem.Malformed, "")
		}
		if err != nil {
			return r, problem.New(problem.Malformed, "replace[%d] is not an object of element and with", i)
		}
		replaced, _ := web.ParseBodyID(pair["element"])
		id, _ := web.ParseBodyID(pair["with"])
		r.Replaced = append(r.Replaced, replaced)
		with = append(with, event.Submitted{Text: textOf(pair["with"]), ID: id})
	}
	r.Submission = event.NewSubmission(with)
	r.Clashes = readClashes(o, event.RefuseClashes)
	return r, nil
}

// readClashes reads clashes; usual is the default.
func readClashes(o web.Object, usual event.Clashing) event.Clashing {
	if !o.Has("clashes") {
		return usual
	}
	return event.Clashing(textOf(o["clashes"]))
}

// readElements reads elements: an array of ids, or one bare id (decisions, part 4); absent and null are none.
// Malformed when it is anything else, and a fault of elements when there are more than may be.
func readElements(o web.Object, faults problem.Fields) ([]event.Submitted, error) {
	if !o.Has("elements") {
		return nil, nil
	}
	var values []json.RawMessage
	switch raw := o["elements"]; raw[0] {
	case '[':
		if err := json.Unmarshal(raw, &values); err != nil {
			return nil, problem.Wrap(problem.Malformed, err, "elements cannot be read")
		}
	case '{', 't', 'f':
		return nil, problem.New(problem.Malformed, "elements is not an array of ids")
	default:
		values = []json.RawMessage{raw}
	}
	if len(values) > event.MaxSubmitted {
		faults.Add("elements", problem.TooMany(event.MaxSubmitted))
		return nil, nil
	}
	submitted := make([]event.Submitted, len(values))
	for i, value := range values {
		id, _ := web.ParseBodyID(value)
		submitted[i] = event.Submitted{Text: textOf(value), ID: id}
	}
	return submitted, nil
}

// readGivenCategory reads the fields of a category whose school is an id; null and "" mean none.
func readGivenCategory(o web.Object) category.Fields {
	f := readCategoryFields(o)
	if f.School = o.ID("school_id", f.Faults); f.School == nil && len(o["school_id"]) > 0 {
		f.School = new(int64)
	}
	return f
}

// readCategoryFields reads the fields of a category but for its school.
func readCategoryFields(o web.Object) category.Fields {
	faults := problem.Fields{}
	f := category.Fields{
		Name: o.Text("name", faults), PeckingOrder: o.Int("pecking_order", faults), Flags: map[string]bool{},
		Faults: faults,
	}
	for _, flag := range category.FlagNames() {
		if value := o.Bool(flag, faults); value != nil {
			f.Flags[flag] = *value
		}
	}
	return f
}

// readPlace is web.Page for lists in order of events: after is a place, as nextPlace wrote it, with the bound of
// start_date.
func (h handlers) readPlace(c *fiber.Ctx) (after event.Place, limit int, err error) {
	if limit, err = web.Limit(c); err != nil {
		return event.Place{}, 0, err
	}
	var starts int64
	given, err := web.ReadPlace(c, &starts, &after.EventID, &after.ItemID)
	if given {
		after.Starts = time.Unix(starts, 0).UTC()
	}
	text := c.Query("start_date")
	if text == "" || err != nil {
		return after, limit, err
	}
	day, err := wiretime.ParseDay(text)
	if err != nil {
		return after, limit, problem.New(problem.Malformed, "start_date is not a date (YYYY-MM-DD)")
	}
	after.Since = h.shape.zone.Midnight(day)
	return after, limit, nil
}

func nextPlace(c *fiber.Ctx, p event.Place) web.Field {
	if p == (event.Place{}) {
		return web.NextPlace(c)
	}
	return web.NextPlace(c, p.Starts.Unix(), p.EventID, p.ItemID)
}
