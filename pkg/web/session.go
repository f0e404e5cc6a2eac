package web

import (
	"context"
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/session"
)

// Sessions loads sessions: session.ErrNone when there is no such session; any other error means that the store cannot
// be reached.
type Sessions interface {
	Load(ctx context.Context, token session.Token) (session.Record, error)
}

// Cookies says how the session cookie is sent (decisions, part 2). Secure cookies carry the __Host- prefix.
type Cookies struct{ Secure bool }

// Name of the cookie.
func (k Cookies) Name() string {
	if k.Secure {
		return "__Host-scheduling_session"
	}
	return "scheduling_session"
}

// Set sends the session's id to the client.
func (k Cookies) Set(c *fiber.Ctx, token session.Token) { k.write(c, token.Reveal(), time.Time{}) }

// Clear makes the client forget the cookie.
func (k Cookies) Clear(c *fiber.Ctx) { k.write(c, "", fasthttp.CookieExpireDelete) }

func (k Cookies) write(c *fiber.Ctx, value string, expires time.Time) {
	c.Cookie(&fiber.Cookie{
		Name: k.Name(), Value: value, Path: "/", Expires: expires,
		Secure: k.Secure, HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode,
	})
}

// Token returns the session id that the client sent, and false when there is no valid one.
func (k Cookies) Token(c *fiber.Ctx) (session.Token, bool) {
	return session.ParseToken(c.Cookies(k.Name()))
}

// signIn loads the session, and lets only those pass who may use the API (contract 5.8), and administrators where the
// route is for them.
func signIn(o Options, access Access) fiber.Handler {
	return func(c *fiber.Ctx) error {
		token, ok := o.Cookies.Token(c)
		if !ok {
			return problem.New(problem.AccessDenied, "")
		}
		c.SetUserContext(directory.Begin(c.UserContext()))
		record, err := o.Sessions.Load(c.UserContext(), token)
		switch {
		case errors.Is(err, session.ErrNone):
			return problem.New(problem.AccessDenied, "")
		case err != nil:
			return problem.Wrap(problem.Unavailable, err, "")
		}
		p := record.Principal()
		if !p.MayUseAPI {
			return problem.New(problem.AccessDenied, "")
		}
		c.Locals(principalKey, p)
		c.Locals(tokenKey, token)
		Act(c, p, o.TrustedProxies)
		switch { // no route of the contract, whose 403 says nothing else
		case access == Admin && !p.Permissions.Admin:
			return problem.New(problem.Forbidden, "needs admin")
		case access == SchoolAdmin && !p.AdministersSchools():
			return problem.New(problem.Forbidden, "needs admin or admin_of")
		}
		return c.Next()
	}
}

// Principal returns the user who acts. It is the zero Principal on routes that need no session.
func Principal(c *fiber.Ctx) principal.Principal {
	p, _ := signedIn(c)
	return p
}

func signedIn(c *fiber.Ctx) (principal.Principal, bool) {
	p, ok := c.Locals(principalKey).(principal.Principal)
	return p, ok
}
