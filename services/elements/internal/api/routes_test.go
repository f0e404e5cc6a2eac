package api

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/apidoctest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

func TestEveryPublicPathLiesInTheServicesRows(t *testing.T) {
	h := handlers{}
	servicetest.RoutedTo(t, "elements", h.public(), h.internal())
}

func TestOpenAPI_ListsExactlyWhatIsServed(t *testing.T) {
	apidoctest.SameOperations(t, "elements", (handlers{}).public())
}
