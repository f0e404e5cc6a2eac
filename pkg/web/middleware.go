package web

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/web/envelope"
)

// key is the type of what this package keeps in a request's locals.
type key int

const (
	routeKey       key = iota // string: the template of the route that was matched
	neighbourKey              // bool: a neighbour is asking
	principalKey              // principal.Principal
	loadKey                   // loader: of who is signed in
	requestIDKey              // string
	idempotencyKey            // idempotency.Key
	streamKey                 // streamer
	holderKey                 // int64: the user whose room the body takes
	encodingKey               // encoding: how the answer is sent if it is not small; absent where that is never asked
	bodyKey                   // Object: the body, where it was read as one
	cursorsKey                // cursors: the route's, where it has pages
	versionsKey               // *sealed.Box: for versions in entity tags
)

func identifyRequest(c *fiber.Ctx) error {
	id := envelope.RequestID(c.Get(envelope.HeaderRequestID))
	c.Locals(requestIDKey, id)
	c.Set(envelope.HeaderRequestID, id)
	return c.Next()
}

// RequestID returns the id of the request, as the logs and the audit have it.
func RequestID(c *fiber.Ctx) string {
	id, _ := c.Locals(requestIDKey).(string)
	return id
}

// logAccess writes one line a request: never the path or the query, which may hold secrets, but the route's template.
func logAccess(o Options) fiber.Handler {
	return func(c *fiber.Ctx) error {
		begun := time.Now()
		err := c.Next()
		fields := []any{
			"method", c.Method(),
			"route", matchedRoute(c),
			"code", c.Response().StatusCode(),
			"ms", float64(time.Since(begun).Microseconds()) / 1000,
			"request", c.Locals(requestIDKey),
		}
		if p, ok := signedIn(c); ok {
			fields = append(fields, "user", p.UserID)
			if p.Switched() {
				fields = append(fields, "original", p.OriginalID)
			}
			if p.Token.ID != 0 {
				fields = append(fields, "token", p.Token.ID)
			}
		}
		o.Log.InfoContext(c.UserContext(), "request", fields...)
		return err
	}
}

func matchedRoute(c *fiber.Ctx) string {
	if route, ok := c.Locals(routeKey).(string); ok {
		return route
	}
	return "unmatched"
}

// limitTime gives the request's context its deadline. A client that goes away does not cancel it; the deadline does.
func limitTime(timeout time.Duration) fiber.Handler {
	return func(c *fiber.Ctx) error {
		ctx, cancel := context.WithTimeout(c.UserContext(), timeout)
		defer cancel()
		c.SetUserContext(ctx)
		return c.Next()
	}
}

func secureHeaders(o Options) fiber.Handler {
	return func(c *fiber.Ctx) error {
		for _, h := range envelope.Security {
			c.Set(h[0], h[1])
		}
		if o.Cookies.Secure {
			c.Set(fiber.HeaderStrictTransportSecurity, "max-age=31536000")
		}
		return c.Next()
	}
}
