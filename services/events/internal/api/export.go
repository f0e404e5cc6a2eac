package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// exportedEvent is an event as an export reads it: with ids in place of what they name.
type exportedEvent struct {
	ID  int64  `json:"id"`
	Key string `json:"key,omitempty"`
	event.Texts
	CategoryID  int64                `json:"category_id"`
	StartsAt    *string              `json:"starts_at"`
	EndsAt      *string              `json:"ends_at"`
	AllDay      bool                 `json:"all_day"`
	OwnerID     int64                `json:"owner_id,omitempty"`
	OrganiserID int64                `json:"organiser_id,omitempty"`
	SeriesID    int64                `json:"series_id,omitempty"`
	Place       int                  `json:"series_place,omitempty"`
	Commitments []exportedCommitment `json:"commitments"`
	Requests    []exportedRequest    `json:"requests"`
}

type exportedCommitment struct {
	ID        int64        `json:"id"`
	ElementID int64        `json:"element_id"`
	Status    event.Status `json:"status"`
	RequestID int64        `json:"request_id,omitempty"`
	Reason    string       `json:"reason,omitempty"`
	DecidedBy int64        `json:"decided_by,omitempty"`
	DecidedAt *string      `json:"decided_at,omitempty"`
	AskedBy   int64        `json:"asked_by,omitempty"`
}

type exportedRequest struct {
	ID        int64 `json:"id"`
	ElementID int64 `json:"element_id"`
	Quantity  int   `json:"quantity"`
	AskedBy   int64 `json:"asked_by,omitempty"`
}

// exportEvents is GET /api/admin/export/events.
func (h handlers) exportEvents(c *fiber.Ctx) error {
	after, limit, err := web.Page(c)
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
	return web.OKPage(c, "events", shown, web.Next(next),
		func(i int) web.Field { return web.Next(events[i].ID) })
}

func (s shape) exported(e event.Event) exportedEvent {
	shown := exportedEvent{
		ID: e.ID, Key: e.Key, Texts: e.Texts, CategoryID: e.CategoryID,
		StartsAt: s.moment(e.Span.Starts), EndsAt: s.moment(e.Span.Ends), AllDay: e.Span.AllDay,
		OwnerID: e.OwnerID, OrganiserID: e.OrganiserID, SeriesID: e.SeriesID, Place: e.Place,
		Commitments: make([]exportedCommitment, len(e.Commitments)),
		Requests:    make([]exportedRequest, len(e.Requests)),
	}
	for i, c := range e.Commitments {
		shown.Commitments[i] = exportedCommitment{
			ID: c.ID, ElementID: c.ElementID, Status: c.Status, RequestID: c.RequestID, Reason: c.Reason,
			DecidedBy: c.DecidedBy, DecidedAt: s.moment(c.DecidedAt), AskedBy: c.AddedBy,
		}
	}
	for i, r := range e.Requests {
		shown.Requests[i] = exportedRequest{r.ID, r.ElementID, r.Quantity, r.AddedBy}
	}
	return shown
}
