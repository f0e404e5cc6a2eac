package api

import (
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// decidable is GET /api/commitments (decisions, part 5): those that the caller may decide, by status.
func (h handlers) decidable(c *fiber.Ctx) error {
	statuses, err := readStatuses(c)
	if err != nil {
		return err
	}
	after, limit, err := h.readPlace(c)
	if err != nil {
		return err
	}
	found, next, err := h.events.ListDecidable(c.UserContext(), web.Principal(c), statuses, after, limit)
	if err != nil {
		return err
	}
	return answerWaiting(h, c, "commitments", found, next,
		func(v event.ItemView[event.Commitment], included event.Included) form.Commitment {
			shown := commitment(*v.Item, v.Element)
			shown.Event = new(h.shape.including(v.Event, included))
			shown.Decision = h.shape.decision(included.Decision(v.Event, *v.Item, v.Element))
			return shown
		})
}

// outstanding is GET /api/requests (decisions, part 5): those that the caller may allocate to.
func (h handlers) outstanding(c *fiber.Ctx) error {
	if status := c.Query("status"); status != "" && status != "outstanding" {
		return problem.New(problem.Malformed, "status is not a status of a request")
	}
	after, limit, err := h.readPlace(c)
	if err != nil {
		return err
	}
	found, next, err := h.events.ListOutstanding(c.UserContext(), web.Principal(c), after, limit)
	if err != nil {
		return err
	}
	return answerWaiting(h, c, "requests", found, next,
		func(v event.ItemView[event.Request], included event.Included) form.Request {
			shown := request(*v.Item, v.Event.Allocated(v.Item.ID), v.Element)
			shown.Event = new(h.shape.including(v.Event, included))
			shown.Decision = h.shape.decision(included.Asked(v.Event, *v.Item, v.Element))
			return shown
		})
}

// answerWaiting answers with a page of entries that await the caller.
func answerWaiting[T event.Item, Form any](
	h handlers, c *fiber.Ctx, name string, found []event.ItemView[T], next event.Place,
	shape func(event.ItemView[T], event.Included) Form,
) error {
	events := event.EachOf(found, func(v *event.ItemView[T]) *event.Event { return v.Event })
	included, err := h.events.Included(c.UserContext(), h.reader(c), readInclude(c), events)
	if err != nil {
		return err
	}
	shown := sequence.Map(found, func(v event.ItemView[T]) Form { return shape(v, included) })
	place := func(i int) web.Field { return nextPlace(c, found[i].Place()) }
	return web.OKPage(c, name, shown, nextPlace(c, next), place)
}

// decide is PATCH /api/commitments/<id> (decisions, part 5).
func (h handlers) decide(c *fiber.Ctx) error {
	id, o, err := web.PathFields(c, "commitment")
	if err != nil {
		return err
	}
	faults := problem.Fields{}
	d := event.Decision{
		Status: event.Status(form.OrZero(o.Text("status", faults))),
		Reason: form.OrZero(o.Text("reason", faults)), Faults: faults,
	}
	v, err := h.events.Decide(c.UserContext(), web.Principal(c), id, d)
	if err != nil {
		return web.RefuseInvalid(c, "commitment", err, h.shape.decided)
	}
	return web.OK(c, web.Field{Name: "commitment", Value: h.shape.decided(v, nil)})
}

// readStatuses reads the statuses asked for, each once, separated by commas: requested when there are none.
func readStatuses(c *fiber.Ctx) ([]event.Status, error) {
	var statuses []event.Status
	for word := range strings.SplitSeq(c.Query("status", string(event.Requested)), ",") {
		status := event.Status(strings.TrimSpace(word))
		if !status.Valid() {
			return nil, problem.New(problem.Malformed, "status is not a status of a commitment")
		}
		if !slices.Contains(statuses, status) {
			statuses = append(statuses, status)
		}
	}
	return statuses, nil
}

// changeQuantity is PATCH /api/requests/<id> (decisions, part 5).
func (h handlers) changeQuantity(c *fiber.Ctx) error {
	id, o, err := web.PathFields(c, "request")
	if err != nil {
		return err
	}
	faults := problem.Fields{}
	quantity := o.Int("quantity", faults)
	v, err := h.events.ChangeQuantity(c.UserContext(), web.Principal(c), id, quantity, faults)
	shape := func(v event.ItemView[event.Request], faults problem.Fields) form.Request {
		shown := request(*v.Item, v.Event.Allocated(id), v.Element)
		shown.Valid, shown.Errors = faults == nil, faults
		return shown
	}
	if err != nil {
		return web.RefuseInvalid(c, "request", err, shape)
	}
	return web.OK(c, web.Field{Name: "request", Value: shape(v, nil)})
}

// allocate is POST /api/requests/<id>/allocations (decisions, part 5).
func (h handlers) allocate(c *fiber.Ctx) error {
	id, submission, err := readSubmission(c, event.SkipClashes)
	if err != nil {
		return err
	}
	v, err := h.events.Allocate(c.UserContext(), web.Principal(c), id, submission)
	return h.answerAdded(c, "OK", h.shape.event, v, err)
}
