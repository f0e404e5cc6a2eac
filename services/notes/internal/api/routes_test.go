package api

import (
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/apidoctest"
	"github.com/belfry-schools/belfry/pkg/testing/routes"
)

func TestPublicPathsLieInTheRowsOfTheRouteTable(t *testing.T) {
	table, err := routes.Find()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range (handlers{}).public() {
		if service, _ := table.Service(r.Path); service != "notes" {
			t.Errorf("%s %s is routed to %q", r.Method, r.Path, service)
		}
	}
	for _, r := range (handlers{}).internal() {
		if service, routed := table.Service(r.Path); routed || !strings.HasPrefix(r.Path, "/internal/") {
			t.Errorf("%s %s is routed to %q", r.Method, r.Path, service)
		}
	}
}

func TestOpenAPI_ListsExactlyWhatIsServed(t *testing.T) {
	apidoctest.SameOperations(t, "notes", (handlers{}).public())
}
