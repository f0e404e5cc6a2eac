package hostile_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// furnish makes some records of each kind for the first requests.
func furnish(t *testing.T, k *known) {
	t.Helper()
	admin := system.Admin(t)
	learn := func(kind string, records ...map[string]any) {
		for _, id := range admin.Import(t, kind, records...) {
			k.ids[imported[kind]] = append(k.ids[imported[kind]], id)
		}
	}
	learn("staff", map[string]any{"key": "17", "initials": "SJP", "forename": "Simon", "surname": "Philpotts"})
	learn("pupils", map[string]any{"key": "3", "forename": "Kai", "surname": "Ash", "tutor_group": "9A"})
	learn("locations", map[string]any{"key": "1", "name": "Hall", "short_name": "H"})
	learn("properties", map[string]any{"key": "1", "name": "Calendar", "make_public": true})
	learn("services", map[string]any{"key": "1", "name": "Minibus 1"})
	learn("groups", map[string]any{"key": "9A", "name": "9A"},
		map[string]any{"key": "B", "name": "Minibuses", "resource": true})
	admin.Import(t, "memberships",
		map[string]any{"key": "Group:9A/Pupil:3", "group": "9A", "member": "Pupil:3", "spans": []any{map[string]any{}}},
		map[string]any{"key": "Group:B/Service:1", "group": "B", "member": "Service:1",
			"spans": []any{map[string]any{}}})
	learn("eventcategories", map[string]any{"key": "1", "name": "Fixture", "busy": true, "clash_check": true},
		map[string]any{"key": "2", "name": "Exam", "privileged": true})
	learn("events", map[string]any{"key": "1", "body": "Maths", "category": "1", "starts_at": "2019-04-10 09:00",
		"ends_at": "2019-04-10 10:00", "elements": []string{"Staff:17", "Group:9A", "Group:B", "Property:1"}})
}

// figures are the memory in KiB and the goroutines of a process.
type figures struct {
	resident, peak int
	goroutines     string
}

var goroutines = regexp.MustCompile(`(?m)^go_goroutines \d+$`)

// footprint returns the figures of each service.
func footprint(t *testing.T) map[string]figures {
	t.Helper()
	all := map[string]figures{}
	for _, service := range names.All() {
		resident, peak := system.Memory(t, service, 0)
		all[service] = figures{resident, peak, goroutines.FindString(system.Metrics(t, service, 0))}
	}
	return all
}

// TestMaker_ReachesEveryOperation checks that the maker can make each operation, and that most requests that are not
// spoilt are not refused as invalid.
func TestMaker_ReachesEveryOperation(t *testing.T) {
	d, err := readDocument([]byte(system.Client(t).Get(t, "/api/openapi.json").Must(t, http.StatusOK).Body))
	errortest.None(t, err)
	for _, o := range d.operations {
		for _, p := range o.parameters {
			if p["name"] == nil || p["in"] == nil {
				t.Errorf("%s: the parameter %v was not read", o, p)
			}
		}
		if o.body == nil && (o.method == http.MethodPut || o.method == http.MethodPatch) && !strings.HasSuffix(o.path,
			"revert") &&
			!strings.Contains(o.path, "/administrators/") {
			t.Errorf("%s: its body was not read", o)
		}
	}
}
