package api

import (
	"errors"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// removeCommitment is DELETE /api/commitments/<id>. The session, one document by an index, one versioned change of it; elements is asked
// when the right to it may come from there.
func (h handlers) removeCommitment(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	if err := h.events.DeleteCommitment(c.UserContext(), web.Principal(c), id); err != nil {
		return err
	}
	return web.OK(c)
}

// decide is PATCH /api/commitments/<id> (decisions, part 5). The session, one document by an index, one question to elements, one versioned
// change.
func (h handlers) decide(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	o, err := web.Wrapped(c, "commitment")
	if err != nil {
		return err
	}
	faults := problem.Fields{}
	status, reason := o.Text("status", faults), o.Text("reason", faults)
	v, err := h.events.Decide(c.UserContext(), web.Principal(c), id, event.Status(textOr(status)), textOr(reason), faults)
	var invalid *record.InvalidError[event.CommitmentView]
	if errors.As(err, &invalid) {
		shown := h.shape.decided(invalid.Record)
		shown.Valid, shown.Errors = false, invalid.Faults
		return web.InvalidRecord(c, "commitment", shown)
	}
	if err != nil {
		return err
	}
	return web.OK(c, web.Field{Name: "commitment", Value: h.shape.decided(v)})
}

// changeQuantity is PATCH /api/requests/<id> (decisions, part 5). Round trips as for decide.
func (h handlers) changeQuantity(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	o, err := web.Wrapped(c, "request")
	if err != nil {
		return err
	}
	faults := problem.Fields{}
	quantity := o.Int("quantity", faults)
	v, err := h.events.ChangeQuantity(c.UserContext(), web.Principal(c), id, quantity, faults)
	var invalid *record.InvalidError[event.RequestView]
	if errors.As(err, &invalid) {
		shown := request(invalid.Record)
		shown.Valid, shown.Errors = false, invalid.Faults
		return web.InvalidRecord(c, "request", shown)
	}
	if err != nil {
		return err
	}
	return web.OK(c, web.Field{Name: "request", Value: request(v)})
}

// removeRequest is DELETE /api/requests/<id> (decisions, part 5). Round trips as for removeCommitment.
func (h handlers) removeRequest(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	if err := h.events.DeleteRequest(c.UserContext(), web.Principal(c), id); err != nil {
		return err
	}
	return web.OK(c)
}

func textOr(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
