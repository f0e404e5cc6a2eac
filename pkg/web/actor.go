package web

import (
	"net/netip"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/principal"
)

// The actor of a context is set in this file alone: by Act for a public request, by actForNeighbour for an internal
// one. Any other context is the system's.

// Act makes p the actor of a request's context, from the client's address. A session does so by itself; a login calls
// it for the user that it has let in.
func Act(c *fiber.Ctx, p principal.Principal, trusted []netip.Prefix) {
	c.SetUserContext(audit.WithActor(c.UserContext(), audit.Actor{
		User: p.UserID, Original: p.OriginalID, Token: p.Token.ID, TokenName: p.Token.Name,
		From: ClientAddress(c, trusted), Request: RequestID(c),
	}))
}

// actForNeighbour makes the actor that the asking service names the actor here too. Only a request with the shared
// token may name one.
func actForNeighbour(c *fiber.Ctx) {
	if a, err := audit.ParseActor(c.Get(audit.Header)); err == nil {
		c.SetUserContext(audit.WithActor(c.UserContext(), a))
	}
}
