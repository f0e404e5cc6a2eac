package api

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// decidable is GET /api/commitments (decisions, part 5): those that the caller may decide, by status. The session, one question to elements,
// one read of as many events as it returns commitments at most.
func (h handlers) decidable(c *fiber.Ctx) error {
	statuses, err := readStatuses(c)
	if err != nil {
		return err
	}
	after, limit, err := readPlace(c)
	if err != nil {
		return err
	}
	found, next, err := h.events.ListDecidable(c.UserContext(), web.Principal(c), statuses, after, limit)
	if err != nil {
		return err
	}
	shown := make([]form.Commitment, len(found))
	for i, v := range found {
		shown[i] = h.shape.decided(v)
	}
	return web.OK(c, web.Field{Name: "commitments", Value: shown}, nextPlace(next))
}

// outstanding is GET /api/requests (decisions, part 5): those that the caller may allocate to. Round trips as for decidable.
func (h handlers) outstanding(c *fiber.Ctx) error {
	if status := c.Query("status"); status != "" && status != "outstanding" {
		return problem.New(problem.Malformed, "status is none of a request")
	}
	after, limit, err := readPlace(c)
	if err != nil {
		return err
	}
	found, next, err := h.events.ListOutstanding(c.UserContext(), web.Principal(c), after, limit)
	if err != nil {
		return err
	}
	shown := make([]form.Request, len(found))
	for i, v := range found {
		shown[i] = request(v.RequestView)
		summary := h.shape.summary(v.Event)
		shown[i].Event = &summary
	}
	return web.OK(c, web.Field{Name: "requests", Value: shown}, nextPlace(next))
}

// readStatuses reads the statuses asked for, separated by commas: requested when there are none.
func readStatuses(c *fiber.Ctx) ([]event.Status, error) {
	var statuses []event.Status
	for word := range strings.SplitSeq(c.Query("status", string(event.Requested)), ",") {
		status := event.Status(strings.TrimSpace(word))
		if !status.Known() {
			return nil, problem.New(problem.Malformed, "status is none of a commitment")
		}
		statuses = append(statuses, status)
	}
	return statuses, nil
}

// readPlace is web.Page for lists in order of events: what comes after is a place, as nextPlace wrote it.
func readPlace(c *fiber.Ctx) (after event.Place, limit int, err error) {
	if limit, err = web.Limit(c); err != nil {
		return event.Place{}, 0, err
	}
	text := c.Query("after")
	if text == "" {
		return event.Place{}, limit, nil
	}
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return event.Place{}, 0, problem.New(problem.Malformed, "after is no place in the list")
	}
	starts, err := strconv.ParseInt(parts[0], 10, 40) // seconds that stores can take
	eventID, ok := web.ParseID(parts[1])
	itemID, also := web.ParseID(parts[2])
	if err != nil || !ok || !also {
		return event.Place{}, 0, problem.New(problem.Malformed, "after is no place in the list")
	}
	return event.Place{Starts: time.Unix(starts, 0).UTC(), EventID: eventID, ItemID: itemID}, limit, nil
}

func nextPlace(p event.Place) web.Field {
	if p == (event.Place{}) {
		return web.Field{Name: "next", Value: nil}
	}
	return web.Field{Name: "next", Value: fmt.Sprintf("%d.%d.%d", p.Starts.Unix(), p.EventID, p.ItemID)}
}
