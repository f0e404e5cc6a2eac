package api

import (
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
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
	included, err := h.events.Included(
		c.UserContext(), h.reader(c), readInclude(c),
		event.EachOf(found, func(v *event.CommitmentView) *event.Event { return &v.Event }),
	)
	if err != nil {
		return err
	}
	shown := make([]form.Commitment, len(found))
	for i := range found {
		v := &found[i]
		shown[i] = h.shape.decided(*v)
		h.shape.includeIn(shown[i].Event, &v.Event, included)
		shown[i].Decision = h.shape.decision(included.Decision(&v.Event, v.Commitment, v.Element))
	}
	return web.OKPage(c, "commitments", shown, nextPlace(c, next), func(i int) web.Field {
		return nextPlace(c, event.PlaceOf(&found[i].Event, found[i].ID))
	})
}

// decide is PATCH /api/commitments/<id> (decisions, part 5).
func (h handlers) decide(c *fiber.Ctx) error {
	id, o, err := web.PathFields(c, "commitment")
	if err != nil {
		return err
	}
	faults := problem.Fields{}
	d := event.Decision{
		Status: event.Status(or(o.Text("status", faults))), Reason: or(o.Text("reason", faults)), Faults: faults,
	}
	v, err := h.events.Decide(c.UserContext(), web.Principal(c), id, d)
	if err != nil {
		return web.RefuseInvalid(c, "commitment", err,
			func(v event.CommitmentView, faults problem.Fields) form.Commitment {
				shown := h.shape.decided(v)
				shown.Valid, shown.Errors = false, faults
				return shown
			})
	}
	return web.OK(c, web.Field{Name: "commitment", Value: h.shape.decided(v)})
}

// readStatuses reads the statuses asked for, each once, separated by commas: requested when there are none.
func readStatuses(c *fiber.Ctx) ([]event.Status, error) {
	var statuses []event.Status
	for word := range strings.SplitSeq(c.Query("status", string(event.Requested)), ",") {
		status := event.Status(strings.TrimSpace(word))
		if !status.Valid() {
			return nil, problem.New(problem.Malformed, "status is none of a commitment")
		}
		if !slices.Contains(statuses, status) {
			statuses = append(statuses, status)
		}
	}
	return statuses, nil
}
