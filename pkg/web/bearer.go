package web

import (
	"context"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/session"
)

// TokenUse says by which tokens for programs a route for signed-in users may be called. Routes for administrators need
// the scope administer, for reads too.
type TokenUse int

// The uses. By any of them a token does no more than its user may.
const (
	ByMethod    TokenUse = iota // GET: read, book and administer; all others: book and administer
	OneElement                  // ByMethod, and read_element for the element that the path names by :id
	Administers                 // administer alone
	SessionOnly                 // no token: what the call gives would outlive it
)

// admits says whether the route may be called by a token.
func (r Route) admits(t principal.Token, c *fiber.Ctx) bool {
	if r.ByToken == OneElement && t.Scope == principal.ReadElement {
		id, err := PathID(c, "id")
		return err == nil && id == t.ElementID
	}
	return slices.Contains(r.scopes(), t.Scope)
}

// scopes are the scopes that allow the route, whatever the path.
func (r Route) scopes() []principal.TokenScope {
	all := principal.TokenScopes()
	least := principal.Book
	switch {
	case r.ByToken == SessionOnly:
		return nil
	case r.ByToken == Administers || r.Access == SchoolAdmin || r.Access == Admin:
		least = principal.Administer
	case r.Method == fiber.MethodGet:
		least = principal.Read
	}
	return all[slices.Index(all, least):]
}

// insufficient is the refusal of a token whose scope lacks the route (RFC 6750, section 3.1).
func (r Route) insufficient(c *fiber.Ctx) error {
	challenge := `Bearer realm="Belfry", error="insufficient_scope"`
	needs := "" // the contract's routes do not say it
	if scopes := r.scopes(); len(scopes) > 0 {
		challenge += `, scope="` + string(scopes[0]) + `"`
		if r.Access == Admin || r.Access == SchoolAdmin {
			needs = "needs a token of scope " + string(scopes[0])
		}
	}
	c.Set(fiber.HeaderWWWAuthenticate, challenge)
	return problem.New(problem.Forbidden, "%s", needs)
}

// bearer returns the token of the Authorization header, and whether there is one. A request with one has no session:
// its cookie is ignored.
func bearer(c *fiber.Ctx) (string, bool) {
	scheme, token, _ := strings.Cut(c.Get(fiber.HeaderAuthorization), " ")
	return strings.Trim(token, " "), strings.EqualFold(scheme, "Bearer")
}

// loadBearer loads the user of a token that was sent from an address.
func (o Options) loadBearer(text, from string) loader {
	token, ok := session.ParseBearer(text)
	return func(ctx context.Context) (session.Record, error) {
		if !ok {
			return session.Record{}, problem.New(problem.AccessDenied, "")
		}
		opened, err := o.Sessions.LoadBearer(ctx, token, from)
		switch {
		case err != nil:
			return session.Record{}, err
		case opened.Wait > 0:
			return session.Record{}, &problem.Error{Kind: problem.TooManyRequests, RetryAfter: opened.Wait}
		case opened.Record == nil:
			return session.Record{}, problem.New(problem.AccessDenied, "")
		}
		return *opened.Record, nil
	}
}
