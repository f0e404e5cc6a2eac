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
// be reached. LoadBearer does it for tokens for programs; where there is none, it has no record.
type Sessions interface {
	Load(ctx context.Context, token session.Token) (session.Record, error)
	LoadBearer(ctx context.Context, token session.Token, from string) (session.Opened, error)
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

// loader returns who acts now by what a request came with: AccessDenied when that is no longer valid.
type loader func(ctx context.Context) (session.Record, error)

// credentials returns the loader of a request's token for programs, or else of its session.
func (o Options) credentials(c *fiber.Ctx) (loader, bool) {
	if sent, is := bearer(c); is {
		return o.loadBearer(sent, ClientAddress(c, o.TrustedProxies)), true
	}
	token, ok := o.Cookies.Token(c)
	return func(ctx context.Context) (session.Record, error) {
		record, err := o.Sessions.Load(ctx, token)
		if errors.Is(err, session.ErrNone) {
			return record, problem.New(problem.AccessDenied, "")
		}
		return record, err
	}, ok
}

// signIn loads the session, and admits only users who may use the API (contract 5.8), by a token only if its scope has
// the route, and only administrators where the route is for them.
func signIn(o Options, r Route) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := admit(o, r, c); err != nil {
			return err
		}
		return c.Next()
	}
}

// admit is what signIn does before the next handler.
func admit(o Options, r Route, c *fiber.Ctx) error {
	load, ok := o.credentials(c)
	if !ok {
		return problem.New(problem.AccessDenied, "")
	}
	c.SetUserContext(directory.Begin(c.UserContext()))
	record, err := load(c.UserContext())
	var refused *problem.Error
	switch {
	case errors.As(err, &refused):
		return err
	case err != nil:
		return problem.Wrap(problem.Unavailable, err, "")
	}
	p := record.Principal()
	if !p.MayUseAPI {
		return problem.New(problem.AccessDenied, "")
	}
	c.Locals(principalKey, p)
	c.Locals(loadKey, load)
	Act(c, p, o.TrustedProxies)
	if p.Token.ID != 0 && !r.admits(p.Token, c) {
		return r.insufficient(c)
	}
	switch { // no route of the contract, whose 403 says nothing else
	case r.Access == Admin && !p.Permissions.Admin:
		return problem.New(problem.Forbidden, "needs admin")
	case r.Access == SchoolAdmin && !p.AdministersSchools():
		return problem.New(problem.Forbidden, "needs admin or admin_of")
	}
	return nil
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
