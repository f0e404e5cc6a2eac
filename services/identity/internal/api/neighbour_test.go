package api_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// besideElements starts identity with the elements service beside.
func besideElements(t *testing.T) (both *servicetest.System, admin *servicetest.Client) {
	t.Helper()
	both = servicetest.Start(t, servicetest.Options{Services: []string{"identity", "elements"}})
	return both, both.Admin(t)
}

// join makes an element a member of a group.
func join(t *testing.T, admin *servicetest.Client, group, element int64) {
	t.Helper()
	admin.Post(t, fmt.Sprintf("/api/admin/elements/%d/members", group),
		map[string]any{"members": []any{map[string]any{"element_id": element}}}).Must(t, 201)
}

// TestAdministration_AnImportSaysWhoAdministersSchools runs the elements service beside: who administers which schools
// comes with an import, and ends with one in the sessions that are there.
func TestAdministration_AnImportSaysWhoAdministersSchools(t *testing.T) {
	both, admin := besideElements(t)
	schools := admin.Import(t, "groups", map[string]any{"key": "north", "name": "North", "school": true},
		map[string]any{"key": "south", "name": "South", "school": true},
		map[string]any{"key": "old", "name": "Old", "school": true, "current": false},
		map[string]any{"key": "9A", "name": "9A"})
	north, south := schools["north"], schools["south"]
	head := map[string]any{"key": "head", "name": "Head", "email": "head@school.example", "uuid": uuid.NewString(),
		"can_api": true}
	id := admin.Import(t, "users", head)["head"]
	administers := func(what string, want ...int64) {
		t.Helper()
		var reply struct {
			User struct {
				AdminOf []int64 `json:"admin_of"`
			}
		}
		admin.Get(t, fmt.Sprintf("/api/admin/users/%d", id)).Must(t, 200).Decode(t, &reply)
		valuetest.List(t, reply.User.AdminOf, want, what)
	}
	imported := func(want string, record map[string]any, query ...string) {
		t.Helper()
		a := admin.ImportBatch(t, importPath+strings.Join(query, ""), record).Must(t, 200)
		valuetest.Same(t, a.Text(t, "records.0.result"), want, "%v: %s", record, a.Body)
	}
	fails := func(want string, schools any) {
		t.Helper()
		a := admin.ImportBatch(t, importPath, with(with(head, "name", "Renamed"), "admin_of", schools)).Must(t, 200)
		if !strings.HasSuffix(a.Body, `"result":"failed","errors":{"admin_of":["`+want+`"]}}]}`) {
			t.Errorf("%v: %s", schools, a.Body)
		}
	}
	var client *servicetest.Client
	sees := func(what string, code int) {
		t.Helper()
		client.Get(t, fmt.Sprintf("/api/admin/elements/%d", north)).WantCode(t, code, what)
	}
	client = both.Login(t, head["uuid"].(string))
	sees("no one", 403)

	of := func(schools ...string) map[string]any { return with(head, "admin_of", append([]string{}, schools...)) }
	imported("updated", of("north", "south", "north"), "?dry_run=true")
	administers("a dry run")
	imported("updated", of("south", "north", "south"))
	administers("both, one of them twice", north, south)
	sees("a session from before", 200)
	imported("unchanged", of("south", "north", "south"))
	administers("the same again", north, south)

	const none, noList = "must be schools", "is not a list of at most 100 schools"
	fails(none, []string{"north", "nowhere"})
	fails(none, []string{"9A"})
	fails(none, []string{"old"})
	fails(none, []string{"Group:north"})
	fails(none, []string{""})
	fails(noList, "north")
	fails(noList, []any{1})
	fails(noList, slices.Repeat([]string{"north"}, 101))
	administers("after what was at fault", north, south)
	if a := admin.Get(t, fmt.Sprintf("/api/admin/users/%d", id)); a.Text(t, "user.name") != "Head" {
		t.Errorf("a row at fault was written: %s", a.Body)
	}
	imported("updated", of("nowhere", "north"), "?dry_run=true") // the groups of the same import come first

	imported("updated", with(head, "name", "Renamed"))
	administers("a row that says nothing of it", north, south)
	sees("still", 200)
	imported("updated", of("south"))
	administers("another school", south)
	sees("the other school's", 403)
	imported("updated", of("north"))
	sees("again", 200)
	imported("updated", of())
	administers("an empty list")
	sees("a session that had the right", 403)
	client.Get(t, "/sessions/1/whoami").Must(t, 200)
	imported("updated", of("north"))
	imported("updated", map[string]any{"key": "head", "name": "Head", "email": "head@school.example", "can_api": true,
		"admin_of": nil})
	administers("null")

	// A school that is retired stays in the rows that were there before, and in no other.
	imported("updated", of("south", "north"))
	admin.Import(t, "groups", map[string]any{"key": "south", "name": "South", "school": true, "current": false})
	imported("unchanged", of("south", "north"))
	fails(none, []string{"south", "north"})
	administers("of which one is retired", north, south)

	// The same row twice in a batch is refused with all of the batch.
	admin.ImportBatch(t, importPath, of("north"), of("north")).Must(t, 400)
	administers("after a row that came twice", north, south)

	record := fmt.Sprintf("User:%d", id)
	ids := func(ids ...int64) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ","), "[]") }
	want := []string{
		"update " + record + ": admin_of → " + ids(north, south),
		"update " + record + ": admin_of " + ids(north) + " →",
		"update " + record + ": admin_of → " + ids(north),
		"update " + record + ": admin_of " + ids(north) + " →",
		"update " + record + ": admin_of " + ids(south) + " → " + ids(north),
		"update " + record + ": admin_of " + ids(north, south) + " → " + ids(south),
		"update " + record + ": admin_of → " + ids(north, south),
		"login " + record,
		"create " + record + ": kind → staff, active → true, permissions → can_api, uuid →",
	}
	valuetest.Equal(t, want, admin.AuditTexts(t, "identity", "record="+record))

	// An administrator of a school gives and takes no such right, in a dry run neither.
	staff := admin.Import(t, "staff", map[string]any{"key": "17", "initials": "ABC", "forename": "Ann", "surname": "B"})
	join(t, admin, north, staff["17"])
	client = both.Login(t, head["uuid"].(string))
	colleague := map[string]any{"key": "ann", "name": "Ann", "email": "ann@school.example", "element": "Staff:17",
		"can_api": true}
	for _, query := range []string{"?dry_run=true", ""} {
		for _, schools := range []string{"north", "nowhere"} {
			a := client.ImportBatch(t, importPath+query, with(colleague, "admin_of", []string{schools})).Must(t, 200)
			if !strings.HasSuffix(a.Body, `"errors":{"admin_of":["needs the permission admin"]}}]}`) {
				t.Errorf("%s%s: %s", schools, query, a.Body)
			}
		}
	}
	client.ImportBatch(t, importPath, with(colleague, "admin_of", []string{})).Must(t, 200)
	admin.Import(t, "users", with(colleague, "admin_of", []string{"north"}))
	a := client.ImportBatch(t, importPath, with(colleague, "admin_of", []string{})).Must(t, 200)
	if !strings.HasSuffix(a.Body, `"errors":{"admin_of":["needs the permission admin"]}}]}`) {
		t.Errorf("taken by an administrator of the school: %s", a.Body)
	}

	both.Stop(t, "elements")
	admin.ImportBatch(t, importPath, of("north")).Want(t, 503,
		`{"status":"Service unavailable","message":"elements is away"}`)
}

