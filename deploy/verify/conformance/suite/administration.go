package suite

import (
	"fmt"
	"net/http"
	"strings"
)

// administrationChecks are those of the calls below /api/admin/.
func administrationChecks() []Check {
	return []Check{
		prove("TestAdministration_EveryPathNeedsAdmin", everyPathNeedsAdmin, "administration admin"),
		prove("TestAdministration_Users", administrationOfUsers, "administration users", "administration created", "administration uuid once", "administration PATCH", "administration invalid", "decisions 2 secret"),
		prove("TestAdministration_ANewUUIDEndsTheOldOneAndAllSessions", newUUID, "administration new uuid", "decisions 2 secret"),
		prove("TestAdministration_DeletingAUserKeepsItsEvents", deletingAUser, "administration delete user"),
		prove("TestAdministration_EndingTheSessionsOfAUser", endingSessions, "administration end sessions"),
		prove("TestAdministration_Elements", administrationOfElements, "administration elements", "administration created", "administration PATCH", "administration invalid"),
		prove("TestAdministration_ARetiredElementKeepsItsHistory", retiredElement, "administration delete element"),
		prove("TestAdministration_Members", members, "administration members", "administration overlaps", "administration own member", "administration last before first"),
		prove("TestAdministration_EndingAMembership", endingAMembership, "administration end membership"),
		prove("TestAdministration_AdministratorsControlAnElement", administrators, "administration administrators", "decisions 5 controlled"),
		prove("TestAdministration_Categories", administrationOfCategories, "administration categories", "administration created", "administration PATCH", "administration invalid"),
		prove("TestAdministration_UnknownIDs", unknownIDs, "administration unknown"),
		prove("TestAdministration_ListsArePaged", pagedLists, "administration lists"),
		prove("TestAdministration_ImportingAgainChangesNothing", importingAgain, "administration import"),
		prove("TestAdministration_LimitsOfABatch", limitsOfABatch, "administration import limits"),
	}
}

func everyPathNeedsAdmin(t *T) {
	c := t.As("can_su", "can_add_events", "can_add_notes", "edit_all_events", "privileged")
	for _, call := range [][2]string{
		{"GET", "users"}, {"POST", "users"}, {"GET", "users/1"}, {"PATCH", "users/1"}, {"DELETE", "users/1"}, {"POST", "users/1/uuid"}, {"DELETE", "users/1/sessions"},
		{"GET", "elements"}, {"POST", "elements"}, {"GET", "elements/1"}, {"PATCH", "elements/1"}, {"DELETE", "elements/1"}, {"GET", "elements/1/members"}, {"POST", "elements/1/members"}, {"DELETE", "elements/1/members/2"},
		{"GET", "elements/1/administrators"}, {"PUT", "elements/1/administrators/1"}, {"DELETE", "elements/1/administrators/1"}, {"GET", "eventcategories"}, {"POST", "eventcategories"}, {"PATCH", "eventcategories/1"},
		{"POST", "import/staff"}, {"POST", "import/pupils"}, {"POST", "import/locations"}, {"POST", "import/groups"}, {"POST", "import/properties"}, {"POST", "import/services"}, {"POST", "import/subjects"},
		{"POST", "import/memberships"}, {"POST", "import/users"}, {"POST", "import/administrators"}, {"POST", "import/eventcategories"}, {"POST", "import/events"}, {"POST", "import/notes"},
	} {
		c.Do(call[0], "/api/admin/"+call[1], nil).Want(http.StatusForbidden, forbidden)
	}
}

