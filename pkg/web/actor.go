package web

import (
	"net/netip"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/audit"
	"github.com/belfry-schools/belfry/pkg/principal"
)

// Actor is who acts in a request as the audit knows it: p, which may be the zero Principal, from the client's address.
func Actor(c *fiber.Ctx, p principal.Principal, trusted []netip.Prefix) audit.Actor {
	request, _ := c.Locals(requestIDKey).(string)
	return audit.Actor{User: p.UserID, Original: p.OriginalID, From: ClientAddress(c, trusted), Request: request}
}

// act makes p the one who acts in the request's context.
func act(c *fiber.Ctx, o Options, p principal.Principal) {
	c.SetUserContext(audit.WithActor(c.UserContext(), Actor(c, p, o.TrustedProxies)))
}

// actForNeighbour makes the one whom the asking service names the one who acts here too. Only a request with the shared token may name one.
func actForNeighbour(c *fiber.Ctx) {
	if a, err := audit.ParseActor(c.Get(audit.Header)); err == nil {
		c.SetUserContext(audit.WithActor(c.UserContext(), a))
	}
}
