package api

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// icalendar is the media type of calendars.
const icalendar = "text/calendar; charset=utf-8"

// feed is the form of a feed. Its address is shown once, when it is made.
type feed struct {
	ID        int64        `json:"id"`
	Element   form.Element `json:"element"`
	CreatedAt string       `json:"created_at"`
	Path      string       `json:"path,omitempty"`
	Valid     bool         `json:"valid"`
}

func (h handlers) feedOf(f element.Feed, e element.Element) feed {
	return feed{ID: f.ID, Element: e.List(), CreatedAt: h.zone.Format(f.Created), Valid: true}
}

// calendar answers GET /api/elements/ID/calendar.ics; see element.Service.Calendar for its cost.
func (h handlers) calendar(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	text, err := h.elements.Calendar(c.UserContext(), id)
	if err != nil {
		return err
	}
	return web.File(c, icalendar, text)
}

// calendarBy answers GET /ical/TOKEN.ics; see element.Service.CalendarBy for its cost.
func (h handlers) calendarBy(c *fiber.Ctx) error {
	token, named := strings.CutSuffix(c.Params("file"), ".ics")
	if !named {
		return problem.New(problem.NotFound, "")
	}
	text, err := h.elements.CalendarBy(c.UserContext(), token)
	if err != nil {
		return err
	}
	return web.File(c, icalendar, text)
}

// feeds answers GET /api/elements/ID/feeds. Two reads.
func (h handlers) feeds(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	f, e, err := h.elements.Feed(c.UserContext(), web.Principal(c), id)
	if err != nil {
		return err
	}
	shown := []feed{}
	if f != nil {
		shown = append(shown, h.feedOf(*f, e))
	}
	return web.OK(c, web.Field{Name: "feeds", Value: shown})
}

// newFeed answers POST /api/elements/ID/feeds. Two reads and a write.
func (h handlers) newFeed(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	f, e, token, err := h.elements.NewFeed(c.UserContext(), web.Principal(c), id)
	if err != nil {
		return err
	}
	shown := h.feedOf(f, e)
	shown.Path = "/ical/" + token + ".ics"
	return web.Answer(c, fiber.StatusOK, "Created", web.Field{Name: "feed", Value: shown})
}

// revokeFeed answers DELETE /api/elements/ID/feeds/FEED. One write.
func (h handlers) revokeFeed(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	number, err := web.PathID(c, "feed")
	if err != nil {
		return err
	}
	if err := h.elements.RevokeFeed(c.UserContext(), web.Principal(c), id, number); err != nil {
		return err
	}
	return web.OK(c)
}
