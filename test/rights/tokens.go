package rights

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/principal"
)

// The routes whose scope does not follow from method and path. Written by hand from the decisions.
var (
	ofOneElement     = []string{"GET /api/elements/{id}/commitments", "GET /api/elements/{id}/freebusy"}
	ofAdministration = []string{"PATCH /api/commitments/{id}", "POST /api/requests/{id}/allocations",
		"DELETE /api/me/tokens/{token}"}
	ofNoToken = []string{
		"POST /api/me/tokens", "POST /api/admin/users/{id}/tokens", "POST /api/admin/users/{id}/uuid",
		"POST /api/elements/{id}/feeds", "POST /api/elements/{id}/feeds/{feed}/address",
		"PUT /api/sessions/{session}", "PATCH /api/sessions/{session}", "PUT /api/sessions/{session}/revert",
	}
)

// MayByToken says whether a token with that scope may make the row's call, as far as its user may. A token for one
// element is for that of its user, "itself".
func (r Row) MayByToken(scope principal.TokenScope) bool {
	if r.Answers["none"].Code != 401 { // the call needs no session
		return true
	}
	least := principal.Book
	switch {
	case slices.Contains(ofNoToken, r.Route):
		return false
	case scope == principal.ReadElement:
		return slices.Contains(ofOneElement, r.Route) && r.Case == "itself"
	case strings.Contains(r.Route, " /api/admin/"), slices.Contains(ofAdministration, r.Route):
		least = principal.Administer
	case strings.HasPrefix(r.Route, "GET "):
		least = principal.Read
	}
	all := principal.TokenScopes()
	return slices.Index(all, scope) >= slices.Index(all, least)
}

// tokens is the page's part about tokens.
func tokens() string {
	var page strings.Builder
	page.WriteString("\n## Tokens for programs\n\nBy a token, the answers are those of its user on the routes of its " +
		"scope, and 403 on all others:\n\n| scope | routes |\n|---|---|\n")
	list := func(routes []string) string { return "`" + strings.Join(routes, "`, `") + "`" }
	fmt.Fprintf(&page, "| `%s` | of its element: %s |\n", principal.ReadElement, list(ofOneElement))
	fmt.Fprintf(&page, "| `%s` | every GET that is not below `/api/admin/` |\n", principal.Read)
	fmt.Fprintf(&page, "| `%s` | all but those below `/api/admin/` and %s |\n", principal.Book, list(ofAdministration))
	fmt.Fprintf(&page, "| `%s` | all |\n| by no token | %s |\n", principal.Administer, list(ofNoToken))
	return page.String()
}
