package api

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/apidoctest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

func TestEveryPublicPathLiesInTheServicesRows(t *testing.T) {
	h := handlers{}
	servicetest.RoutedTo(t, "notes", h.public(), h.internal())
}

func TestOpenAPI_ListsExactlyWhatIsServed(t *testing.T) {
	apidoctest.SameOperations(t, "notes", (handlers{}).public())
}
