package endtoend_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/testing/apidoctest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// untold are the writes that leave no entry in the audit, and why.
var untold = map[string]string{
	"GET /api/logout":                    "it ends one's own session; it must work without MongoDB",
	"POST /api/admin/webhooks/{id}/test": "it sends a notice that nothing has caused, and changes no record",
}

// filled returns the method and path of an operation, its variables filled in.
func filled(operation string, ids ...any) (method, path string) {
	method, path, _ = strings.Cut(operation, " ")
	for _, id := range ids {
		before, rest, _ := strings.Cut(path, "{")
		_, after, _ := strings.Cut(rest, "}")
		path = before + fmt.Sprint(id) + after
	}
	return method, path
}

// writing lists the operations of the document that write: those with a method that does, login and logout.
func writing(t *testing.T) []string {
	t.Helper()
	operations := []string{"GET /api/login", "GET /api/logout"}
	for operation := range apidoctest.Operations(t) {
		// test/openid sends the calls that go through a provider.
		if !strings.HasPrefix(operation, "GET ") && !strings.Contains(operation, "/oidc/") {
			operations = append(operations, operation)
		}
	}
	valuetest.MustHold(t, len(operations) >= 50, "the document has only %q", operations)
	return operations
}

// compareTold holds that the requests of each writing operation of the document have left an entry in the audit, but
// for those of untold. The document has exactly the operations that the services serve (apidoctest.SameOperations).
func (c *budgeted) compareTold(t *testing.T, requests map[string][]string) {
	t.Helper()
	told := map[string]bool{}
	for _, service := range names.WithData() {
		for _, line := range c.admin.Audit(t, service, "limit=1000") {
			told[line.Request] = true
		}
	}
	for _, operation := range writing(t) {
		valuetest.Holds(t, len(requests[operation]) != 0, "%s is not among the writes", operation)
		for _, request := range requests[operation] {
			valuetest.Same(t, told[request], untold[operation] == "", "%s leaves an entry in the audit", operation)
		}
		delete(requests, operation)
	}
	for operation := range requests {
		t.Errorf("%s is not in the document", operation)
	}
}

// awaitErasure waits until the erasure of an element is done.
func awaitErasure(t *testing.T, admin *servicetest.Client, element int64) {
	t.Helper()
	path := fmt.Sprintf("/api/admin/erasures/%d", element)
	for admin.Get(t, path).Must(t, http.StatusOK).Text(t, "erasure.state") != "done" {
		time.Sleep(100 * time.Millisecond)
	}
}
