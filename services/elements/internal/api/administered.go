package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/web"
)

// administered answers neighbour.Elements.Administered. One read of the elements that it returns.
func (h handlers) administered(c *fiber.Ctx) error {
	var q fact.AdministeredQuestion
	if err := web.Decode(c, &q); err != nil {
		return err
	}
	facts, err := h.elements.Administered(c.UserContext(), q.UserID)
	if err != nil {
		return err
	}
	return web.OK(c, web.Part{Name: "elements", Value: facts})
}
