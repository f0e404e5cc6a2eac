package api

import (
	"log/slog"
	"net/http"
	"net/netip"
	"slices"

	"github.com/belfry-schools/belfry/pkg/apidoc"
	"github.com/belfry-schools/belfry/pkg/idempotency/answers"
	"github.com/belfry-schools/belfry/pkg/importer"
	"github.com/belfry-schools/belfry/pkg/journal/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/neighbour"
	"github.com/belfry-schools/belfry/pkg/session"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/web/catalogue"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// maxLogin bounds the body of a login. All connections of a listener with bodies of this size (1,536 of 4 KiB) hold
// less than requests without a session may (8 MiB), so stalled bodies block no login.
const maxLogin = 4 << 10

// handlers answer the requests.
type handlers struct {
	users    *user.Service
	sessions *session.Store
	cookies  web.Cookies
	trusted  []netip.Prefix
	audit    *auditlog.Log
	answers  *answers.Store
	zone     wiretime.Zone
	log      *slog.Logger
	security SecurityTxt

	providers providers
	texts     catalogue.Catalogue // of the pages of failed logins
}

// public are the routes for clients, and those of the documentation of all services.
func (h handlers) public() []web.Route {
	return slices.Concat(apidoc.Routes(), h.openidRoutes(), []web.Route{
		{Method: http.MethodGet, Path: "/api/login", Access: web.Anyone, ActsOnGet: true, Handler: h.login},
		{Method: http.MethodPost, Path: "/api/login", Access: web.Anyone, MaxBody: maxLogin, Handler: h.loginByBody},
		{Method: http.MethodGet, Path: "/api/logout", Access: web.Anyone, ActsOnGet: true, Handler: h.logout},
		{Method: http.MethodGet, Path: "/api/users", Access: web.SignedIn, Handler: h.listByEmail},
		{Method: http.MethodGet, Path: "/api/me", Access: web.SignedIn, Handler: h.me},
		{Method: http.MethodGet, Path: "/api/version", Access: web.Anyone, Handler: h.showVersion},
		{Method: http.MethodGet, Path: "/.well-known/security.txt", Access: web.Anyone, Handler: h.security.show},
		{
			Method: http.MethodPut, Path: "/api/sessions/:session",
			Access: web.SignedIn, ByToken: web.SessionOnly, Handler: h.switchUser,
		},
		{
			Method: http.MethodPatch, Path: "/api/sessions/:session",
			Access: web.SignedIn, ByToken: web.SessionOnly, Handler: h.switchUser,
		},
		{
			Method: http.MethodPut, Path: "/api/sessions/:session/revert",
			Access: web.SignedIn, ByToken: web.SessionOnly, Handler: h.revert,
		},
		{Method: http.MethodGet, Path: "/api/sessions/:session/whoami", Access: web.SignedIn, Handler: h.whoAmI},
		{Method: http.MethodGet, Path: "/sessions/:session/whoami", Access: web.SignedIn, Handler: h.whoAmI},
		{Method: http.MethodGet, Path: "/api/me/tokens", Access: web.SignedIn, Handler: h.listTokens},
		{
			Method: http.MethodPost, Path: "/api/me/tokens", Access: web.SignedIn, ByToken: web.SessionOnly,
			Repeatable: h.mayHaveTokenAgain, Secret: true, Handler: h.createToken,
		},
		{
			Method: http.MethodDelete, Path: "/api/me/tokens/:token", Access: web.SignedIn, ByToken: web.Administers,
			Handler: h.endToken,
		},

		{Method: http.MethodGet, Path: "/api/admin/users", Access: web.SchoolAdmin, Handler: h.list},
		{
			Method: http.MethodPost, Path: "/api/admin/users",
			Access: web.SchoolAdmin, Repeatable: h.mayHaveUUIDAgain, Secret: true,
			Handler: h.create,
		},
		{Method: http.MethodGet, Path: "/api/admin/users/:id", Access: web.SchoolAdmin, Handler: web.WithID(h.get)},
		{Method: http.MethodPatch, Path: "/api/admin/users/:id", Access: web.SchoolAdmin, Handler: h.change},
		{Method: http.MethodDelete, Path: "/api/admin/users/:id", Access: web.SchoolAdmin, Handler: h.deactivate},
		{
			Method: http.MethodPost, Path: "/api/admin/users/:id/uuid", Access: web.SchoolAdmin,
			ByToken: web.SessionOnly, Repeatable: h.mayHaveUUIDAgain, Secret: true, Handler: web.WithID(h.renewUUID),
		},
		{
			Method: http.MethodDelete, Path: "/api/admin/users/:id/sessions",
			Access: web.SchoolAdmin, Handler: web.WithID(h.endSessions),
		},
		{Method: http.MethodGet, Path: "/api/admin/users/:id/tokens", Access: web.SchoolAdmin, Handler: h.listTokens},
		{
			Method: http.MethodPost, Path: "/api/admin/users/:id/tokens", Access: web.SchoolAdmin,
			ByToken: web.SessionOnly, Repeatable: h.mayHaveTokenAgain, Secret: true, Handler: h.createToken,
		},
		{
			Method: http.MethodDelete, Path: "/api/admin/users/:id/tokens/:token",
			Access: web.SchoolAdmin, Handler: h.endToken,
		},
		importer.Route("users", web.SchoolAdmin, h.audit, h.importUsers),
		h.audit.Route("identity", h.zone, &auditlog.Own{Records: h.users.Administers}),
	})
}

// internal are the routes for the other services.
func (h handlers) internal() []web.Route {
	return []web.Route{
		web.Serve(neighbour.UserFacts, h.facts),
		web.Serve(neighbour.EraseUsers, h.erase),
		web.Serve(neighbour.OpenToken, h.answerToken),
	}
}
