package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/web"
)

// listByEmail answers GET of the users with an address (contract 4.5, 5.5 and 5.6): 404 and an empty list when no
// user has it.
func (h handlers) listByEmail(c *fiber.Ctx) error {
	email, err := web.Query(c, "email")
	if err != nil {
		return err
	}
	found, err := h.users.ListByEmail(c.UserContext(), web.Principal(c), email)
	if err != nil {
		return err
	}
	users := web.Field{Name: "users", Value: sequence.Map(found, listForm)}
	if len(found) == 0 && email != "" {
		return web.Answer(c, problem.NotFound.Code(), problem.NotFound.Status(), users)
	}
	return web.OK(c, users)
}
