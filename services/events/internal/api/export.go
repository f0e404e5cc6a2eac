package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// exportedEvent is an event as an export reads it: with ids in place of what they name, and times in the zone.
type exportedEvent struct {
	event.Event

	StartsAt    *string              `json:"starts_at"`
	EndsAt      *string              `json:"ends_at"`
	AllDay      bool                 `json:"all_day"`
	Commitments []exportedCommitment `json:"commitments"`
}

type exportedCommitment struct {
	event.Commitment

	DecidedAt *string `json:"decided_at,omitempty"`
}

// exportEvents is GET /api/admin/export/events.
func (h handlers) exportEvents(c *fiber.Ctx) error {
	after, limit, err := web.PageFrom(c)
	if err != nil {
		return err
	}
	events, next, err := h.events.Page(c.UserContext(), after, limit)
	if err != nil {
		return err
	}
	shown := make([]exportedEvent, len(events))
	for i, e := range events {
		shown[i] = h.shape.exported(e)
	}
	return web.OKPage(c, "events", shown, web.Next(c, next),
		func(i int) web.Field { return web.Next(c, events[i].ID) })
}

func (s shape) exported(e event.Event) exportedEvent {
	shown := exportedEvent{
		Event: e, StartsAt: s.moment(e.Span.Starts), EndsAt: s.moment(e.Span.Ends), AllDay: e.Span.AllDay,
		Commitments: make([]exportedCommitment, len(e.Commitments)),
	}
	shown.Requests = append([]event.Request{}, e.Requests...) // never null
	for i, c := range e.Commitments {
		shown.Commitments[i] = exportedCommitment{c, s.moment(c.DecidedAt)}
	}
	return shown
}