// TestAdministration_WhoRenewsAUUIDOrAnAddressGetsNoSayInElements: a teacher of the school administers an element as
// well. Who administers the school acts as the teacher only where that gives it nothing that is not its own. By the
// address a provider logs the teacher in.
func TestAdministration_WhoRenewsAUUIDOrAnAddressGetsNoSayInElements(t *testing.T) {
	both, admin := besideElements(t)
	school := admin.Import(t, "groups", map[string]any{"key": "north", "name": "North", "school": true})["north"]
	staff := admin.Import(t, "staff", map[string]any{"key": "17", "initials": "ABC", "forename": "Ann", "surname": "B"})
	buses := admin.Import(t, "properties", map[string]any{"key": "buses", "name": "Minibuses"})["buses"]
	head := row(map[string]any{"admin_of": []string{"north"}})
	ann := map[string]any{"key": "ann", "name": "Ann", "email": "ann@school.example", "element": "Staff:17",
		"uuid": uuid.NewString(), "can_api": true}
	id := admin.Import(t, "users", head, ann)["ann"]
	belongs := func(element int64) {
		t.Helper()
		join(t, admin, school, element)
	}
	belongs(staff["17"])
	client := both.Login(t, head["uuid"].(string))
	renews := func(what string, code int) {
		t.Helper()
		client.Post(t, fmt.Sprintf("/api/admin/users/%d/uuid", id), nil).WantCode(t, code, what)
	}
	imports := func(what, want string, record map[string]any) {
		t.Helper()
		for _, query := range []string{"?dry_run=true", ""} {
			a := client.ImportBatch(t, importPath+query, record).Must(t, 200)
			valuetest.Has(t, a.Body, want, "%s%s", what, query)
		}
	}
	const refused = `"errors":{%q:[` +
		`"belongs to a person who is in another school too, or has rights or elements that are not yours"]}`
	moves := func(what, email string, code int) {
		t.Helper()
		user := map[string]any{"user": map[string]any{"email": email}}
		client.Patch(t, fmt.Sprintf("/api/admin/users/%d", id), user).WantCode(t, code, what)
	}
	keeper := fmt.Sprintf("/api/admin/elements/%d/administrators/%d", buses, id)
	admin.Put(t, keeper, nil).Must(t, 200)
	renews("an administrator of the district's buses", 403)
	moves("the address of an administrator of the district's buses", "head+ann@school.example", 403)
	moves("her address as it is", "ann@school.example", 200)
	imports("another uuid", fmt.Sprintf(refused, "uuid"), with(ann, "uuid", uuid.NewString()))
	imports("another address", fmt.Sprintf(refused, "email"), with(ann, "email", "head+ann@school.example"))
	imports("her uuid as it is", `"result":"updated"`, with(ann, "name", "Ann B"))
	imports("no uuid", `"result":"updated"`, with(with(ann, "name", "Ann C"), "uuid", nil))
	login(t, both.Client(t), ann["uuid"].(string)).Want(t, 200, ok)

	belongs(buses)
	renews("an administrator of the school's buses", 201)
	another := with(ann, "uuid", uuid.NewString())
	imports("another uuid, the school's buses", `"result":"updated"`, another)
	moves("the address of an administrator of the school's buses", "ann.b@school.example", 200)
	imports("another address, the school's buses", `"result":"updated"`, with(another, "email", "ann.c@school.example"))
	login(t, both.Client(t), another["uuid"].(string)).Want(t, 200, ok)

	both.Stop(t, "elements")
	renews("elements is away", 503)
	moves("elements is away", "ann.d@school.example", 503)
	admin.Post(t, fmt.Sprintf("/api/admin/users/%d/uuid", id), nil).Must(t, 201)
}

