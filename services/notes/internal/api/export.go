package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/web"
)

func (h handlers) exportNotes(c *fiber.Ctx) error {
	after, limit, err := web.PageFrom(c)
	if err != nil {
		return err
	}
	notes, next, err := h.notes.Page(c.UserContext(), after, limit)
	if err != nil {
		return err
	}
	return web.OKPage(c, "notes", notes, web.Next(c, next), func(i int) web.Field { return web.Next(c, notes[i].ID) })
}
