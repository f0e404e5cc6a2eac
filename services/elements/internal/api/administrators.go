package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/web"
)

// administrators answers GET /api/admin/elements/ID/administrators.
func (h handlers) administrators(c *fiber.Ctx) error {
	id, after, limit, err := web.PathPage(c)
	if err != nil {
		return err
	}
	users, next, err := h.elements.ListAdministrators(c.UserContext(), web.Principal(c), id, after, limit)
	if err != nil {
		return err
	}
	forms := sequence.Map(users, func(u fact.User) form.User { return u.User })
	return web.OKPage(c, "administrators", forms, web.Next(c, next),
		func(i int) web.Field { return web.Next(c, users[i].ID) })
}

// addAdministrator answers PUT /api/admin/elements/ID/administrators/USER_ID.
func (h handlers) addAdministrator(c *fiber.Ctx, id, userID int64) error {
	user, err := h.elements.AddAdministrator(c.UserContext(), web.Principal(c), id, userID)
	if err != nil {
		return err
	}
	return web.OK(c, web.Field{Name: "administrator", Value: user.User})
}

// removeAdministrator answers DELETE /api/admin/elements/ID/administrators/USER_ID.
func (h handlers) removeAdministrator(c *fiber.Ctx, id, userID int64) error {
	return web.OKUnless(c, h.elements.RemoveAdministrator(c.UserContext(), web.Principal(c), id, userID))
}
