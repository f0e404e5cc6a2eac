package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/service"
	"github.com/belfry-schools/belfry/pkg/session"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/identity/internal/openid"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// providers are those at which users log in, in the order of the settings.
type providers struct {
	clients   []*openid.Client
	pending   *openid.Pending
	uuidLogin string // see openid.Settings
}

func newProviders(r *service.Runtime, s openid.Settings) (providers, error) {
	list, err := s.Providers()
	p := providers{pending: openid.NewPending(r.Redis, r.Keys), uuidLogin: s.UUIDLogin}
	for _, one := range list {
		p.clients = append(p.clients, openid.NewClient(one, s.PublicURL))
	}
	return p, err
}

// elsewhere is user.Options.Elsewhere.
func (p providers) elsewhere() func(email string) bool {
	if p.uuidLogin == openid.UUIDAll {
		return nil
	}
	return func(email string) bool {
		return slices.ContainsFunc(p.clients, func(c *openid.Client) bool { return c.AnswersFor(email) })
	}
}

// named returns the provider that the path names; nil when there is none.
func (p providers) named(c *fiber.Ctx) *openid.Client {
	return p.with(c.Params("provider"))
}

func (p providers) with(name string) *openid.Client {
	if i := slices.IndexFunc(p.clients, func(c *openid.Client) bool { return c.Name == name }); i >= 0 {
		return p.clients[i]
	}
	return nil
}

// openidRoutes are the routes of logins at providers. The callback is the one route to which a page from elsewhere may
// send a browser.
func (h handlers) openidRoutes() []web.Route {
	return []web.Route{
		web.At("GET /api/login/providers", web.Anyone, h.listProviders),
		web.At("GET /api/login/oidc/:provider", web.Anyone, h.beginAtProvider, web.Route{ActsOnGet: true}),
		{
			Method: http.MethodGet, Path: "/api/login/oidc/:provider/callback", Access: web.Anyone,
			// Providers add scope, which elsewhere is never ignored, and others.
			Reads: web.Reads{Query: "code state error error_description error_uri iss session_state scope authuser " +
				"hd prompt"},
			Handler: h.finishAtProvider,
		},
		web.At("POST /api/login/oidc/:provider/logout", web.Anyone, h.endFromProvider,
			web.Route{Body: fiber.MIMEApplicationForm, MaxBody: maxLogin}),
		web.At("GET /api/logout/oidc", web.Anyone, h.logoutAtProvider, web.Route{ActsOnGet: true}),
	}
}

// provider is a provider as clients see it.
type provider struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Login string `json:"login"` // path at which the login begins
}

func (h handlers) listProviders(c *fiber.Ctx) error {
	list := sequence.Map(h.providers.clients, func(one *openid.Client) provider {
		return provider{one.Name, one.Title, loginPath(one.Name)}
	})
	return web.OK(c, web.Field{Name: "providers", Value: list},
		web.Field{Name: "uuid_login", Value: h.providers.uuidLogin})
}

func loginPath(provider string) string { return "/api/login/oidc/" + provider }

// loginKey is the name of the cookie that binds the login with a state to its browser. Others may be under way there.
func (h handlers) loginKey(state string) string {
	name := "belfry_login_" + state[:min(len(state), 8)]
	if h.cookies.Secure {
		return "__Host-" + name
	}
	return name
}

// setLoginKey sends the cookie; an empty value removes it.
func (h handlers) setLoginKey(c *fiber.Ctx, state, value string) {
	age := int(openid.Life.Seconds())
	if value == "" {
		age = -1
	}
	c.Cookie(&fiber.Cookie{
		Name: h.loginKey(state), Value: value, Path: "/", MaxAge: age,
		Secure: h.cookies.Secure, HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode,
	})
}

// beginAtProvider sends the browser to the provider.
func (h handlers) beginAtProvider(c *fiber.Ctx) error {
	client := h.providers.named(c)
	if client == nil {
		return h.refuse(c, errNoProvider, "")
	}
	returning := c.Query("return", "/")
	if !ownPath(returning) {
		return h.refuse(c, errReturn, "")
	}
	address := web.ClientAddress(c, h.trusted)
	a, err := h.providers.pending.Begin(c.UserContext(), client.Name, returning, address)
	if err != nil {
		return h.refuse(c, problem.Wrap(problem.Unavailable, err, ""), returning)
	}
	to, err := client.Login(a)
	if err != nil {
		return h.refuse(c, err, returning)
	}
	h.setLoginKey(c, a.State, a.Key)
	return c.Redirect(to)
}

// maxReturn bounds the path to return to, in bytes.
const maxReturn = 1024

