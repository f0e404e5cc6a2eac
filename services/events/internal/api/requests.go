package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// outstanding is GET /api/requests (decisions, part 5): those that the caller may allocate to.
func (h handlers) outstanding(c *fiber.Ctx) error {
	if status := c.Query("status"); status != "" && status != "outstanding" {
		return problem.New(problem.Malformed, "status is none of a request")
	}
	after, limit, err := h.readPlace(c)
	if err != nil {
		return err
	}
	found, next, err := h.events.ListOutstanding(c.UserContext(), web.Principal(c), after, limit)
	if err != nil {
		return err
	}
	included, err := h.events.Included(
		c.UserContext(), h.reader(c), readInclude(c),
		event.EachOf(found, func(v *event.PlacedRequest) *event.Event { return &v.Event }),
	)
	if err != nil {
		return err
	}
	shown := make([]form.Request, len(found))
	for i := range found {
		v := &found[i]
		shown[i] = request(v.RequestView)
		shown[i].Event = new(h.shape.summary(v.Event))
		h.shape.includeIn(shown[i].Event, &v.Event, included)
		shown[i].Decision = h.shape.decision(included.Asked(&v.Event, v.Request, v.Element))
	}
	return web.OKPage(c, "requests", shown, nextPlace(c, next), func(i int) web.Field {
		return nextPlace(c, event.PlaceOf(&found[i].Event, found[i].ID))
	})
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
	if err != nil {
		return web.RefuseInvalid(c, "request", err, func(v event.RequestView, faults problem.Fields) form.Request {
			shown := request(v)
			shown.Valid, shown.Errors = false, faults
			return shown
		})
	}
	return web.OK(c, web.Field{Name: "request", Value: request(v)})
}

// allocate is POST /api/requests/<id>/allocations (decisions, part 5).
func (h handlers) allocate(c *fiber.Ctx) error {
	id, submission, err := readSubmission(c, readAllocation)
	if err != nil {
		return err
	}
	submission.People = readInclude(c).People
	v, failed, err := h.events.Allocate(c.UserContext(), web.Principal(c), id, submission)
	if err != nil {
		return h.refuse(c, err)
	}
	return h.answerAdded(c, "OK", h.shape.event(v), v, failed)
}
