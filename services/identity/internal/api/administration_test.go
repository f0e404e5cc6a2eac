package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// none is the permissions of a user without any, as the API shows them.
var none = `{"` + strings.Join(principal.PermissionNames(), `":false,"`) + `":false}`

func TestAdministration_InvalidUsersComeBackWithTheirErrors(t *testing.T) {
	admin := system(t).Admin(t)
	p := newPerson(t, "can_api")
	invalid := func(name, email, errors string) string {
		return fmt.Sprintf(`{"id":null,"key":null,"name":%q,"email":%q,"kind":"staff","element_id":null,"active":true,`+
			`"permissions":%s,"valid":false,"errors":{%s}}`, name, email, none, errors)
	}
	of := func(field string, value any) map[string]any {
		return map[string]any{"name": "A", "email": "a@b.example", field: value}
	}
	for _, c := range []struct {
		name string
		user map[string]any
		want string
	}{
		{"nothing", map[string]any{}, invalid("", "", `"email":["can't be blank"],"name":["can't be blank"]`)},
		{"other types", map[string]any{"name": 5, "email": "a@b.example", "active": "perhaps",
			"permissions": map[string]any{"admin": 1}}, invalid("", "a@b.example", `"active":["is not true or false"],`+
			`"admin":["is not true or false"],"name":["is not a string"]`)},
		{"permissions no object", of("permissions", []string{"admin"}),
			invalid("A", "a@b.example", `"permissions":["is not an object"]`)},
		{"a short uuid", of("uuid", "short"), invalid("A", "a@b.example", `"uuid":["must have 16 to 255 characters"]`)},
		{"another's uuid", of("uuid", p.UUID), invalid("A", "a@b.example", `"uuid":["has already been taken"]`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			admin.Post(t, "/api/admin/users", map[string]any{"user": c.user}).Want(t, 422,
				`{"status":"Unprocessable entity","user":`+c.want+`}`)
		})
	}
	admin.Post(t, "/api/admin/users", map[string]any{}).Want(t, 400,
		`{"status":"Bad request","message":"user is missing"}`)
	a := admin.Patch(t, path(p, ""), map[string]any{"user": map[string]any{"email": "", "uuid": uuid.NewString()}})
	a.Want(t, 422, fmt.Sprintf(`{"status":"Unprocessable entity","user":{"id":%d,"key":null,"name":"Person","email":"","kind":"staff","element_id":null,"active":true,"permissions":%s,"valid":false,"errors":{"email":["can't be blank"],"uuid":["is renewed by POST to the user's uuid"]}}}`,
		p.ID, strings.Replace(none, `"can_api":false`, `"can_api":true`, 1)))
	login(t, system(t).Client(t), p.UUID).Want(t, 200, ok)
	valuetest.Has(t, admin.Get(t, path(p, "")).Body, p.Email, "the refused change was stored")
}

// TestAdministration_TheLastActiveAdministratorStays has a system of its own, whose administrators it knows.
func TestAdministration_TheLastActiveAdministratorStays(t *testing.T) {
	own := servicetest.Start(t, servicetest.Options{Services: []string{"identity"}, Replicas: 2})
	admin := own.Admin(t)
	// Either replica may have made the first administrator, with an id of its own.
	me := person{ID: admin.Get(t, "/sessions/1/whoami").Int(t, "user_id")}
	first := path(me, "")
	const last = `{"status":"Conflict","message":"the last active administrator can't be deactivated or lose admin"}`
	admin.Delete(t, first).Want(t, 409, last)
	admin.Patch(t, first, map[string]any{"user": map[string]any{"active": false}}).Want(t, 409, last)
	admin.Patch(t, first, map[string]any{"user": map[string]any{"permissions": map[string]any{"admin": false}}}).Want(t,
		409, last)
	admin.Patch(t, first, map[string]any{"user": map[string]any{"name": "Head"}}).WantCode(t, 200, "another change")

	// The two that there are now delete each other at once, again and again: one is always left.
	record := map[string]any{"key": "1", "name": "B", "email": "b@school.example", "uuid": uuid.NewString(),
		"admin": true}
	second := admin.Import(t, "users", record)["1"]
	both := []person{me, {ID: second}}
	uuids := []string{own.AdminUUID, record["uuid"].(string)}
	for round := range 10 {
		clients := []*servicetest.Client{own.Login(t, uuids[0]), own.Login(t, uuids[1])}
		codes := make([]int, 2)
		parallel(2, func(i int) {
			codes[i] = clients[i].Delete(t, path(both[1-i], "")).Code
		})
		left := -1
		for i := range clients {
			if clients[i].Get(t, "/api/admin/users").Code == 200 {
				left = i
			}
		}
		valuetest.MustHold(t, left >= 0 && codes[left] == 200, "round %d: codes %v, left %d", round, codes, left)
		changing(map[string]any{"active": true})(t, clients[left], both[1-left])
	}

	// An import cannot do it either, and its dry run says so.
	admin = own.Login(t, uuids[1])
	admin.Delete(t, first).Want(t, 200, ok)
	record["admin"] = false
	const dry = importPath + "?dry_run=true"
	for path, before := range map[string]string{importPath: "", dry: `"dry_run":true,`} {
		admin.ImportBatch(t, path, record).Want(t, 200, `{"status":"OK",`+before+
			`"created":0,"updated":0,"unchanged":0,"failed":1,"records":[{"index":0,"key":"1","result":"failed",`+
			`"errors":{"admin":["the last active administrator can't be deactivated or lose admin"]}}]}`)
	}

	// A restart makes no other one, although the first is inactive.
	own.Kill(t, "identity")
	own.Restart(t, "identity")
	login(t, own.Client(t), own.AdminUUID).Want(t, 401, accessDenied)
	admin = own.Login(t, uuids[1])
	a := admin.Get(t, "/api/admin/users")
	valuetest.Same(t, strings.Count(a.Body, `"id"`), 2, "users after a restart: %s", a.Body)

	// A new one in the same batch may follow the last.
	next := map[string]any{"key": "2", "name": "C", "email": "c@school.example", "admin": true,
		"uuid": uuid.NewString()}
	for _, path := range []string{dry, importPath} {
		valuetest.Has(t, admin.ImportBatch(t, path, record, next).Body, `"failed":0`, path)
	}

	// Whatever the order of the rows, the dry run tells what the import does: who becomes one comes first.
	rows := func(admins ...bool) (rows []map[string]any) {
		for i, is := range admins {
			key := []string{"1", "2"}[i]
			rows = append(rows, map[string]any{"key": key, "name": "B", "email": key + "@school.example", "admin": is})
		}
		return rows
	}
	for round, c := range []struct {
		by   any // the uuid of the administrator
		rows []map[string]any
		want string
	}{
		{next["uuid"], rows(true, false), "updated updated"},
		{record["uuid"], rows(false, true), "updated updated"},
		{next["uuid"], rows(true, true), "updated unchanged"},
		{next["uuid"], rows(false, false), "updated failed"}, // one of both stays
		{next["uuid"], []map[string]any{with(rows(true)[0], "name", ""), rows(true, false)[1]}, "failed failed"},
	} {
		admin = own.Login(t, c.by.(string))
		for _, path := range []string{dry, importPath} {
			var reply struct{ Records []struct{ Result string } }
			admin.ImportBatch(t, path, c.rows...).Must(t, 200).Decode(t, &reply)
			got := reply.Records[0].Result + " " + reply.Records[1].Result
			valuetest.Same(t, got, c.want, "round %d, %s", round, path)
		}
	}
}
