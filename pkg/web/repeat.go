package web

import (
	"context"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/idempotency/answers"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web/envelope"
)

const (
	headerKey = "Idempotency-Key"
	// headerReplayed marks a repeated answer.
	headerReplayed = "Idempotency-Replayed"

	// lockMargin is for writes that a store still ends after their request's deadline.
	lockMargin = 5 * time.Second
	// keepTimeout bounds how long an answer waits until it is remembered.
	keepTimeout = time.Second
)

// repeatable lets a request with an Idempotency-Key be repeated: only the first try reaches the handler, later ones get
// its answer again, if the caller may still see it. Only successes are remembered. On other calls, and on a
// dry run, the key has no effect.
func repeatable(o Options, r Route) fiber.Handler {
	return func(c *fiber.Ctx) error {
		key, err := readKey(c)
		switch {
		case err != nil:
			return err
		case !key.Given(), DryRun(c), r.RepeatableWhen != nil && !r.RepeatableWhen(c):
			return c.Next()
		}
		answer, lock, err := o.Answers.Begin(c.UserContext(), Principal(c).UserID, key, o.Timeout+lockMargin)
		if err != nil {
			return err
		}
		if answer != nil {
			if err := mayHaveAgain(c, r, answer); err != nil {
				return err
			}
			c.Set(headerReplayed, "true")
			c.Set(fiber.HeaderContentType, envelope.ContentType)
			if answer.Location != "" {
				c.Set(fiber.HeaderLocation, answer.Location)
			}
			return c.Status(answer.Code).Send(answer.Body)
		}
		done := false
		defer func() { // also when the handler panics
			ctx, cancel := context.WithTimeout(context.WithoutCancel(c.UserContext()), keepTimeout)
			defer cancel()
			end := func() error { return o.Answers.Release(ctx, lock) }
			if done {
				end = func() error {
					return o.Answers.Keep(ctx, lock, answers.Answer{
						Code: c.Response().StatusCode(), Body: c.Response().Body(), By: Principal(c),
						Location: c.GetRespHeader(fiber.HeaderLocation),
					})
				}
			}
			if err := end(); err != nil { // the lock expires
				o.Log.WarnContext(ctx, "an answer is not remembered", "route", matchedRoute(c), "request",
					c.Locals(requestIDKey), "error", err)
			}
		}()
		c.Locals(idempotencyKey, key)
		err = c.Next()
		done = err == nil && c.Response().StatusCode() < fiber.StatusMultipleChoices
		return err
	}
}

// mayHaveAgain returns a Conflict when the caller may not see an answer that its user got before, because the user lost
// a right or no longer sees a record in the answer, or because the answer has a secret and now someone else acts as the
// user, or another token does.
func mayHaveAgain(c *fiber.Ctx, r Route, answer *answers.Answer) error {
	p := Principal(c)
	another := p.OriginalID != answer.By.OriginalID || p.Token.ID != answer.By.Token.ID
	if !p.Covers(answer.By) || r.Secret && another {
		return idempotency.Lost(nil)
	}
	if p.Permissions.Admin {
		return nil
	}
	err := r.Repeatable(c, answer.Body)
	if problem.Is(err, problem.Forbidden) || problem.Is(err, problem.NotFound) {
		return idempotency.Lost(err)
	}
	return err
}

// readKey returns the zero Key when there is no header.
func readKey(c *fiber.Ctx) (idempotency.Key, error) {
	switch keys := c.Request().Header.PeekAll(headerKey); len(keys) {
	case 0:
		return idempotency.Key{}, nil
	case 1:
		header := string(keys[0])
		asked := c.Request().Body()
		if query := c.Request().URI().QueryString(); len(query) > 0 { // as much of what is asked as the body is
			asked = slices.Concat(query, []byte("\n"), asked)
		}
		route := c.Method() + " " + c.Path()
		return idempotency.New(Principal(c).UserID, route, header, asked), idempotency.CheckKey(header)
	default:
		return idempotency.Key{}, problem.New(problem.Malformed, "more than one %s", headerKey)
	}
}

// IdempotencyKey returns the key by which a repeated request is recognised; the zero Key when it has no
// Idempotency-Key.
func IdempotencyKey(c *fiber.Ctx) idempotency.Key {
	k, _ := c.Locals(idempotencyKey).(idempotency.Key)
	return k
}
