package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/web"
)

func (h handlers) administrators(c *fiber.Ctx) error {
	id, after, limit, err := web.PathPage(c)
	if err != nil {
		return err
	}
	users, next, err := h.elements.ListAdministrators(c.UserContext(), web.Principal(c), id, after, limit)
	return web.OKList(c, "administrators", users, next, err, func(u fact.User) form.User { return u.User },
		func(u fact.User) int64 { return u.ID })
}

func (h handlers) addAdministrator(c *fiber.Ctx, id, userID int64) error {
	user, err := h.elements.AddAdministrator(c.UserContext(), web.Principal(c), id, userID)
	return web.OKUnless(c, err, web.Field{Name: "administrator", Value: user.User})
}

func (h handlers) removeAdministrator(c *fiber.Ctx, id, userID int64) error {
	return web.OKUnless(c, h.elements.RemoveAdministrator(c.UserContext(), web.Principal(c), id, userID))
}
