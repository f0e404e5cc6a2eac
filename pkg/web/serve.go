package web

import (
	"context"

	"github.com/gofiber/fiber/v2"
	"github.com/segmentio/encoding/json"

	"github.com/belfry-schools/belfry/pkg/neighbour"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// Serve is the route by which the owner of records answers a question of the other services. A body that is not the
// question's JSON is Malformed.
func Serve[Q, A any](question neighbour.Question[Q, A], answer func(context.Context, Q) (A, error)) Route {
	return Route{Method: fiber.MethodPost, Path: question.Path, Access: Neighbour, MaxBody: question.MaxBody,
		Large: question.Large,
		Handler: func(c *fiber.Ctx) error {
			var q Q
			if err := json.Unmarshal(c.Request().Body(), &q); err != nil {
				return problem.Wrap(problem.Malformed, err, "the body does not fit")
			}
			a, err := answer(c.UserContext(), q)
			if err != nil {
				return err
			}
			return OK(c, Field{Name: question.Field, Value: a})
		}}
}
