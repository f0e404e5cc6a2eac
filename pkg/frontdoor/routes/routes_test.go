package routes_test

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/frontdoor/routes"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestTable_TheLongestPrefixThatEndsAtASegmentWins(t *testing.T) {
	table, err := checkout.Routes()
	errortest.None(t, err)
	for path, want := range map[string]string{
		"/api/login": "identity", "/sessions/1/whoami": "identity", "/api/elements/5/commitments": "elements",
		"/api/events/5/notes": "events",
		"/api/commitments/5":  "events", "/notes/5": "notes", "/api/admin/import/users": "identity",
		"/api/admin/import/events": "events",
		"/api/elementsx":           "identity", "/api": "identity", "/": "console", "/internal/users": "console",
		"/api/Login": "identity", "/apis": "console", "/week/5": "console",
	} {
		got, found := table.Service(path)
		valuetest.Holds(t, got == want && found == (want != ""), "%s goes to %q, want %q", path, got, want)
	}
}

func TestParse_RefusesWhatNoIngressExpresses(t *testing.T) {
	for _, text := range []string{
		"routes: [{prefix: api, service: a}]", "routes: [{prefix: /api/, service: a}]",
		"routes: [{prefix: //, service: a}]",
		"routes: [{prefix: /a, service: ''}]",
		"routes: [{prefix: /a, service: b}, {prefix: /a, service: c}]",
		"routes: [{prefix: /a, service: b, regex: true}]", "routes: 5",
	} {
		table, err := routes.Parse([]byte(text))
		errortest.Some(t, err, "%s passes as %v", text, table)
	}
}

func TestAddresses_TheSettingNamesPrefixesAndAddresses(t *testing.T) {
	var r routes.Addresses
	errortest.None(t, r.UnmarshalText([]byte("/=http://door:8080, /api/events=https://events")))
	for path, want := range map[string]string{
		"/api/events/5": "https://events", "/api/eventcategories": "http://door:8080",
		"/sessions/1": "http://door:8080",
	} {
		got, _ := r.Service(path)
		valuetest.Same(t, got, want, path)
	}
	for _, text := range []string{"", "/", "x=http://a", "/=ftp://a", "/=a", "/=http://"} {
		errortest.Some(t, new(routes.Addresses).UnmarshalText([]byte(text)), "%q passes", text)
	}
}
