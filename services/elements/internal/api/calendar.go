package api

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
)

// icalendar is the media type of calendars.
const icalendar = "text/calendar; charset=utf-8"

func (h handlers) calendar(c *fiber.Ctx, id int64) error {
	text, err := h.elements.Calendar(c.UserContext(), web.Principal(c), id)
	if err != nil {
		return err
	}
	return web.File(c, icalendar, text)
}

func (h handlers) calendarByToken(c *fiber.Ctx) error {
	token, found := strings.CutSuffix(c.Params("file"), ".ics")
	if !found {
		return problem.New(problem.NotFound, "")
	}
	web.Act(c, principal.Principal{}, h.trusted) // no user is logged in, but the address is recorded
	text, err := h.elements.CalendarByToken(c.UserContext(), token)
	if err != nil {
		return err
	}
	return web.File(c, icalendar, text)
}
