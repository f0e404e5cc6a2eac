package api

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/apidoctest"
	"github.com/belfry-schools/belfry/pkg/testing/routes"
)

func TestPublicPathsAreInTheServicesRows(t *testing.T) {
	table, err := routes.Find()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range (handlers{}).public() {
		if service, ok := table.Service(r.Path); !ok || service != "elements" {
			t.Errorf("%s %s goes to %q", r.Method, r.Path, service)
		}
	}
}

func TestOpenAPI_ListsExactlyWhatIsServed(t *testing.T) {
	apidoctest.SameOperations(t, "elements", (handlers{}).public())
}
