package api

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/web"
)

// shows handles a call that reads the record of the id in its path.
func shows[T, Form any](
	field string, get func(context.Context, principal.Principal, int64) (T, error), shape func(T) Form,
) fiber.Handler {
	return func(c *fiber.Ctx) error {
		id, err := web.PathID(c, "id")
		if err != nil {
			return err
		}
		v, err := get(c.UserContext(), web.Principal(c), id)
		if err != nil {
			return err
		}
		return web.OK(c, web.Field{Name: field, Value: shape(v)})
	}
}

// removes handles a call that removes it.
func removes(remove func(context.Context, principal.Principal, int64) error) fiber.Handler {
	return func(c *fiber.Ctx) error {
		id, err := web.PathID(c, "id")
		if err != nil {
			return err
		}
		if err := remove(c.UserContext(), web.Principal(c), id); err != nil {
			return err
		}
		return web.OK(c)
	}
}
