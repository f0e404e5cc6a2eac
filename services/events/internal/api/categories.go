package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/web"
)

// listCategories is GET /api/eventcategories: all of them.
func (h handlers) listCategories(c *fiber.Ctx) error {
	categories, err := h.categories.List(c.UserContext(), web.Principal(c))
	if err != nil {
		return err
	}
	shown := make([]*form.Category, len(categories))
	for i := range categories {
		shown[i] = listed(&categories[i])
	}
	return web.OK(c, web.Field{Name: "eventcategories", Value: shown})
}