// ownPath says whether text is a path of this host, however a browser reads it, and neither logs in nor out.
func ownPath(text string) bool {
	unsafe := func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }
	u, err := url.Parse(text)
	return err == nil && len(text) <= maxReturn && strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//") &&
		u.Scheme == "" && u.Host == "" && !strings.ContainsFunc(text, unsafe) &&
		!strings.HasPrefix(strings.ToLower(path.Clean(u.Path)), "/api/log")
}

// finishAtProvider is where the provider sends the browser back to: it begins the session, and sends the browser to
// where it wanted to go.
func (h handlers) finishAtProvider(c *fiber.Ctx) error {
	client := h.providers.named(c)
	if client == nil {
		return h.refuse(c, errNoProvider, "")
	}
	if dest := c.Get("Sec-Fetch-Dest"); dest != "" && dest != "document" {
		return h.refuse(c, errEmbedded, "")
	}
	state := c.Query("state")
	key := c.Cookies(h.loginKey(state))
	if key != "" {
		h.setLoginKey(c, state, "")
	}
	a, err := h.finish(c, client, key)
	if err != nil {
		return h.refuse(c, err, a.Return)
	}
	return c.Redirect(a.Return)
}

func (h handlers) finish(c *fiber.Ctx, client *openid.Client, key string) (openid.Attempt, error) {
	ctx := c.UserContext()
	a, err := h.providers.pending.Take(ctx, c.Query("state"), key)
	switch {
	case err != nil && !errors.Is(err, openid.ErrState):
		return a, problem.Wrap(problem.Unavailable, err, "")
	case err == nil && a.Provider != client.Name:
		err = openid.ErrState
	}
	if err != nil {
		return a, err
	}
	switch c.Query("error") {
	case "":
	case "access_denied":
		return a, errCancelled
	case "temporarily_unavailable", "server_error":
		return a, openid.ErrAway
	default:
		return a, openid.ErrRefused
	}
	code := c.Query("code")
	if code == "" {
		return a, openid.ErrCode
	}
	who, err := client.Finish(ctx, a, code)
	if err != nil {
		return a, err
	}
	store := func(ctx context.Context, r session.Record, old session.Token) (session.Token, error) {
		r.From = who.From
		return h.sessions.Create(ctx, r, old)
	}
	return a, h.renew(c, store, func(ctx context.Context) (user.Actors, error) {
		u, err := h.users.SignIn(ctx, user.Visitor{Email: who.Email, Name: who.Name, Kind: who.Kind})
		return user.Actors{Effective: u}, err
	})
}

// endFromProvider answers a logout at the provider (OpenID Connect Back-Channel Logout 1.0): it ends the sessions that
// began from the one that has ended there.
func (h handlers) endFromProvider(c *fiber.Ctx) error {
	client := h.providers.named(c)
	if client == nil {
		return problem.New(problem.NotFound, "")
	}
	ctx, address := c.UserContext(), web.ClientAddress(c, h.trusted)
	token := string(c.Request().PostArgs().Peek("logout_token")) // not of the query, which proxies log
	logout, err := client.Ended(ctx, token)
	if errors.Is(err, openid.ErrAway) {
		return problem.Wrap(problem.Unavailable, err, "")
	}
	if err != nil {
		h.log.WarnContext(ctx, "a logout token is not valid", "provider", client.Name, "why", err.Error(),
			"request", web.RequestID(c))
		return h.users.CountFailure(ctx, address, problem.New(problem.Malformed, "logout_token is not valid"))
	}
	used, err := h.providers.pending.Used(ctx, logout)
	if err != nil {
		return problem.Wrap(problem.Unavailable, err, "")
	}
	if used {
		return web.OK(c)
	}
	for { // a switch may have replaced one meanwhile
		all, err := h.sessions.FindFrom(ctx, logout.From)
		if err != nil {
			return problem.Wrap(problem.Unavailable, err, "")
		}
		if len(all) == 0 {
			break
		}
		if err := h.endForGood(ctx, all...); err != nil {
			return err
		}
	}
	if err := h.providers.pending.Use(ctx, logout); err != nil {
		return problem.Wrap(problem.Unavailable, err, "")
	}
	return web.OK(c)
}

// logoutAtProvider is logout for browsers: it sends them on to the provider at which the session began, where that has
// an address for this, so that the session there ends too. Else it sends them to the address of Belfry itself.
func (h handlers) logoutAtProvider(c *fiber.Ctx) error {
	name, err := h.end(c)
	if err != nil {
		return h.refuse(c, err, "")
	}
	client := h.providers.with(name)
	if client == nil {
		return c.Redirect("/")
	}
	to, err := client.Logout()
	if err != nil {
		return h.refuse(c, errStillThere, "")
	}
	if to == "" {
		to = "/"
	}
	return c.Redirect(to)
}
