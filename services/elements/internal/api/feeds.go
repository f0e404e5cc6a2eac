package api

import (
	"bytes"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

func (h handlers) listFeeds(c *fiber.Ctx, id int64) error {
	feeds, e, err := h.elements.ListFeeds(c.UserContext(), web.Principal(c), id)
	forms := sequence.Map(feeds, func(f element.Feed) feed { return h.feedOf(f, e) })
	return web.OKUnless(c, err, web.Field{Name: "feeds", Value: forms})
}

// createFeed answers POST /api/elements/ID/feeds. A body is not needed.
func (h handlers) createFeed(c *fiber.Ctx, id int64) error {
	faults := problem.Fields{}
	name, err := readFeedName(c, faults)
	if err != nil {
		return err
	}
	f, e, token, err := h.elements.CreateFeed(c.UserContext(), web.Principal(c), id, name, faults)
	if err != nil {
		return err
	}
	if web.DryRun(c) { // its token opens nothing
		return web.Created(c, "", web.Field{Name: "feed", Value: h.feedOf(f, e)})
	}
	return web.Created(c, c.Path(), h.withAddress(f, e, token))
}

// readFeedName reads the name of a new feed, if there is one, and adds its faults.
func readFeedName(c *fiber.Ctx, faults problem.Fields) (string, error) {
	if text := string(bytes.TrimSpace(c.Request().Body())); text == "" || text == "null" {
		return element.DefaultFeedName, nil
	}
	body, err := web.Body(c)
	if err != nil || !body.Has("feed") {
		return element.DefaultFeedName, err
	}
	fields, err := body.Object("feed")
	if err != nil {
		return "", problem.New(problem.Malformed, "feed is not an object")
	}
	if name := fields.Text("name", faults); name != nil {
		return strings.TrimSpace(*name), nil
	}
	return element.DefaultFeedName, nil
}

func (h handlers) renewFeed(c *fiber.Ctx, id, feedID int64) error {
	f, e, token, err := h.elements.RenewFeed(c.UserContext(), web.Principal(c), id, feedID)
	return web.OKUnless(c, err, h.withAddress(f, e, token))
}

// withAddress shows a feed with the address that its token makes.
func (h handlers) withAddress(f element.Feed, e element.Element, token string) web.Field {
	shown := h.feedOf(f, e)
	shown.Path = "/ical/" + token + ".ics"
	return web.Field{Name: "feed", Value: shown}
}

func (h handlers) deleteFeed(c *fiber.Ctx, id, feedID int64) error {
	return web.OKUnless(c, h.elements.DeleteFeed(c.UserContext(), web.Principal(c), id, feedID))
}
