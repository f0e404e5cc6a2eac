package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestOnlyAnAdminSaysWhomAUserStandsFor: the pupils of a user are checked by the API and by an import, and an
// administrator of a school neither makes such a user nor gets to act as one.
func TestOnlyAnAdminSaysWhomAUserStandsFor(t *testing.T) {
	both, admin := besideElements(t)
	north := admin.Import(t, "groups", map[string]any{"key": "north", "name": "North", "school": true})["north"]
	pupils := admin.Import(t, "pupils", map[string]any{"key": "1", "forename": "Zoë", "surname": "Bell"},
		map[string]any{"key": "2", "forename": "Max", "surname": "Bell"})
	staff := admin.Import(t, "staff", map[string]any{"key": "17", "initials": "ABC", "forename": "Ann", "surname": "B"})
	join(t, admin, north, staff["17"])
	row := map[string]any{"key": "ann", "name": "Ann", "email": "ann@home.example", "kind": "pupil", "can_api": true}
	id := admin.Import(t, "users", with(row, "stands_for", []string{"2", "1", "2"}))["ann"]
	account := fmt.Sprintf("/api/admin/users/%d", id)
	shows := func(what string, want ...int64) {
		t.Helper()
		var reply struct {
			User struct {
				StandsFor []int64 `json:"stands_for"`
			}
		}
		admin.Get(t, account).Must(t, 200).Decode(t, &reply)
		valuetest.List(t, reply.User.StandsFor, want, what)
	}
	shows("imported", pupils["1"], pupils["2"])
	admin.Import(t, "users", with(row, "name", "Ann Bell"))
	shows("a row that says nothing of it", pupils["1"], pupils["2"])

	const none, noList = "must be pupils", "is not a list of at most 20 pupils"
	given := func(pupils any) map[string]any {
		return map[string]any{"user": map[string]any{"stands_for": pupils}}
	}
	for want, lists := range map[string][]any{
		none:   {[]int64{pupils["1"], 999999}, []int64{staff["17"]}, []any{"x"}, []int64{0}},
		noList: {"1", slices.Repeat([]int64{pupils["1"]}, 21), map[string]any{}},
	} {
		for _, list := range lists {
			if a := admin.Patch(t, account, given(list)); a.Code != 422 ||
				!strings.Contains(a.Body, `"errors":{"stands_for":["`+want+`"]}`) {
				t.Errorf("%v: %d %s", list, a.Code, a.Body)
			}
		}
	}
	for want, keys := range map[string]any{none: []string{"1", "3"}, noList: slices.Repeat([]string{"1"}, 21)} {
		a := admin.ImportBatch(t, importPath, with(row, "stands_for", keys)).Must(t, 200)
		valuetest.Has(t, a.Body, `"errors":{"stands_for":["`+want+`"]}`, "%v", keys)
	}
	shows("after what was at fault", pupils["1"], pupils["2"])
	if a := admin.ImportBatch(t, importPath+"?dry_run=true", with(row, "stands_for", []string{"3"})).
		Must(t, 200); a.Text(t, "records.0.result") != "updated" {
		t.Errorf("pupils of the same import come first: %s", a.Body)
	}

	// Ann is staff of the school as well now, whose administrator may not touch her account.
	admin.Patch(t, account, map[string]any{"user": map[string]any{"element_id": staff["17"]}}).Must(t, 200)
	head := map[string]any{"key": "head", "name": "Head", "email": "head@school.example", "uuid": uuid.NewString(),
		"can_api": true, "admin_of": []string{"north"}}
	admin.Import(t, "users", head)
	school := both.Login(t, head["uuid"].(string))
	school.Patch(t, account, map[string]any{"user": map[string]any{"name": "Mine"}}).WantCode(t, 403)
	school.Post(t, account+"/uuid", nil).WantCode(t, 403)
	school.Post(t, account+"/tokens", map[string]any{"token": map[string]any{"name": "x", "scope": "read",
		"end_date": "2099-01-01"}}).WantCode(t, 403)
	a := school.ImportBatch(t, importPath, with(with(row, "element", "Staff:17"), "stands_for", []string{}))
	valuetest.Has(t, a.Must(t, 200).Body, `"errors":{"stands_for":["needs the permission admin"]}`,
		"taken by an administrator of the school: %s", a.Body)
	admin.Patch(t, account, given(nil)).Must(t, 200)
	shows("null")
	school.Patch(t, account, given([]int64{pupils["1"]})).WantCode(t, 403)
	school.Patch(t, account, map[string]any{"user": map[string]any{"name": "Ours"}}).Must(t, 200)

	audit := strings.Join(admin.AuditTexts(t, "identity", fmt.Sprintf("record=User:%d", id)), "\n")
	valuetest.Has(t, audit, fmt.Sprintf("stands_for %d,%d →", pupils["1"], pupils["2"]), "the audit")
}
