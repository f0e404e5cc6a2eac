package api

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/testing/apidoctest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestEveryPublicPathLiesInTheServicesRows(t *testing.T) {
	h := &handlers{}
	servicetest.RoutedTo(t, "identity", h.public(), h.internal())
}

func TestAdministration_TheFirstAdministratorsUUIDIsChecked(t *testing.T) {
	for value, want := range map[string]string{
		"":                       "",
		"six-teen-letters":       "",
		"fifteen-letters":        "BOOTSTRAP_ADMIN_UUID: must have 16 to 255 characters",
		"with a space inside it": "BOOTSTRAP_ADMIN_UUID: must be printable ASCII without spaces",
	} {
		t.Setenv("BOOTSTRAP_ADMIN_UUID", value)
		got := ""
		if err := settings.Load(&Settings{}); err != nil {
			got = err.Error()
		}
		valuetest.Same(t, got, want, "%d characters", len(value))
	}
}

func TestOpenAPI_ListsExactlyWhatIsServed(t *testing.T) {
	apidoctest.SameOperations(t, "identity", (&handlers{}).public())
}
