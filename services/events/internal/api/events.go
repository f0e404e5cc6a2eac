package api

import (
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
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
	fields := h.readFields(o)
	submission, err := readAdditions(body, fields.Faults)
	if err != nil {
		return err
	}
	submission.IdempotencyKey, submission.DryRun = web.IdempotencyKey(c), web.DryRun(c)
	if body.Has("repeat") {
		return h.createSeries(c, body, fields, submission)
	}
	v, failed, err := h.events.Create(c.UserContext(), web.Principal(c), fields, submission)
	if err != nil {
		return h.refuse(c, err)
	}
	return web.Answer(c, fiber.StatusOK, "Created", h.addedTo(v, failed)...)
}

// add is POST /api/events/<id>/add.
func (h handlers) add(c *fiber.Ctx) error {
	id, submission, err := readSubmission(c, readAdditions)
	if err != nil {
		return err
	}
	if submission.Match, err = web.IfMatch(c, kind, id); err != nil {
		return err
	}
	v, failed, err := h.events.Add(c.UserContext(), web.Principal(c), id, submission)
	if err != nil {
		return err
	}
	return web.OK(c, h.addedTo(v, failed)...)
}

// addedTo is what create, add and allocate answer: clashes only when they were asked for.
func (h handlers) addedTo(v event.View, failed []event.Failure) []web.Field {
	fields := []web.Field{
		{Name: "event", Value: h.shape.event(v)},
		{Name: "failures", Value: failures(failed, v.Elements)},
	}
	if v.Clashes != nil {
		fields = append(fields, web.Field{Name: "clashes", Value: h.shape.clashes(v.Clashes)})
	}
	return fields
}

// read is GET /api/events/<id>.
func (h handlers) read(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	v, err := h.events.Get(c.UserContext(), web.Principal(c), id)
	if err != nil {
		return err
	}
	included, err := h.events.Included(
		c.UserContext(), h.reader(c), readInclude(c), slices.Values([]*event.Event{&v.Event}),
	)
	if err != nil {
		return err
	}
	return answer(c, v, h.shape.include(h.shape.full(v), v, included))
}

// reader is the sight of the caller.
func (h handlers) reader(c *fiber.Ctx) *fact.Sight { return new(h.events.Reader(web.Principal(c))) }

// readInclude reads what the answer is to include. Unknown words are ignored.
func readInclude(c *fiber.Ctx) (include event.Include) {
	for word := range strings.SplitSeq(c.Query("include"), ",") {
		switch strings.TrimSpace(word) {
		case "category":
			include.Category = true
		case "decisions":
			include.Decisions = true
		}
	}
	return include
}

// show answers with the whole event, tagged.
func (h handlers) show(c *fiber.Ctx, v event.View) error { return answer(c, v, h.shape.full(v)) }

func answer(c *fiber.Ctx, v event.View, shown form.Event) error {
	return web.Record(
		c, web.State{Kind: kind, ID: v.ID, Version: v.Version}, web.Field{Name: "event", Value: shown},
	)
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
	if v.SeriesID == 0 {
		return h.show(c, v.Event)
	}
	return h.showSeriesChange(c, v)
}

// remove is DELETE /api/events/<id>, with scope of events of its series too.
func (h handlers) remove(c *fiber.Ctx) error {
	id, match, err := web.PathMatch(c, kind)
	if err != nil {
		return err
	}
	scope, err := readScope(c)
	if err != nil {
		return err
	}
	r := series.Removal{Scope: scope, DryRun: web.DryRun(c), Match: match}
	kept, err := h.series.Remove(c.UserContext(), web.Principal(c), id, r)
	if err != nil {
		return err
	}
	if len(kept) == 0 {
		return web.OK(c)
	}
	return web.OK(c, web.Field{Name: "left_out", Value: h.shape.kept(kept)})
}

// refuse answers an invalid event with the event; other errors go on.
func (h handlers) refuse(c *fiber.Ctx, err error) error {
	return web.RefuseInvalid(c, "event", err, h.shape.invalid)
}
