package api_test

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

const importPath = "/api/admin/import/users"

// row is a record of users.csv with a key of its own.
func row(fields map[string]any) map[string]any {
	n := sequence.Add(1)
	record := map[string]any{"key": fmt.Sprint("row", n), "name": "Imported",
		"email": fmt.Sprintf("row%d@school.example", n), "uuid": uuid.NewString(), "can_api": true}
	maps.Copy(record, fields)
	return record
}

func with(record map[string]any, name string, value any) map[string]any {
	changed := maps.Clone(record)
	if changed[name] = value; value == nil {
		delete(changed, name)
	}
	return changed
}

func TestImport_AChangeByHandStaysUntilTheRowChanges(t *testing.T) {
	admin := system(t).Admin(t)
	record := row(map[string]any{"kind": "pupil"})
	key := record["key"].(string)
	p := person{ID: admin.Import(t, "users", record)[key]}
	login(t, system(t).Client(t), record["uuid"].(string)).Want(t, 200, ok)
	changing(map[string]any{"name": "By hand"})(t, admin, p)
	admin.Import(t, "users", record)
	for _, want := range []string{`"name":"By hand"`, `"key":"` + key + `"`, `"kind":"pupil"`} {
		valuetest.Has(t, admin.Get(t, path(p, "")).Body, want)
	}
	admin.Import(t, "users", with(record, "name", "By row"))
	valuetest.Has(t, admin.Get(t, path(p, "")).Body, `"name":"By row"`)
}

func TestImport_OneBadRecordFailsAlone(t *testing.T) {
	admin := system(t).Admin(t)
	taken := newPerson(t, "can_api")
	good, bad, stolen, first, twice := row(nil),
		row(map[string]any{"email": "nonsense", "name": "",
			"admin": "perhaps"}), row(map[string]any{"uuid": taken.UUID}), row(nil), row(nil)
	twice["uuid"] = first["uuid"]
	a := admin.ImportBatch(t, importPath, good, bad, stolen, first, twice)
	var reply struct {
		Created, Failed int
		Records         []struct {
			ID     int64
			Result string
			Errors map[string][]string
		}
	}
	a.Decode(t, &reply)
	valuetest.MustHold(t, reply.Created == 2 && reply.Failed == 3, a.Body)
	for i, want := range []string{"map[]",
		"map[admin:[is not true or false] email:[is not an e-mail address] name:[can't be blank]]", "map[uuid:[has " +
			"already been taken]]", "map[]", "map[uuid:[has already been taken]]"} {
		if got := fmt.Sprint(reply.Records[i].Errors); got != want || (reply.Records[i].ID == 0) != (want != "map[]") {
			t.Errorf("record %d: %s, id %d; want %s", i, got, reply.Records[i].ID, want)
		}
	}
	login(t, system(t).Client(t), good["uuid"].(string)).Want(t, 200, ok)
	login(t, system(t).Client(t), taken.UUID).Want(t, 200, ok)
}

func TestImport_ADryRunWritesNothing(t *testing.T) {
	admin := system(t).Admin(t)
	known := row(nil)
	id := admin.Import(t, "users", known)[known["key"].(string)]
	fresh, bad := row(nil), row(map[string]any{"name": ""})
	a := admin.ImportBatch(t, importPath+"?dry_run=true", with(known, "name", "Changed"), fresh, bad)
	a.Want(t, 200, fmt.Sprintf(`{"status":"OK","dry_run":true,"created":1,"updated":1,"unchanged":0,"failed":1,"records":[{"index":0,"key":%q,"result":"updated","id":%d},{"index":1,"key":%q,"result":"created"},{"index":2,"key":%q,"result":"failed","errors":{"name":["can't be blank"]}}]}`,
		known["key"], id, fresh["key"], bad["key"]))
	login(t, system(t).Client(t), fresh["uuid"].(string)).Want(t, 401, accessDenied)
	admin.ImportBatch(t, importPath, known).Want(t, 200,
		fmt.Sprintf(`{"status":"OK","created":0,"updated":0,"unchanged":1,"failed":0,"records":[{"index":0,"key":%q,"result":"unchanged","id":%d}]}`, known["key"], id))
}

func TestImport_ANewUUIDEndsTheOldOneAndItsSessions(t *testing.T) {
	admin := system(t).Admin(t)
	record := row(nil)
	admin.Import(t, "users", record)
	c := system(t).Login(t, record["uuid"].(string))
	admin.Import(t, "users", with(record, "uuid", nil)) // no uuid: it stays
	c.Get(t, "/sessions/1/whoami").WantCode(t, 200, "a row without uuid ended the session")
	changed := with(record, "uuid", uuid.NewString())
	admin.Import(t, "users", changed)
	c.Get(t, "/sessions/1/whoami").Want(t, 401, accessDenied)
	login(t, system(t).Client(t), record["uuid"].(string)).Want(t, 401, accessDenied)
	login(t, system(t).Client(t), changed["uuid"].(string)).Want(t, 200, ok)
}

func TestImport_PermissionsFollowTheRowAndItsSessions(t *testing.T) {
	admin := system(t).Admin(t)
	record := row(map[string]any{"can_su": true})
	id := admin.Import(t, "users", record)[record["key"].(string)]
	c := system(t).Login(t, record["uuid"].(string))
	c.Get(t, "/api/users").Want(t, 200, `{"status":"OK","users":[]}`)
	admin.Import(t, "users", with(record, "can_su", nil))
	c.Get(t, "/api/users").Want(t, 403, forbidden)

	// A user who was locked out by hand does not come back with a new name.
	admin.Delete(t, "/api/admin/users/"+strconv.FormatInt(id, 10)).Want(t, 200, ok)
	admin.Import(t, "users", with(record, "name", "Renamed"))
	login(t, system(t).Client(t), record["uuid"].(string)).Want(t, 401, accessDenied)
	admin.Import(t, "users", with(record, "active", true))
	login(t, system(t).Client(t), record["uuid"].(string)).Want(t, 200, ok)
}

func TestImport_AFullBatchIsQuickAndTwiceTheSame(t *testing.T) {
	admin := system(t).Admin(t)
	records := make([]map[string]any, 1000)
	for i := range records {
		records[i] = row(nil)
	}
	admin.Import(t, "users", records...)
	for i := range records {
		records[i]["kind"] = "guest"
	}
	if a := admin.ImportBatch(t, importPath, records...); !strings.HasPrefix(a.Body,
		`{"status":"OK","created":0,"updated":1000,"unchanged":0,"failed":0,`) {
		t.Errorf("%d %.200s", a.Code, a.Body)
	}
	if a := admin.ImportBatch(t, importPath, records...); !strings.HasPrefix(a.Body,
		`{"status":"OK","created":0,"updated":0,"unchanged":1000,"failed":0,`) {
		t.Errorf("%d %.200s", a.Code, a.Body)
	}
}

func TestImport_AUsersKeyHasABound(t *testing.T) {
	admin := system(t).Admin(t)
	const tooLong = `"errors":{"key":["is too long (maximum is 255 characters)"]}`
	for n, want := range map[int]string{255: `"created":1,`, 256: tooLong} {
		key := uuid.NewString() + strings.Repeat("ü", n-36)
		valuetest.Has(t, admin.ImportBatch(t, importPath, row(map[string]any{"key": key})).Body, want, "%d", n)
	}
}
