package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// TestElements_AUserCanBeAnElement runs the elements service beside.
func TestElements_AUserCanBeAnElement(t *testing.T) {
	both := servicetest.Start(t, servicetest.Options{Services: []string{"identity", "elements"}})
	admin := both.Admin(t)
	staff := admin.Import(t, "staff",
		map[string]any{"key": "17", "initials": "ABC", "forename": "Ann", "surname": "Bell", "current": true})["17"]
	record := map[string]any{"key": "1", "name": "Ann Bell", "email": "ann@school.example", "element": "Staff:17",
		"uuid": uuid.NewString(), "can_api": true}
	id := admin.Import(t, "users", record)["1"]
	user := fmt.Sprintf("/api/admin/users/%d", id)
	shows := func(want string) {
		t.Helper()
		if a := admin.Get(t, user); !strings.Contains(a.Body, want) {
			t.Errorf("%s lacks %s", a.Body, want)
		}
	}
	shows(fmt.Sprintf(`"element_id":%d,`, staff))

	missing := map[string]any{"key": "2", "name": "B", "email": "b@school.example", "element": "Staff:99"}
	admin.ImportBatch(t, importPath, missing).Want(t, 200,
		`{"status":"OK","created":0,"updated":0,"unchanged":0,"failed":1,"records":[{"index":0,"key":"2","result":"failed","errors":{"element":["must exist"]}}]}`)
	admin.ImportBatch(t, importPath+"?dry_run=true", missing).Want(t, 200,
		`{"status":"OK","created":1,"updated":0,"unchanged":0,"failed":0,"records":[{"index":0,"key":"2","result":"created"}]}`)

	admin.Patch(t, user, map[string]any{"user": map[string]any{"element_id": nil}})
	shows(`"element_id":null,`)
	admin.Patch(t, user, map[string]any{"user": map[string]any{"element_id": fmt.Sprint(staff)}})
	shows(fmt.Sprintf(`"element_id":%d,`, staff))
	a := admin.Patch(t, user, map[string]any{"user": map[string]any{"element_id": 999999}})
	if a.Code != 422 || !strings.Contains(a.Body, `"errors":{"element_id":["must exist"]}`) {
		t.Errorf("an unknown element: %d %s", a.Code, a.Body)
	}
	shows(fmt.Sprintf(`"element_id":%d,`, staff))

	// An administrator of an element is named by the key of the user: elements asks identity.
	admin.Import(t, "administrators", map[string]any{"key": "Staff:17/1", "element": "Staff:17", "user": "1"})

	both.Stop(t, "elements")
	admin.Patch(t, user, map[string]any{"user": map[string]any{"element_id": staff}}).Want(t, 503,
		`{"status":"Service unavailable","message":"elements is away"}`)
	admin.ImportBatch(t, importPath, with(record, "name", "Changed")).Want(t, 503,
		`{"status":"Service unavailable","message":"elements is away"}`)
	shows(`"name":"Ann Bell"`)
	login(t, both.Client(t), record["uuid"].(string)).Want(t, 200, ok)
}
