package api

import (
	"fmt"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/web"
)

// listFeeds answers GET /api/elements/ID/feeds.
func (h handlers) listFeeds(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	feeds, e, err := h.elements.ListFeeds(c.UserContext(), web.Principal(c), id)
	if err != nil {
		return err
	}
	forms := make([]feed, len(feeds))
	for i, f := range feeds {
		forms[i] = h.feedOf(f, e)
	}
	return web.OK(c, web.Field{Name: "feeds", Value: forms})
}

// createFeed answers POST /api/elements/ID/feeds.
func (h handlers) createFeed(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	f, e, token, err := h.elements.CreateFeed(c.UserContext(), web.Principal(c), id)
	if err != nil {
		return err
	}
	created := h.feedOf(f, e)
	created.Path = "/ical/" + token + ".ics"
	return web.Created(c, fmt.Sprintf("/api/elements/%d/feeds/%d", id, f.ID), web.Field{Name: "feed", Value: created})
}

// deleteFeed answers DELETE /api/elements/ID/feeds/FEED.
func (h handlers) deleteFeed(c *fiber.Ctx) error {
	id, feedID, err := pathIDs(c, "feed")
	if err != nil {
		return err
	}
	if err := h.elements.DeleteFeed(c.UserContext(), web.Principal(c), id, feedID); err != nil {
		return err
	}
	return web.OK(c)
}
