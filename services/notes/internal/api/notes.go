package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// get answers GET of a note (contract 4.3).
func (h handlers) get(c *fiber.Ctx, id int64) error {
	n, err := h.notes.Get(c.UserContext(), fact.ViewerOf(web.Principal(c)), id)
	if err != nil {
		return err
	}
	return show(c, n)
}

// eventsWithNotes answers GET /api/notes: which of the events have notes that the caller sees.
func (h handlers) eventsWithNotes(c *fiber.Ctx) error {
	ids, err := web.ParseIDs("events", c.Query("events"), note.MaxEvents)
	if err != nil {
		return err
	}
	found, err := h.notes.EventsWithNotes(c.UserContext(), fact.ViewerOf(web.Principal(c)), ids)
	return web.OKUnless(c, err, web.Field{Name: "events", Value: append([]int64{}, found...)})
}

// change answers PUT and PATCH of a note (contract 4.3).
func (h handlers) change(c *fiber.Ctx) error {
	change, err := web.PathChange(c, kind)
	if err != nil {
		return err
	}
	viewer := fact.ViewerOf(web.Principal(c))
	n, err := h.notes.Change(c.UserContext(), viewer, change.ID, readEdit(change.Fields), change.Match)
	if err != nil {
		return refuse(c, err)
	}
	return show(c, n)
}

// remove answers DELETE of a note (contract 4.3).
func (h handlers) remove(c *fiber.Ctx) error {
	id, match, err := web.PathMatch(c, kind)
	if err != nil {
		return err
	}
	return web.OKUnless(c, h.notes.Delete(c.UserContext(), fact.ViewerOf(web.Principal(c)), id, match))
}