func administrationOfUsers(t *T) {
	admin, name := t.Admin(), t.Unique("User")
	email := strings.ToLower(t.School.Prefix) + ".new@conformance.invalid"
	a := admin.Post("/api/admin/users", map[string]any{"user": map[string]any{"name": name, "email": email, "permissions": map[string]any{"can_api": true, "can_su": true}}})
	id := a.Int("user.id")
	samples := []any{10201, id, "Ann Archer", name, "ann.archer@school.example", email}
	t.Golden(a, http.StatusCreated, "user_created.json", append(samples, "7f3c2a9e-0000-4000-8000-000000000001", a.String("user.uuid"))...)
	path := fmt.Sprintf("/api/admin/users/%d", id)
	t.Golden(admin.Get(path), http.StatusOK, "user.json", samples...)
	changed := admin.Patch(path, map[string]any{"user": map[string]any{"kind": "pupil", "permissions": map[string]any{"can_su": false}}})
	t.Golden(changed, http.StatusOK, "user_changed.json", samples...)
	t.Golden(admin.Post("/api/admin/users", wrapped("user")), http.StatusUnprocessableEntity, "user_invalid.json")
	admin.Post("/api/admin/users", map[string]any{}).WantCode(http.StatusBadRequest)
	given := t.UserWith(map[string]any{"uuid": strings.ReplaceAll(t.Unique("chosen"), " ", "-")}, "can_api")
	t.isUser(t.Login(given), &given, "after a login with a chosen uuid")
}

func newUUID(t *T) {
	u := t.User()
	c := t.Login(u)
	a := t.Admin().Post(userPath(u)+"/uuid", nil)
	renewed := a.String("uuid")
	a.Want(http.StatusCreated, fmt.Sprintf(`{"status":"Created","uuid":%q}`, renewed))
	t.withinASecond("the session from before the new uuid is 401", func() bool { return c.Get("/sessions/1/whoami").Code == http.StatusUnauthorized })
	t.Client().TryLogin(u.UUID).Want(http.StatusUnauthorized, accessDenied)
	u.UUID = renewed
	t.isUser(t.Login(u), &u, "after a login with the new uuid")
	t.Equal("uuid in the record", t.Admin().Get(userPath(u)).Has("user.uuid"), false)
}

func deletingAUser(t *T) {
	u := t.User("can_add_events")
	c := t.Login(u)
	event := fmt.Sprintf("/api/events/%d", t.Event(c, nil).Int("event.id"))
	t.Admin().Delete(userPath(u)).Want(http.StatusOK, okBody)
	t.withinASecond("the session of a deleted user is 401", func() bool { return c.Get("/sessions/1/whoami").Code == http.StatusUnauthorized })
	t.Client().TryLogin(u.UUID).Want(http.StatusUnauthorized, accessDenied)
	t.Admin().Get(userPath(u)).Equal("user.active", "false")
	t.As().Get(event).Equal("event.owner", u.List())
}

func endingSessions(t *T) {
	u := t.User()
	first, second := t.Login(u), t.Login(u)
	t.Admin().Delete(userPath(u)+"/sessions").Want(http.StatusOK, okBody)
	t.withinASecond("both sessions are 401", func() bool {
		return first.Get("/sessions/1/whoami").Code == http.StatusUnauthorized && second.Get("/sessions/1/whoami").Code == http.StatusUnauthorized
	})
	t.isUser(t.Login(u), &u, "after a new login")
}

func elementAdmin(e Element) string { return fmt.Sprintf("/api/admin/elements/%d", e.ID) }

func administrationOfElements(t *T) {
	admin, surname := t.Admin(), t.Unique("Butler")
	e := t.Element(map[string]any{"entity_type": "Pupil", "forename": "Kai", "surname": surname, "tutor_group": "9A", "email": "kai@conformance.invalid", "name": "ignored", "colour": "red"})
	a := admin.Get(elementAdmin(e))
	samples := []any{10101, e.ID, 10102, e.EntityID, "Butler", surname, "7f3c2a9e-0000-4000-8000-000000000001", a.String("element.uuid")}
	t.Golden(a, http.StatusOK, "element_record.json", samples...)
	changed := admin.Patch(elementAdmin(e), map[string]any{"element": map[string]any{"known_as": "Kip", "tutor_group": nil}})
	t.Golden(changed, http.StatusOK, "element_record_changed.json", samples...)
	t.As().Get("/api/elements?namelike="+strings.ReplaceAll("kip "+surname, " ", "%20")).Equal("elements.0.id", e.Sent())
	for _, fields := range []map[string]any{{}, {"entity_type": "Ghost", "name": "x"}, {"entity_type": "Location"}, {"entity_type": "Staff", "forename": "A", "surname": "B"}} {
		a := admin.Post("/api/admin/elements", map[string]any{"element": fields})
		t.Equal(fmt.Sprint("code, id and valid of ", fields), fmt.Sprint(a.Code, a.At("element.id"), a.At("element.valid"), a.Has("element.errors")), "422nullfalsetrue")
	}
	admin.Patch(elementAdmin(e), map[string]any{"element": map[string]any{"surname": " "}}).WantCode(http.StatusUnprocessableEntity)
	admin.Get(elementAdmin(e)).Equal("element.name", quoted("Kip "+surname))
}

