package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// allocate is POST /api/requests/<id>/allocations (decisions, part 5). The session, one document by an index, two questions to elements at the
// same time, then one versioned change of the event: five round trips in a row, and two more with an Idempotency-Key.
func (h handlers) allocate(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	body, err := bodyWithElements(c)
	if err != nil {
		return err
	}
	faults := problem.Fields{}
	submitted, err := readElements(body, faults)
	if err == nil {
		err = problem.InvalidFields(faults)
	}
	if err != nil {
		return err
	}
	submission := event.Submission{Elements: submitted, IdempotencyKey: web.IdempotencyKey(c)}
	v, failed, err := h.events.Allocate(c.UserContext(), web.Principal(c), id, submission)
	if err != nil {
		return err
	}
	return web.OK(c, h.extended(v, failed)...)
}
