package servicetest

import (
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/web"
)

// RoutedTo fails the test where the table of public paths sends a public route elsewhere than to the service, with
// .json after it too where a client may write that, or has a row for an internal one, which then could be reached from
// outside; the row of the console is for all paths, and the console has none of them.
func RoutedTo(t *testing.T, service string, public, internal []web.Route) {
	t.Helper()
	table, err := checkout.Routes()
	errortest.None(t, err)
	for _, r := range public {
		if found, _ := table.Service(r.Path); found != service {
			t.Errorf("%s %s goes to %q", r.Method, r.Path, found)
		}
		path := r.Path + ".json"
		if found, _ := table.Service(path); found != service && web.WithoutSuffix(path) != path {
			t.Errorf("%s %s goes to %q", r.Method, path, found)
		}
	}
	for _, r := range internal {
		if found, _ := table.Service(r.Path); found != names.Console || !strings.HasPrefix(r.Path, "/internal/") {
			t.Errorf("%s %s can be reached from outside", r.Method, r.Path)
		}
	}
}