// An administrator of one school made a user for any person in it, and read as that person what only the other school,
// or an admin, may.
func TestAdministration_APersonOfTwoSchoolsGetsNoUserFromOne(t *testing.T) {
	both, admin := besideElements(t)
	groups := admin.Import(t, "groups", map[string]any{"key": "north", "name": "North", "school": true},
		map[string]any{"key": "south", "name": "South", "school": true},
		map[string]any{"key": "infants", "name": "Infants", "school": true})
	staff := map[string]int64{}
	for _, key := range []string{"plain", "both", "chief", "infant"} {
		staff[key] = admin.Import(t, "staff", map[string]any{"key": key, "initials": "ABC", "forename": "Ann",
			"surname": key})[key]
	}
	belongs := func(group string, elements ...int64) {
		t.Helper()
		for _, id := range elements {
			admin.Post(t, fmt.Sprintf("/api/admin/elements/%d/members", groups[group]),
				map[string]any{"members": []any{map[string]any{"element_id": id}}}).Must(t, 201)
		}
	}
	belongs("north", staff["plain"], staff["both"], staff["chief"], groups["infants"])
	belongs("south", staff["both"])
	belongs("infants", staff["infant"])
	user := func(key, element string, fields map[string]any) map[string]any {
		u := map[string]any{"key": key, "name": "Ann " + key, "email": key + "@school.example", "can_api": true}
		if element != "" {
			u["element"] = "Staff:" + element
		}
		maps.Copy(u, fields)
		return u
	}
	secret := func() string { return uuid.NewString() }
	heads := map[string]map[string]any{
		"north":   user("north", "", map[string]any{"uuid": secret(), "admin_of": []string{"north"}}),
		"both":    user("district", "", map[string]any{"uuid": secret(), "admin_of": []string{"north", "south"}}),
		"infants": user("infants", "", map[string]any{"uuid": secret(), "admin_of": []string{"infants"}}),
	}
	teacher, chief := user("teacher", "both", nil), user("chief", "chief", map[string]any{"can_su": true})
	users := admin.Import(t, "users", heads["north"], heads["both"], heads["infants"], teacher, chief,
		user("plain", "plain", nil), user("second", "chief", nil))
	made := 0
	for _, c := range []struct {
		head, element string
		may           bool
	}{
		{"north", "plain", true}, {"north", "both", false}, {"north", "chief", false}, {"north", "infant", true},
		{"both", "both", true}, {"both", "chief", false}, {"infants", "infant", true},
	} {
		client, what := both.Login(t, heads[c.head]["uuid"].(string)), fmt.Sprintf("%s, %s", c.head, c.element)
		made++
		name := fmt.Sprint("new", made)
		fields := map[string]any{"name": name, "email": name + "@school.example", "element_id": staff[c.element]}
		codes := map[string]int{"create": 403, "link": 403}
		result := `"errors":{"element":["belongs to a person who is in another school too, `
		if c.may {
			codes, result = map[string]int{"create": 201, "link": 200}, `"result":"created"`
		}
		client.Post(t, "/api/admin/users?dry_run=true", map[string]any{"user": fields}).
			WantCode(t, codes["create"], what)
		for _, query := range []string{"?dry_run=true", ""} {
			a := client.ImportBatch(t, importPath+query, user(name, c.element, nil)).Must(t, 200)
			valuetest.Has(t, a.Body, result, "%s%s", what, query)
		}
		if c.head == "infants" {
			continue // the user below is not of that school
		}
		path := fmt.Sprintf("/api/admin/users/%d?dry_run=true", users["plain"])
		client.Patch(t, path, map[string]any{"user": map[string]any{"element_id": staff[c.element]}}).WantCode(t,
			codes["link"], what)
	}

	// Nor does it take over the user that such a person has, by its uuid, its address or a person of its own.
	for head, code := range map[string]int{"north": 403, "both": 200} {
		client, of := both.Login(t, heads[head]["uuid"].(string)), fmt.Sprintf("/api/admin/users/%d", users["teacher"])
		for _, fields := range []map[string]any{{"email": "x@school.example"}, {"element_id": staff["plain"]}} {
			client.Patch(t, of+"?dry_run=true", map[string]any{"user": fields}).
				WantCode(t, code, "%s: %v", head, fields)
		}
		client.Patch(t, of, map[string]any{"user": map[string]any{"name": "Ann", "email": "teacher@school.example",
			"element_id": staff["both"]}}).WantCode(t, 200, "%s: her address and element as they are", head)
		for field, row := range map[string]map[string]any{
			"uuid": with(teacher, "uuid", secret()), "email": with(teacher, "email", "x@school.example"),
			"element": with(teacher, "element", "Staff:plain"),
		} {
			want := `"result":"updated"`
			if code == 403 {
				want = fmt.Sprintf(`"errors":{%q:["belongs to a person who is in another school too, `, field)
			}
			a := client.ImportBatch(t, importPath+"?dry_run=true", row).Must(t, 200)
			valuetest.Has(t, a.Body, want, "%s: %s", head, field)
		}
		client.Post(t, of+"/tokens?dry_run=true", wrappedToken("name", "x", "scope", "read")).WantCode(t,
			map[int]int{403: 403, 200: 201}[code], head)
	}
	// Nor a plain user of a person who has another that it may not take over.
	for _, head := range []string{"north", "both"} {
		client, of := both.Login(t, heads[head]["uuid"].(string)), fmt.Sprintf("/api/admin/users/%d", users["second"])
		client.Post(t, of+"/uuid", nil).WantCode(t, 403)
		client.Patch(t, of, map[string]any{"user": map[string]any{"email": "x@school.example"}}).WantCode(t, 403)
	}
	both.Login(t, heads["north"]["uuid"].(string)).Post(t, fmt.Sprintf("/api/admin/users/%d/uuid", users["teacher"]),
		nil).WantCode(t, 403)
	both.Login(t, heads["both"]["uuid"].(string)).Post(t, fmt.Sprintf("/api/admin/users/%d/uuid", users["teacher"]),
		nil).WantCode(t, 201)
}

