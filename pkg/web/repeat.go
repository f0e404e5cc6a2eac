package web

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/idempotency/answers"
	"github.com/belfry-schools/belfry/pkg/problem"
)

const (
	headerKey = "Idempotency-Key"
	// headerReplayed marks an answer that was given before.
	headerReplayed = "Idempotency-Replayed"

	// claimMargin is for writes that a store still ends after their request's deadline.
	claimMargin = 5 * time.Second
	// settleTimeout bounds how long an answer waits for being remembered.
	settleTimeout = time.Second
)

// repeatable lets a request with an Idempotency-Key be repeated: only the first try reaches the handler, later ones get its answer again. Only
// successes are remembered. Two round trips more, none without a key.
func repeatable(o Options) fiber.Handler {
	return func(c *fiber.Ctx) error {
		ticket, err := readTicket(c)
		switch {
		case err != nil:
			return err
		case !ticket.Given():
			return c.Next()
		}
		answer, claim, err := o.Answers.Begin(c.UserContext(), ticket, o.Timeout+claimMargin)
		if err != nil {
			return err
		}
		if answer != nil {
			c.Set(headerReplayed, "true")
			c.Set(fiber.HeaderContentType, contentType)
			return c.Status(answer.Code).Send(answer.Body)
		}
		done := false
		defer func() { // also when the handler panics
			ctx, cancel := context.WithTimeout(context.WithoutCancel(c.UserContext()), settleTimeout)
			defer cancel()
			settle := func() error { return o.Answers.Release(ctx, claim) }
			if done {
				settle = func() error {
					return o.Answers.Keep(ctx, claim, answers.Answer{Code: c.Response().StatusCode(), Body: c.Response().Body()})
				}
			}
			if err := settle(); err != nil { // the claim runs out
				o.Log.WarnContext(ctx, "an answer is not remembered", "route", matchedRoute(c), "request", c.Locals(requestIDKey), "error", err)
			}
		}()
		c.Locals(ticketKey, ticket)
		err = c.Next()
		done = err == nil && c.Response().StatusCode() < fiber.StatusMultipleChoices
		return err
	}
}

// readTicket returns the zero ticket when there is no key.
func readTicket(c *fiber.Ctx) (idempotency.Ticket, error) {
	switch keys := c.Request().Header.PeekAll(headerKey); len(keys) {
	case 0:
		return idempotency.Ticket{}, nil
	case 1:
		key := string(keys[0])
		return idempotency.New(Principal(c).UserID, c.Method()+" "+c.Path(), key, c.Request().Body()), idempotency.CheckKey(key)
	default:
		return idempotency.Ticket{}, problem.New(problem.Malformed, "more than one %s", headerKey)
	}
}

// Ticket returns what the request can be recognised by when it is repeated; the zero ticket when it has no Idempotency-Key.
func Ticket(c *fiber.Ctx) idempotency.Ticket {
	t, _ := c.Locals(ticketKey).(idempotency.Ticket)
	return t
}
