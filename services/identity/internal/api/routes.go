package api

import (
	"log/slog"
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
		web.At("GET /api/login", web.Anyone, h.login, web.Route{ActsOnGet: true}),
		web.At("POST /api/login", web.Anyone, h.loginByBody, web.Route{MaxBody: maxLogin}),
		web.At("GET /api/logout", web.Anyone, h.logout, web.Route{ActsOnGet: true}),
		web.At("GET /api/users", web.SignedIn, h.listByEmail),
		web.At("GET /api/me", web.SignedIn, h.me),
		web.At("GET /api/version", web.Anyone, h.showVersion),
		web.At("GET /.well-known/security.txt", web.Anyone, h.security.show),
		web.At("PUT /api/sessions/:session", web.SignedIn, h.switchUser, web.Route{ByToken: web.SessionOnly}),
		web.At("PATCH /api/sessions/:session", web.SignedIn, h.switchUser, web.Route{ByToken: web.SessionOnly}),
		web.At("PUT /api/sessions/:session/revert", web.SignedIn, h.revert, web.Route{ByToken: web.SessionOnly}),
		web.At("GET /api/sessions/:session/whoami", web.SignedIn, h.whoAmI),
		web.At("GET /sessions/:session/whoami", web.SignedIn, h.whoAmI),
		web.At("GET /api/me/tokens", web.SignedIn, h.listTokens),
		web.At("POST /api/me/tokens", web.SignedIn, h.createToken,
			web.Route{ByToken: web.SessionOnly, Repeatable: h.mayHaveTokenAgain, Secret: true}),
		web.At("DELETE /api/me/tokens/:token", web.SignedIn, h.endToken, web.Route{ByToken: web.Administers}),

		web.At("GET /api/admin/users", web.SchoolAdmin, h.list),
		web.At("POST /api/admin/users", web.SchoolAdmin, h.create,
			web.Route{Repeatable: h.mayHaveUUIDAgain, Secret: true}),
		web.At("GET /api/admin/users/:id", web.SchoolAdmin, web.WithID(h.get)),
		web.At("PATCH /api/admin/users/:id", web.SchoolAdmin, h.change),
		web.At("DELETE /api/admin/users/:id", web.SchoolAdmin, h.deactivate),
		web.At("POST /api/admin/users/:id/uuid", web.SchoolAdmin, web.WithID(h.renewUUID),
			web.Route{ByToken: web.SessionOnly, Repeatable: h.mayHaveUUIDAgain, Secret: true}),
		web.At("DELETE /api/admin/users/:id/sessions", web.SchoolAdmin, web.WithID(h.endSessions)),
		web.At("GET /api/admin/users/:id/tokens", web.SchoolAdmin, h.listTokens),
		web.At("POST /api/admin/users/:id/tokens", web.SchoolAdmin, h.createToken,
			web.Route{ByToken: web.SessionOnly, Repeatable: h.mayHaveTokenAgain, Secret: true}),
		web.At("DELETE /api/admin/users/:id/tokens/:token", web.SchoolAdmin, h.endToken),
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