func retiredElement(t *T) {
	c, room := t.Booker(), t.Location()
	t.Event(c, nil, room)
	t.Admin().Delete(elementAdmin(room)).Want(http.StatusOK, okBody)
	c.Get("/api/elements?name="+strings.ReplaceAll(room.Name, " ", "%20")).Want(http.StatusNotFound, `{"status":"Not found","elements":[]}`)
	c.Get(fmt.Sprintf("/api/elements/%d", room.ID)).Equal("element.current", "false")
	t.Equal("its commitments", c.Get(fmt.Sprintf("/api/elements/%d/commitments?start_date=2019-04-10", room.ID)).Len("commitments"), 1)
	t.Admin().Patch(elementAdmin(room), wrapped("element", "current", true)).WantCode(http.StatusOK)
	c.Get("/api/elements?name=" + strings.ReplaceAll(room.Name, " ", "%20")).WantCode(http.StatusOK)
}

// memberText is a run of days of a membership, byte for byte.
func memberText(e Element, first, last string) string {
	day := func(s string) string {
		if s == "" {
			return "null"
		}
		return quoted(s)
	}
	return fmt.Sprintf(`{"element_id":%d,"element":%s,"first_day":%s,"last_day":%s,"valid":true}`, e.ID, e.List(), day(first), day(last))
}

func members(t *T) {
	admin, year, set, pupil, other := t.Admin(), t.Group(), t.Group(), t.Pupil(), t.Pupil()
	path := elementAdmin(set) + "/members"
	list := func(query string, entries ...string) {
		admin.Get(path+query).Want(http.StatusOK, `{"status":"OK","members":[`+strings.Join(entries, ",")+`],"next":null}`)
	}
	t.Member(set, pupil, "2026-05-04", "2026-05-08")
	t.Member(set, pupil, "2026-05-06", "2026-05-10")
	list("", memberText(pupil, "2026-05-04", "2026-05-10"))
	t.Member(set, pupil, "2026-06-01", "")
	list("", memberText(pupil, "2026-05-04", "2026-05-10"), memberText(pupil, "2026-06-01", ""))
	t.Member(set, other, "", "2026-05-10")
	list("?on=2026-05-10", memberText(pupil, "2026-05-04", "2026-05-10"), memberText(other, "", "2026-05-10"))
	list("?on=2026-05-11")
	t.Member(year, set, "2026-05-10", "")
	path = elementAdmin(year) + "/members"
	list("?on=2026-05-10", memberText(set, "2026-05-10", ""))
	within := func(e Element) string {
		return fmt.Sprintf(`{"element_id":%d,"element":%s,"valid":true}`, e.ID, e.List())
	}
	list("?on=2026-05-10&nested=true", within(pupil), within(other))
	list("?on=2026-05-09&nested=true")
	for what, c := range map[string]struct {
		span   map[string]any
		errors string
	}{
		"the group itself":      {map[string]any{"element_id": year.ID}, `{"element_id":["is the group itself"]}`},
		"last before first day": {map[string]any{"element_id": pupil.ID, "first_day": "2026-05-04", "last_day": "2026-05-03"}, `{"last_day":["is before first_day"]}`},
		"no date":               {map[string]any{"element_id": pupil.ID, "first_day": "2026-02-29"}, `{"first_day":["is not a date"]}`},
		"no element":            {map[string]any{"element_id": int64(noSuchID)}, `{"element_id":["must exist"]}`},
	} {
		a := admin.Post(path, map[string]any{"members": []any{c.span}})
		t.Equal("code and errors of "+what, fmt.Sprint(a.Code, a.At("members.0.errors")), "422"+c.errors)
	}
	list("", memberText(set, "2026-05-10", ""))
}

