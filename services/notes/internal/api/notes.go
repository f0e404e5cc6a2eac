package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// get answers GET of a note (contract 4.3).
func (h handlers) get(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	n, err := h.notes.Get(c.UserContext(), fact.ViewerOf(web.Principal(c)), id)
	if err != nil {
		return err
	}
	return show(c, id, n)
}

// change answers PUT and PATCH of a note (contract 4.3).
func (h handlers) change(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	fields, err := web.Wrapped(c, "note")
	if err != nil {
		return err
	}
	match, err := web.IfMatch(c, kind, id)
	if err != nil {
		return err
	}
	n, err := h.notes.Change(c.UserContext(), fact.ViewerOf(web.Principal(c)), id, note.ReadEdit(fields), match)
	if err != nil {
		return refuse(c, err)
	}
	return show(c, id, n)
}

// remove answers DELETE of a note (contract 4.3).
func (h handlers) remove(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	match, err := web.IfMatch(c, kind, id)
	if err != nil {
		return err
	}
	if err := h.notes.Delete(c.UserContext(), fact.ViewerOf(web.Principal(c)), id, match); err != nil {
		return err
	}
	return web.OK(c)
}
