package api

import (
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/settings"
	"github.com/belfry-schools/belfry/pkg/testing/apidoctest"
	"github.com/belfry-schools/belfry/pkg/testing/routes"
)

func TestEveryPublicPathIsInTheRouteTable(t *testing.T) {
	table, err := routes.Find()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range (&handlers{}).public() {
		if service, _ := table.Service(r.Path); service != "identity" {
			t.Errorf("%s goes to %q", r.Path, service)
		}
	}
	for _, r := range (&handlers{}).internal() {
		if _, found := table.Service(r.Path); found || !strings.HasPrefix(r.Path, "/internal/") {
			t.Errorf("%s can be reached from outside", r.Path)
		}
	}
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
		if got != want {
			t.Errorf("%d characters: got %q, want %q", len(value), got, want)
		}
	}
}

func TestOpenAPI_ListsExactlyWhatIsServed(t *testing.T) {
	apidoctest.SameOperations(t, "identity", (&handlers{}).public())
}
