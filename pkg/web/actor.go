package web

import (
	"net/netip"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/principal"
)

// Only this file sets the actor of a context: Act for a public request, actForNeighbour for an internal one. Any other
// context is the system's.

// Act makes p the actor of a request's context, from the client's address. With a session this is automatic; a login
// calls it for the user who has logged in.
func Act(c *fiber.Ctx, p principal.Principal, trusted []netip.Prefix) {
	c.SetUserContext(audit.WithActor(c.UserContext(), audit.Actor{
		User: p.UserID, Original: p.OriginalID, Token: p.Token.ID, TokenName: p.Token.Name,
		From: ClientAddress(c, trusted), Request: RequestID(c),
	}))
}

// actForNeighbour takes over the actor that the asking service names. Only a request with the shared token may name
// one.
func actForNeighbour(c *fiber.Ctx) {
	if a, err := audit.ParseActor(c.Get(audit.Header)); err == nil {
		c.SetUserContext(audit.WithActor(c.UserContext(), a))
	}
}