// TestErasure_TheUserOfAnErasedPersonStaysErased: it could be made active again, and given a uuid.
func TestErasure_TheUserOfAnErasedPersonStaysErased(t *testing.T) {
	_, admin := besideElements(t)
	pupil := admin.Import(t, "pupils", map[string]any{"key": "17", "forename": "Ann", "surname": "Bell"})["17"]
	ann := map[string]any{"key": "ann", "name": "Ann Bell", "email": "ann@school.example", "element": "Pupil:17"}
	user := fmt.Sprintf("/api/admin/users/%d", admin.Import(t, "users", ann)["ann"])
	admin.Post(t, "/api/admin/erasures", map[string]any{"erasure": map[string]any{"element_id": pupil}}).Must(t, 201)
	var erased servicetest.Answer
	timetest.Eventually(t, "the user is erased", time.Minute, func() bool {
		erased = admin.Get(t, user).Must(t, 200)
		return !strings.Contains(erased.Body, "Ann")
	})
	admin.Patch(t, user, map[string]any{"user": map[string]any{"active": true,
		"permissions": map[string]any{"can_api": true}}}).WantCode(t, 409)
	admin.Post(t, user+"/uuid", nil).WantCode(t, 409)
	admin.Post(t, user+"/tokens", wrappedToken("name", "x", "scope", "read")).WantCode(t, 409)
	hidden := with(with(ann, "key", erased.Text(t, "user.key")), "active", true)
	valuetest.Same(t, admin.ImportBatch(t, importPath, hidden).Must(t, 200).Text(t, "records.0.result"), "unchanged",
		"a row with its hidden key")
	admin.Get(t, user).Want(t, 200, erased.Body)
}