func endingAMembership(t *T) {
	admin, set, pupil := t.Admin(), t.Group(), t.Pupil()
	path := fmt.Sprintf("%s/members/%d", elementAdmin(set), pupil.ID)
	list := func(entries ...string) {
		admin.Get(elementAdmin(set)+"/members").Want(http.StatusOK, `{"status":"OK","members":[`+strings.Join(entries, ",")+`],"next":null}`)
	}
	t.Member(set, pupil, "2026-05-04", "2026-05-08")
	admin.Delete(path+"?from=2026-05-06").Want(http.StatusOK, okBody)
	list(memberText(pupil, "2026-05-04", "2026-05-05"))
	admin.Delete(path+"?from=2026-05-04").Want(http.StatusOK, okBody)
	list()
	admin.Delete(path).Want(http.StatusNotFound, missing("Not found", "Membership", pupil.ID))
	began := t.today()
	t.Member(set, pupil, "", "")
	admin.Delete(path).Want(http.StatusOK, okBody)
	yesterday := date(began.AddDate(0, 0, -1))
	t.sameDay(began)
	list(memberText(pupil, "", yesterday))
	admin.Delete(path + "?from=soon").WantCode(http.StatusBadRequest)
}

func administrators(t *T) {
	admin, calendar, u := t.Admin(), t.Property(), t.User()
	path := elementAdmin(calendar) + "/administrators"
	one := fmt.Sprintf("%s/%d", path, u.ID)
	admin.Get(path).Want(http.StatusOK, `{"status":"OK","administrators":[],"next":null}`)
	c := t.Booker()
	for _, step := range []struct{ method, status string }{{"PUT", "requested"}, {"PUT", "requested"}, {"DELETE", "uncontrolled"}} {
		admin.Do(step.method, one, nil).WantCode(http.StatusOK)
		t.Event(c, nil, calendar).Equal("event.commitments.0.status", quoted(step.status))
		admin.Get(elementAdmin(calendar)).Equal("element.controlled", fmt.Sprint(step.method == "PUT"))
	}
	admin.Delete(one).WantCode(http.StatusNotFound)
	admin.Put(fmt.Sprintf("%s/%d", path, noSuchID), nil).Want(http.StatusNotFound, missing("Not found", "User", noSuchID))
}

func administrationOfCategories(t *T) {
	admin, name := t.Admin(), t.Unique("Trip")
	a := admin.Post("/api/admin/eventcategories", map[string]any{"eventcategory": map[string]any{"name": name, "pecking_order": 30, "busy": true}})
	id := a.Int("eventcategory.id")
	t.Golden(a, http.StatusCreated, "eventcategory_created.json", 10401, id, "Trip", name)
	path := fmt.Sprintf("/api/admin/eventcategories/%d", id)
	changed := admin.Patch(path, wrapped("eventcategory", "privileged", true))
	t.Equal("code, pecking_order, busy and privileged after a change", fmt.Sprint(changed.Code, changed.At("eventcategory.pecking_order"), changed.At("eventcategory.busy"), changed.At("eventcategory.privileged")), "20030truetrue")
	for _, fields := range []map[string]any{{"name": name}, {"name": " "}, {}} {
		a := admin.Post("/api/admin/eventcategories", map[string]any{"eventcategory": fields})
		t.Equal(fmt.Sprint("code, id, valid and faulty fields of ", fields), fmt.Sprint(a.Code, a.At("eventcategory.id"), a.At("eventcategory.valid"), a.Keys("eventcategory.errors")), "422nullfalsename")
	}
	admin.Patch(fmt.Sprintf("/api/admin/eventcategories/%d", noSuchID), wrapped("eventcategory")).Want(http.StatusNotFound, missing("Not found", "EventCategory", noSuchID))
}

func unknownIDs(t *T) {
	admin := t.Admin()
	for _, call := range [][3]string{
		{"GET", "users", "User"}, {"PATCH", "users", "User"}, {"DELETE", "users", "User"}, {"GET", "elements", "Element"}, {"PATCH", "elements", "Element"}, {"DELETE", "elements", "Element"},
	} {
		admin.Do(call[0], fmt.Sprintf("/api/admin/%s/%d", call[1], noSuchID), map[string]any{strings.TrimSuffix(call[1], "s"): map[string]any{}}).Want(http.StatusNotFound, missing("Not found", call[2], noSuchID))
		admin.Do(call[0], "/api/admin/"+call[1]+"/01", nil).Want(http.StatusNotFound, notFound)
	}
}

