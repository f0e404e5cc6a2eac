package api

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/series"
)

// kind is that of events in entity tags.
const kind = "event"

// create is POST /api/events.
func (h handlers) create(c *fiber.Ctx) error {
	body, err := web.Body(c)
	if err != nil {
		return err
	}
	o, err := body.Object("event")
	if err != nil {
		return err
	}
	fields := readFields(o)
	fields.Span.Order = h.dateOrder
	submission, err := readAdditions(body, fields.Faults, event.AllowClashes)
	if err != nil {
		return err
	}
	submission.IdempotencyKey = web.IdempotencyKey(c)
	submission.People = readInclude(c).People
	if body.Has("repeat") {
		return h.createSeries(c, body, fields, submission)
	}
	v, err := h.events.Create(c.UserContext(), web.Principal(c), fields, submission)
	return h.answerAdded(c, "Created", h.shape.event, v, err)
}

// add is POST /api/events/<id>/add.
func (h handlers) add(c *fiber.Ctx) error {
	id, submission, err := readSubmission(c, event.AllowClashes)
	if err != nil {
		return err
	}
	if submission.Match, err = web.IfMatch(c, kind, id); err != nil {
		return err
	}
	v, err := h.events.Add(c.UserContext(), web.Principal(c), id, submission)
	return h.answerAdded(c, "OK", h.shape.event, v, err)
}

// replace is POST /api/events/<id>/replace.
func (h handlers) replace(c *fiber.Ctx) error {
	id, match, err := web.PathMatch(c, kind)
	if err != nil {
		return err
	}
	body, err := web.Body(c)
	if err != nil {
		return err
	}
	r, err := readReplacement(body)
	if err != nil {
		return err
	}
	r.Match, r.IdempotencyKey, r.People = match, web.IdempotencyKey(c), true
	v, err := h.events.Replace(c.UserContext(), web.Principal(c), id, r)
	return h.answerAdded(c, "OK", h.shape.full, v, lacking(err, "edit rights on the event"))
}

// removeElement is DELETE /api/events/<id>/elements/<element>.
func (h handlers) removeElement(c *fiber.Ctx) error {
	id, match, err := web.PathMatch(c, kind)
	if err != nil {
		return err
	}
	element, err := web.PathID(c, "element")
	if err != nil {
		return err
	}
	err = h.events.DeleteElement(c.UserContext(), web.Principal(c), id, element, match)
	return web.OKUnless(c, lacking(err, "edit rights on the event, or administration of the element"))
}

// lacking adds what the call needs to a refusal. Contract routes do not say it.
func lacking(err error, needs string) error {
	if problem.Is(err, problem.Forbidden) {
		return problem.New(problem.Forbidden, "needs %s", needs)
	}
	return err
}

// answerAdded is the answer of a call that adds elements: the form of the event, with what the client asked to include.
func (h handlers) answerAdded(
	c *fiber.Ctx, status string, shape func(event.View) form.Event, v event.View, err error,
) error {
	if err != nil {
		return h.refuse(c, err)
	}
	shown, err := h.including(c, shape(v), v)
	if err != nil {
		return err
	}
	return web.Answer(c, fiber.StatusOK, status, h.withClashes(v, web.Field{Name: "event", Value: shown},
		web.Field{Name: "failures", Value: failures(v.Failures, v.Elements)})...)
}

// including adds to the form of an event what the client asked for.
func (h handlers) including(c *fiber.Ctx, shown form.Event, v event.View) (form.Event, error) {
	include := readInclude(c)
	included, err := h.events.IncludedIn(c.UserContext(), h.events.Reader(web.Principal(c)), include, &v)
	if err != nil {
		return shown, err
	}
	if include.People {
		shown = h.shape.people(shown, v)
	}
	return h.shape.include(shown, v, included), nil
}

// withClashes adds the clashes of what was written, if they were asked for.
func (h handlers) withClashes(v event.View, fields ...web.Field) []web.Field {
	if v.Clashes != nil {
		fields = append(fields, web.Field{Name: "clashes", Value: h.shape.clashes(0, v.Clashes)})
	}
	return fields
}

// read is GET /api/events/<id>.
func (h handlers) read(c *fiber.Ctx, id int64) error {
	v, err := h.events.Get(c.UserContext(), web.Principal(c), id)
	if err != nil {
		return err
	}
	shown, err := h.including(c, h.shape.full(v), v)
	if err != nil {
		return err
	}
	return h.answer(c, v, shown)
}

