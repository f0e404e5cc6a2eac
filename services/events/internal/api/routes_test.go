package api

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/apidoctest"
	"github.com/belfry-schools/belfry/pkg/testing/routes"
)

func TestEveryPublicPathLiesInThisServicesRows(t *testing.T) {
	table, err := routes.Find()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range (handlers{}).public() {
		if owner, ok := table.Service(r.Path); !ok || owner != "events" {
			t.Errorf("%s is routed to %q", r.Path, owner)
		}
	}
}

func TestOpenAPI_ListsExactlyWhatIsServed(t *testing.T) {
	apidoctest.SameOperations(t, "events", (handlers{}).public())
}