// pagedLists walks lists that others may add to meanwhile, from just before what the check has made.
func pagedLists(t *T) {
	admin := t.Admin()
	made := map[string][]int64{}
	for range 3 {
		made["users"] = append(made["users"], t.UserWith(nil).ID)
		made["elements"] = append(made["elements"], t.Location().ID)
	}
	for things, ids := range map[string][]int64{"users": made["users"], "elements": made["elements"], "eventcategories": {t.School.Category.ID, t.School.Privileged.ID}} {
		after, found := min(ids[0], ids[len(ids)-1])-1, 0
		for found < len(ids) {
			path := "/api/admin/" + things + "?limit=1"
			if after > 0 {
				path += fmt.Sprint("&after=", after)
			}
			a := admin.Get(path).Must(http.StatusOK)
			t.Equal("keys of a page", a.Keys(""), "status,"+things+",next")
			t.Equal("length of a page", a.Len(things), 1)
			for _, id := range ids {
				if a.Int(things+".0.id") == id {
					found++
				}
			}
			if a.At("next") == "null" {
				break
			}
			t.Equal("next", a.At("next"), a.At(things+".0.id"))
			after = a.Int("next")
		}
		t.Equal("found of "+things, found, len(ids))
		for _, query := range []string{"limit=0", "limit=1001", "limit=x", "after=x", "after=-1"} {
			admin.Get("/api/admin/" + things + "?" + query).WantCode(http.StatusBadRequest)
		}
		admin.Get(fmt.Sprintf("/api/admin/%s?limit=1000&after=%d", things, noSuchID)).Want(http.StatusOK, `{"status":"OK","`+things+`":[],"next":null}`)
	}
}

func importingAgain(t *T) {
	key, name := t.Unique("room"), t.Unique("Hall")
	record := map[string]any{"key": key, "name": name}
	answer := func(created, updated, unchanged, failed int, records ...string) string {
		return fmt.Sprintf(`{"status":"OK","created":%d,"updated":%d,"unchanged":%d,"failed":%d,"records":[%s]}`, created, updated, unchanged, failed, strings.Join(records, ","))
	}
	const path = "/api/admin/import/locations"
	t.ImportBatch(path+"?dry_run=true", record).Want(http.StatusOK, answer(1, 0, 0, 0, fmt.Sprintf(`{"index":0,"key":%q,"result":"created"}`, key)))
	id := t.Import("locations", record)[key]
	t.ImportBatch(path, record).Want(http.StatusOK, answer(0, 0, 1, 0, fmt.Sprintf(`{"index":0,"key":%q,"result":"unchanged","id":%d}`, key, id)))
	record["name"] = name + " II"
	t.ImportBatch(path, record, map[string]any{"key": key + "x"}).Want(http.StatusOK, answer(0, 1, 0, 1,
		fmt.Sprintf(`{"index":0,"key":%q,"result":"updated","id":%d}`, key, id), fmt.Sprintf(`{"index":1,"key":%q,"result":"failed","errors":{"name":["can't be blank"]}}`, key+"x")))
	t.Admin().Get(fmt.Sprintf("/api/admin/elements/%d", id)).Equal("element.name", quoted(name+" II"))
}

func limitsOfABatch(t *T) {
	const path = "/api/admin/import/subjects"
	many := make([]map[string]any, 1001)
	for i := range many {
		many[i] = map[string]any{"key": t.Unique("subject"), "name": "x"}
	}
	a := t.ImportBatch(path, many...)
	t.Equal("code of 1,001 records is not 200", a.Code != http.StatusOK, true)
	key := t.Unique("subject")
	a = t.Admin().Do(http.MethodPost, path, fmt.Sprintf("{\"key\":%q,\"name\":\"x\"}\n{\n", key), "Content-Type", "application/x-ndjson")
	t.Equal("code and status of a malformed line", fmt.Sprint(a.Code, a.At("status")), `400"Bad request"`)
	t.Admin().Get("/api/admin/elements?key=Subject:"+strings.ReplaceAll(key, " ", "%20")).Want(http.StatusOK, `{"status":"OK","elements":[],"next":null}`)
}
