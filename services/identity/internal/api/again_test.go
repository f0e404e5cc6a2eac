package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// TestHardToBreak_Row07_WhoNoLongerAdministersItIsNotGivenItAgain: of the repeatable routes of identity and elements.
func TestHardToBreak_Row07_WhoNoLongerAdministersItIsNotGivenItAgain(t *testing.T) {
	both, admin := besideElements(t)
	school := admin.Import(t, "groups", map[string]any{"key": "north", "name": "North", "school": true})["north"]
	secret := uuid.NewString()
	admin.Import(t, "users", map[string]any{"key": "head", "name": "Head", "email": "head@school.example",
		"uuid": secret, "can_api": true, "admin_of": []string{"north"}})
	head := both.Login(t, secret)
	members := fmt.Sprintf("/api/admin/elements/%d/members", school)
	made := func() int64 {
		id := admin.Post(t, "/api/admin/elements", map[string]any{"element": map[string]any{"entity_type": "Group",
			"name": uuid.NewString()}}).Must(t, 201).Int(t, "element.id")
		join(t, admin, school, id)
		return id
	}
	user := func(element int64) map[string]any {
		return map[string]any{"user": map[string]any{"name": "Ann", "email": uuid.NewString() + "@school.example",
			"element_id": element, "permissions": map[string]any{"can_api": true}}}
	}
	for route, ask := range map[string]func() (path string, body any, element int64){
		"a user": func() (string, any, int64) {
			id := made()
			return "/api/admin/users", user(id), id
		},
		"a uuid": func() (string, any, int64) {
			id := made()
			ann := admin.Post(t, "/api/admin/users", user(id)).Must(t, 201).Int(t, "user.id")
			return fmt.Sprintf("/api/admin/users/%d/uuid", ann), nil, id
		},
		"an element": func() (string, any, int64) {
			return "/api/admin/elements", map[string]any{"element": map[string]any{"entity_type": "Group",
				"name": uuid.NewString()}}, 0
		},
		"members": func() (string, any, int64) {
			id := made()
			return fmt.Sprintf("/api/admin/elements/%d/members", id), map[string]any{"members": []any{
				map[string]any{"element_id": made()}}}, id
		},
	} {
		path, body, element := ask()
		key := uuid.NewString()
		first := head.Do(t, "POST", path, body, "Idempotency-Key", key).Must(t, 201)
		head.Do(t, "POST", path, body, "Idempotency-Key", key).Want(t, 201, first.Body)
		if element == 0 {
			element = first.Int(t, "element.id")
		}
		admin.Delete(t, fmt.Sprintf("%s/%d?from=1970-01-01", members, element)).Must(t, 200)
		a := head.Do(t, "POST", path, body, "Idempotency-Key", key)
		if a.Code != 409 || !strings.Contains(a.Body, "already done") {
			t.Errorf("%s: %d %s", route, a.Code, a.Body)
		}
	}
}