// TestElements_AUserCanBeAnElement runs the elements service beside.
func TestElements_AUserCanBeAnElement(t *testing.T) {
	both, admin := besideElements(t)
	staff := admin.Import(t, "staff",
		map[string]any{"key": "17", "initials": "ABC", "forename": "Ann", "surname": "Bell", "current": true})["17"]
	record := map[string]any{"key": "1", "name": "Ann Bell", "email": "ann@school.example", "element": "Staff:17",
		"uuid": uuid.NewString(), "can_api": true}
	id := admin.Import(t, "users", record)["1"]
	user := fmt.Sprintf("/api/admin/users/%d", id)
	shows := func(want string) {
		t.Helper()
		valuetest.Has(t, admin.Get(t, user).Body, want)
	}
	shows(fmt.Sprintf(`"element_id":%d,`, staff))

	missing := map[string]any{"key": "2", "name": "B", "email": "b@school.example", "element": "Staff:99"}
	admin.ImportBatch(t, importPath, missing).Want(t, 200,
		`{"status":"OK","created":0,"updated":0,"unchanged":0,"failed":1,"records":[{"index":0,"key":"2","result":"failed","errors":{"element":["must exist"]}}]}`)
	admin.ImportBatch(t, importPath+"?dry_run=true", missing).Want(t, 200,
		`{"status":"OK","dry_run":true,"created":1,"updated":0,"unchanged":0,"failed":0,"records":[{"index":0,"key":"2","result":"created"}]}`)

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

// TestAdministration_UsersOfAnElement: an administrator of a school is shown those of its school alone.
func TestAdministration_UsersOfAnElement(t *testing.T) {
	both, admin := besideElements(t)
	north := admin.Import(t, "groups", map[string]any{"key": "north", "name": "North", "school": true})["north"]
	staff := admin.Import(t, "staff",
		map[string]any{"key": "1", "initials": "AB", "forename": "Ann", "surname": "Bell"},
		map[string]any{"key": "2", "initials": "CD", "forename": "Cy", "surname": "Dent"})
	join(t, admin, north, staff["1"])
	head := map[string]any{"key": "head", "name": "Head", "email": "head@school.example", "uuid": uuid.NewString(),
		"can_api": true, "admin_of": []string{"north"}}
	user := func(key, element string) map[string]any {
		return map[string]any{"key": key, "name": key, "email": key + "@school.example", "element": element}
	}
	ids := admin.Import(t, "users", head, user("ann", "Staff:1"), user("other", "Staff:1"), user("cy", "Staff:2"))
	school := both.Login(t, head["uuid"].(string))
	want := func(c *servicetest.Client, element int64, rest string, want ...int64) {
		t.Helper()
		var listed struct{ Users []struct{ ID int64 } }
		c.Get(t, fmt.Sprintf("/api/admin/users?element=%d%s", element, rest)).Must(t, 200).Decode(t, &listed)
		var got []int64
		for _, u := range listed.Users {
			got = append(got, u.ID)
		}
		valuetest.List(t, got, want, "the users of %d", element)
	}
	for _, c := range []*servicetest.Client{admin, school} {
		want(c, staff["1"], "", ids["ann"], ids["other"])
		want(c, staff["1"], fmt.Sprint("&from_id=", ids["other"]), ids["other"])
		want(c, 999999, "")
	}
	want(admin, staff["2"], "", ids["cy"])
	want(school, staff["2"], "")
	admin.Get(t, "/api/admin/users?element=x").WantCode(t, 400)
}