// reader is the sight of the caller.
func (h handlers) reader(c *fiber.Ctx) *fact.Sight { return new(h.events.Reader(web.Principal(c))) }

// readInclude reads include. Unknown words are ignored.
func readInclude(c *fiber.Ctx) (include event.Include) {
	words := map[string]*bool{
		"staff": &include.Staff, "locations": &include.Locations, "category": &include.Category,
		"busy": &include.Busy, "decisions": &include.Decisions, "people": &include.People,
	}
	for word := range strings.SplitSeq(c.Query("include"), ",") {
		if asked, known := words[strings.TrimSpace(word)]; known {
			*asked = true
		}
	}
	return include
}

// answer answers with an event. Its version is sealed for callers who may not see all of it.
func (h handlers) answer(c *fiber.Ctx, v event.View, shown form.Event, more ...web.Field) error {
	fields := append([]web.Field{{Name: "event", Value: shown}}, more...)
	part := v.Redacted || !h.events.Reader(web.Principal(c)).All()
	return web.Record(c, web.State{Kind: kind, ID: v.ID, Version: v.Version, Sealed: part}, fields...)
}

// change is PATCH and PUT /api/events/<id>, with scope of events of its series too.
func (h handlers) change(c *fiber.Ctx) error {
	change, err := web.PathChange(c, kind)
	if err != nil {
		return err
	}
	q, err := h.readSeriesChange(c, change)
	if err != nil {
		return err
	}
	v, err := h.series.Change(c.UserContext(), web.Principal(c), change.ID, q)
	if err != nil {
		return h.refuse(c, err)
	}
	shown, err := h.including(c, h.shape.full(v.Event), v.Event)
	if err != nil {
		return err
	}
	if v.SeriesID == 0 {
		return h.answer(c, v.Event, shown, h.withClashes(v.Event)...)
	}
	return h.answer(c, v.Event, shown, h.shape.changeOfSeries(v)...)
}

// remove is DELETE /api/events/<id>, with scope of events of its series too.
func (h handlers) remove(c *fiber.Ctx) error {
	id, match, err := web.PathMatch(c, kind)
	if err != nil {
		return err
	}
	r := series.Removal{Scope: readScope(c), Match: match}
	kept, err := h.series.Remove(c.UserContext(), web.Principal(c), id, r)
	if err != nil {
		return err
	}
	if len(kept) == 0 {
		return web.OK(c)
	}
	return web.OK(c, web.Field{Name: "left_out", Value: h.shape.kept(kept)})
}

// refuse answers an invalid event with the event, and a ClashError with the clashes; it returns other errors.
func (h handlers) refuse(c *fiber.Ctx, err error) error {
	if clashing, is := errors.AsType[*event.ClashError](err); is {
		shown := []shownClash{}
		for _, t := range clashing.Taken {
			shown = append(shown, h.shape.clashes(t.Place, t.Clashes)...)
		}
		return web.Answer(c, problem.Conflict.Code(), problem.Conflict.Status(),
			web.Field{Name: "message", Value: problem.As(err).Message}, web.Field{Name: "clashes", Value: shown})
	}
	return web.RefuseInvalid(c, "event", err, h.shape.invalid)
}

// asTheyAre are notes in the form that the notes service gives them.
func asTheyAre(notes json.RawMessage) json.RawMessage { return notes }

// addNote is POST /api/events/<id>/notes.
func (h handlers) addNote(c *fiber.Ctx) error {
	id, o, err := web.PathFields(c, "note")
	if err != nil {
		return err
	}
	faults := problem.Fields{}
	note, err := h.events.AddNote(c.UserContext(), web.Principal(c), fact.NewNote{
		EventID: id, Contents: o.Text("contents", faults), VisibleGuest: o.Bool("visible_guest", faults),
		VisibleStaff: o.Bool("visible_staff", faults), VisiblePupil: o.Bool("visible_pupil", faults), Faults: faults,
		IdempotencyKey: web.IdempotencyKey(c),
	})
	switch {
	case err != nil:
		return err
	case !note.Valid:
		return web.InvalidRecord(c, "note", note)
	}
	return web.OK(c, web.Field{Name: "note", Value: note})
}
