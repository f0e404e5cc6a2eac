package conformance_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/test/rights"
)

// aToken is the body of a creation.
var aToken = object{"token": object{"name": "A program", "scope": "read"}}

// makeToken makes a token and ends it again, so that there is room for the next.
func makeToken(x *scene) servicetest.Answer {
	made := x.client.Post(x.t, "/api/me/tokens", aToken)
	if made.Code == http.StatusCreated {
		x.client.Delete(x.t, fmt.Sprint("/api/me/tokens/", made.Int(x.t, "token.id"))).Must(x.t, http.StatusOK)
	}
	return made
}

// endToken ends a token that an admin has made; for a client that is not signed in, none.
func endToken(x *scene) servicetest.Answer {
	if x.row.Answers[x.who.kind].Code == http.StatusUnauthorized {
		return x.client.Delete(x.t, fmt.Sprint("/api/me/tokens/", nowhere))
	}
	made := x.school.Admin().Post(x.t, account(x.who.id)+"/tokens", aToken).Must(x.t, http.StatusCreated)
	path := fmt.Sprint("/tokens/", made.Int(x.t, "token.id"))
	a := x.client.Delete(x.t, "/api/me"+path)
	if a.Code != http.StatusOK {
		x.school.Admin().Delete(x.t, account(x.who.id)+path).Must(x.t, http.StatusOK)
	}
	return a
}

// TestTokens_EveryRouteAnswersEveryScopeAsTheTableSays makes every call of the table by tokens of an admin: one whose
// scope has the route gets what its user gets, any other gets 403, which changes nothing.
func TestTokens_EveryRouteAnswersEveryScopeAsTheTableSays(t *testing.T) {
	proves(t, "clients tokens scopes: a token does what its scope has and its user may; any other call is 403")
	rows, err := rights.Table()
	errortest.None(t, err)
	c := school.cast(t)
	calls, admin := c.calls(), c.actors["admin"]
	for _, scope := range principal.TokenScopes() {
		fields := object{"name": string(scope), "scope": scope}
		if scope == principal.ReadElement {
			fields["element_id"] = admin.element.ID
		}
		session := c.signIn(t, admin)
		made := session.Post(t, "/api/me/tokens", object{"token": fields}).Must(t, http.StatusCreated)
		admin.client = session.ByToken(made.Text(t, "token.token"))
		for _, row := range rows {
			ownFeed := row.Case == "its own" && strings.Contains(row.Route, "/feeds")
			if strings.HasSuffix(row.Route, " /api/login") || ownFeed {
				continue // a login reads no token, and a token makes no feed to show
			}
			row.Answers = maps.Clone(row.Answers)
			if !row.MayByToken(scope) {
				row.Answers["admin"] = rights.Answer{Code: http.StatusForbidden}
			}
			call := calls[row.Name()]
			call.signsIn = false // the token takes the place of any session
			c.ask(t, row, "admin", call)
		}
	}
}
