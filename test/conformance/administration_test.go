package conformance_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
)

func TestAdministration_Users(t *testing.T) {
	proves(t, "administration users: users: name and email required; staff by default; uuid generated if absent",
		"decisions 1 201: 201 Created for creation below /api/admin/", "administration created",
		"administration uuid once: only the answer to POST shows uuid",
		"administration PATCH", "administration invalid", "decisions 2 secret")
	admin, name := school.Admin(), school.Unique("User")
	email := strings.ToLower(school.Prefix) + ".new@conformance.invalid"
	a := admin.Post(t, "/api/admin/users", object{"user": object{"name": " " +
		name + " ", "email": " " + email, "permissions": object{"can_api": true, "can_su": true}}})
	id := a.Int(t, "user.id")
	samples := []any{10201, id, "Ann Archer", name, "ann.archer@school.example", email}
	school.Golden(t, a, http.StatusCreated, "user_created.json",
		append(samples, "7f3c2a9e-0000-4000-8000-000000000001", a.Text(t, "user.uuid"))...)
	path := fmt.Sprintf("/api/admin/users/%d", id)
	school.Golden(t, admin.Get(t, path), http.StatusOK, "user.json", samples...)
	changed := admin.Patch(t, path, object{"user": object{"kind": "pupil", "permissions": object{"can_su": false}}})
	school.Golden(t, changed, http.StatusOK, "user_changed.json", samples...)
	school.Golden(t, admin.Post(t, "/api/admin/users", wrapped("user")), http.StatusUnprocessableEntity,
		"user_invalid.json")
	admin.Post(t, "/api/admin/users", object{}).WantCode(t, http.StatusBadRequest)
	given := school.UserWith(t, object{"uuid": strings.ReplaceAll(school.Unique("chosen"), " ", "-")}, "can_api")
	isUser(t, school.Login(t, given), &given, "after a login with a chosen uuid")
}

func TestAdministration_Elements(t *testing.T) {
	proves(t, "administration elements: elements are made, shown and changed with the fields of their type",
		"administration created: creation: 201 Created and the record",
		"administration PATCH: fields not given on PATCH keep their values",
		"administration invalid: invalid: 422 with errors")
	admin, surname := school.Admin(), school.Unique("Butler")
	e := school.Element(t, object{"entity_type": "Pupil", "forename": "Kai", "surname": surname,
		"tutor_group": "9A", "email": "kai@conformance.invalid", "name": "ignored", "colour": "red"})
	a := admin.Get(t, elementAdmin(e))
	samples := []any{10101, e.ID, 10102, e.EntityID, "Butler", surname, "7f3c2a9e-0000-4000-8000-000000000001",
		a.Text(t, "element.uuid")}
	school.Golden(t, a, http.StatusOK, "element_record.json", samples...)
	changed := admin.Patch(t, elementAdmin(e), object{"element": object{"known_as": "Kip", "tutor_group": nil}})
	school.Golden(t, changed, http.StatusOK, "element_record_changed.json", samples...)
	c := school.As(t)
	search(t, c, "namelike", "kip "+surname).Equal(t, "elements.0.id", e.Sent())
	search(t, c, "name", e.Name).Want(t, http.StatusNotFound, nothing) // by its old name
	for _, fields := range []object{{}, {"entity_type": "Ghost", "name": "x"}, {"entity_type": "Location"},
		{"entity_type": "Staff", "forename": "A", "surname": "B"}} {
		a := admin.Post(t, "/api/admin/elements", object{"element": fields})
		equal(t, fmt.Sprint("code, id and valid of ", fields), fmt.Sprint(a.Code,
			a.At(t, "element.id"), a.At(t, "element.valid"), a.Has("element.errors")), "422nullfalsetrue")
	}
	faulty := admin.Post(t, "/api/admin/elements",
		object{"element": object{"entity_type": "Staff", "initials": "A", "surname": 5}})
	faulty.Equal(t, "element.errors", `{"forename":["can't be blank"],"surname":["is not a string"]}`)
	for _, body := range []string{`{`, `{}`, `{"element":5}`} {
		admin.Post(t, "/api/admin/elements", body).WantCode(t, http.StatusBadRequest)
	}
	own := uuid.NewString()
	given := object{"entity_type": "Service", "name": school.Unique("Bell"), "uuid": strings.ToUpper(own)}
	admin.Post(t, "/api/admin/elements", object{"element": given}).Equal(t, "element.uuid", quoted(own))
	given["entity_type"] = "Group"
	admin.Post(t, "/api/admin/elements", object{"element": given}).Equal(t, "element.errors",
		`{"uuid":["has already been taken"]}`)
	faulty = admin.Patch(t, elementAdmin(e), object{"element": object{"surname": " ", "entity_type": "Staff"}})
	faulty.WantCode(t, http.StatusUnprocessableEntity)
	faulty.Equal(t, "element.errors", `{"entity_type":["can't be changed"],"surname":["can't be blank"]}`)
	admin.Get(t, elementAdmin(e)).Equal(t, "element.name", quoted("Kip "+surname))
}

func TestAdministration_ARetiredElementKeepsItsHistory(t *testing.T) {
	proves(t, "administration delete element: DELETE: no longer current; history stays")
	c, room := school.Booker(t), school.Location(t)
	school.Event(t, c, nil, room)
	school.Admin().Delete(t, elementAdmin(room)).Want(t, http.StatusOK, okBody)
	c.Get(t, "/api/elements?name="+strings.ReplaceAll(room.Name, " ", "%20")).Want(t, http.StatusNotFound,
		`{"status":"Not found","elements":[]}`)
	c.Get(t, elementPath(room)).Equal(t, "element.current", "false")
	equal(t, "its commitments", c.Get(t,
		elementPath(room)+"/commitments?start_date=2019-04-10").Len(t, "commitments"), 1)
	school.Admin().Patch(t, elementAdmin(room), wrapped("element", "current", true)).WantCode(t, http.StatusOK)
	c.Get(t, "/api/elements?name="+strings.ReplaceAll(room.Name, " ", "%20")).WantCode(t, http.StatusOK)
}

// memberText returns the run of days of a membership, byte for byte.
func memberText(e Element, first, last string) string {
	day := func(s string) string {
		if s == "" {
			return "null"
		}
		return quoted(s)
	}
	return fmt.Sprintf(`{"element_id":%d,"element":%s,"first_day":%s,"last_day":%s,"valid":true}`, e.ID, e.List(),
		day(first), day(last))
}

func TestAdministration_Members(t *testing.T) {
	proves(t, "administration members: members of a group, by day and nested",
		"administration overlaps: two overlapping memberships of a pair are merged",
		"administration own member: a group can't be its own member",
		"administration last before first: last_day before first_day: 422")
	admin, year, set, pupil, other := school.Admin(), school.Group(t), school.Group(t), school.Pupil(t), school.Pupil(t)
	path := elementAdmin(set) + "/members"
	list := func(query string, entries ...string) {
		admin.Get(t, path+query).Want(t, http.StatusOK,
			`{"status":"OK","members":[`+strings.Join(entries, ",")+`],"next":null}`)
	}
	school.Member(t, set, pupil, "2026-05-04", "2026-05-08")
	school.Member(t, set, pupil, "2026-05-06", "2026-05-10")
	list("", memberText(pupil, "2026-05-04", "2026-05-10"))
	school.Member(t, set, pupil, "2026-06-01", "")
	list("", memberText(pupil, "2026-05-04", "2026-05-10"), memberText(pupil, "2026-06-01", ""))
	school.Member(t, set, other, "", "2026-05-10")
	list("?on=2026-05-10", memberText(pupil, "2026-05-04", "2026-05-10"), memberText(other, "", "2026-05-10"))
	list("?on=2026-05-11")
	school.Member(t, year, set, "2026-05-10", "")
	path = elementAdmin(year) + "/members"
	list("?on=2026-05-10", memberText(set, "2026-05-10", ""))
	within := func(e Element) string {
		return fmt.Sprintf(`{"element_id":%d,"element":%s,"valid":true}`, e.ID, e.List())
	}
	list("?on=2026-05-10&nested=true", within(pupil), within(other))
	list("?on=2026-05-09&nested=true")
	for what, c := range map[string]struct {
		span   object
		errors string
	}{
		"the group itself": {object{"element_id": year.ID}, `{"element_id":["is the group itself"]}`},
		"last before first day": {object{"element_id": pupil.ID, "first_day": "2026-05-04",
			"last_day": "2026-05-03"}, `{"last_day":["is before first_day"]}`},
		"no date": {object{"element_id": pupil.ID, "first_day": "2026-02-29"},
			`{"first_day":["is not a date (YYYY-MM-DD)"]}`},
		"no element": {object{"element_id": int64(noSuchID)}, `{"element_id":["must exist"]}`},
		"no id":      {object{}, `{"element_id":["can't be blank"]}`},
		"a word":     {object{"element_id": "x"}, `{"element_id":["must exist"]}`},
	} {
		a := admin.Post(t, path, object{"members": []any{object{"element_id": pupil.ID}, c.span}})
		equal(t, "code and errors of "+what, fmt.Sprint(a.Code, a.At(t, "members.1.errors")), "422"+c.errors)
		equal(t, "one without faults beside "+what, a.At(t, "members.0"), fmt.Sprintf(
			`{"element_id":%d,"first_day":null,"last_day":null,"valid":true}`, pupil.ID))
	}
	for _, body := range []string{`{}`, `{"members":5}`, `{"members":[5]}`, `[]`} {
		admin.Post(t, path, body).WantCode(t, http.StatusBadRequest)
	}
	admin.Get(t, elementAdmin(pupil)+"/members").WantCode(t, http.StatusMethodNotAllowed)
	list("", memberText(set, "2026-05-10", ""))
}

func TestAdministration_EndingAMembership(t *testing.T) {
	proves(t,
		"administration end membership: a membership ends the day before from; one that would never have begun is "+
			"deleted")
	admin, set, pupil := school.Admin(), school.Group(t), school.Pupil(t)
	path := fmt.Sprintf("%s/members/%d", elementAdmin(set), pupil.ID)
	list := func(entries ...string) {
		admin.Get(t, elementAdmin(set)+"/members").Want(t, http.StatusOK,
			`{"status":"OK","members":[`+strings.Join(entries, ",")+`],"next":null}`)
	}
	school.Member(t, set, pupil, "2026-05-04", "2026-05-08")
	admin.Delete(t, path+"?from=2026-05-06").Want(t, http.StatusOK, okBody)
	list(memberText(pupil, "2026-05-04", "2026-05-05"))
	admin.Delete(t, path+"?from=2026-05-04").Want(t, http.StatusOK, okBody)
	list()
	admin.Delete(t, path).Want(t, http.StatusNotFound, missing("Not found", "Membership", pupil.ID))
	school.Member(t, set, pupil, "2026-05-04", "2026-05-08")
	school.Member(t, set, pupil, "2026-06-01", "")
	admin.Delete(t, path+"?from=2026-06-02").Want(t, http.StatusOK, okBody)
	list(memberText(pupil, "2026-05-04", "2026-05-08"), memberText(pupil, "2026-06-01", "2026-06-01"))
	admin.Delete(t, path+"?from=2026-05-06").Want(t, http.StatusOK, okBody)
	list(memberText(pupil, "2026-05-04", "2026-05-05"))
	admin.Delete(t, path+"?from=2026-05-04").Want(t, http.StatusOK, okBody)
	list()
	began := school.today()
	school.Member(t, set, pupil, "", "")
	admin.Delete(t, path).Want(t, http.StatusOK, okBody)
	yesterday := date(began.AddDate(0, 0, -1))
	school.sameDay(t, began)
	list(memberText(pupil, "", yesterday))
	admin.Delete(t, path+"?from=soon").WantCode(t, http.StatusBadRequest)
}

func TestAdministration_AdministratorsControlAnElement(t *testing.T) {
	proves(t,
		"administration administrators: PUT makes an element controlled; DELETE of the last one makes it uncontrolled",
		"decisions 5 controlled: an element is controlled when it has an administrator")
	admin, calendar, u := school.Admin(), school.Property(t), school.User(t)
	path := elementAdmin(calendar) + "/administrators"
	one := fmt.Sprintf("%s/%d", path, u.ID)
	admin.Get(t, path).Want(t, http.StatusOK, `{"status":"OK","administrators":[],"next":null}`)
	c := school.Booker(t)
	for _, step := range []struct{ method, status string }{{"PUT", "requested"}, {"PUT", "requested"},
		{"DELETE", "uncontrolled"}} {
		answer, listed := okBody, ""
		if step.method == "PUT" {
			answer, listed = `{"status":"OK","administrator":`+u.List()+`}`, u.List()
		}
		admin.Do(t, step.method, one, nil).Want(t, http.StatusOK, answer)
		admin.Get(t, path).Want(t, http.StatusOK, `{"status":"OK","administrators":[`+listed+`],"next":null}`)
		school.Event(t, c, nil, calendar).Equal(t, "event.commitments.0.status", quoted(step.status))
		admin.Get(t, elementAdmin(calendar)).Equal(t, "element.controlled", fmt.Sprint(step.method == "PUT"))
	}
	admin.Delete(t, one).WantCode(t, http.StatusNotFound)
	admin.Put(t, fmt.Sprintf("%s/%d", path, noSuchID), nil).Want(t, http.StatusNotFound,
		missing("Not found", "User", noSuchID))
}

func TestAdministration_Categories(t *testing.T) {
	proves(t, "administration categories: categories are made and changed; names are unique", "administration created",
		"administration PATCH", "administration invalid")
	admin, name := school.Admin(), school.Unique("Trip")
	a := admin.Post(t, "/api/admin/eventcategories",
		object{"eventcategory": object{"name": name, "pecking_order": 30, "busy": true}})
	id := a.Int(t, "eventcategory.id")
	school.Golden(t, a, http.StatusCreated, "eventcategory_created.json", 10401, id, "Trip", name)
	path := fmt.Sprintf("/api/admin/eventcategories/%d", id)
	changed := admin.Patch(t, path, wrapped("eventcategory", "privileged", true))
	equal(t, "code, pecking_order, busy and privileged after a change",
		fmt.Sprint(changed.Code, changed.At(t, "eventcategory.pecking_order"), changed.At(t, "eventcategory.busy"),
			changed.At(t, "eventcategory.privileged")), "20030truetrue")
	for _, fields := range []object{{"name": name}, {"name": " "}, {}} {
		a := admin.Post(t, "/api/admin/eventcategories", object{"eventcategory": fields})
		equal(t, fmt.Sprint("code, id, valid and faulty fields of ", fields), fmt.Sprint(a.Code, a.At(t,
			"eventcategory.id"), a.At(t, "eventcategory.valid"), a.Keys(t, "eventcategory.errors")), "422nullfalsename")
	}
	admin.Patch(t, fmt.Sprintf("/api/admin/eventcategories/%d", noSuchID), wrapped("eventcategory")).Want(t,
		http.StatusNotFound, missing("Not found", "EventCategory", noSuchID))
}

// TestAdministration_ListsArePaged pages through lists that others may add to meanwhile. It begins just before the
// test's own records.
func TestAdministration_ListsArePaged(t *testing.T) {
	proves(t, "administration lists: lists have status, the records and next; limit 1 to 1,000, after")
	admin := school.Admin()
	made := map[string][]int64{}
	for range 3 {
		made["users"] = append(made["users"], school.UserWith(t, nil).ID)
		made["elements"] = append(made["elements"], school.Location(t).ID)
	}
	for things, ids := range map[string][]int64{"users": made["users"], "elements": made["elements"],
		"eventcategories": {school.Category.ID, school.Privileged.ID}} {
		first := fmt.Sprintf("/api/admin/%s?limit=1&from_id=%d", things, min(ids[0], ids[len(ids)-1]))
		for path, found := first, 0; found < len(ids); {
			a := admin.Get(t, path).Must(t, http.StatusOK)
			equal(t, "keys of a page", a.Keys(t, ""), "status,"+things+",next")
			equal(t, "length of a page", a.Len(t, things), 1)
			for _, id := range ids {
				if a.Int(t, things+".0.id") == id {
					found++
				}
			}
			if a.At(t, "next") == "null" {
				equal(t, "found of "+things, found, len(ids))
				break
			}
			path = first + "&after=" + a.Text(t, "next")
		}
		for _, query := range []string{"limit=0", "limit=1001", "limit=x", "after=x", "after=7"} {
			admin.Get(t, "/api/admin/"+things+"?"+query).WantCode(t, http.StatusBadRequest)
		}
		admin.Get(t, fmt.Sprintf("/api/admin/%s?limit=1000&from_id=%d", things, noSuchID)).Want(t, http.StatusOK,
			`{"status":"OK","`+things+`":[],"next":null}`)
	}
}

func TestAdministration_ImportingAgainChangesNothing(t *testing.T) {
	proves(t, "administration import: import: matched by key, a result per record, idempotent")
	key, name := school.Unique("room"), school.Unique("Hall")
	record := object{"key": key, "name": name}
	answer := func(created, updated, unchanged, failed int, records ...string) string {
		return fmt.Sprintf(`{"status":"OK","created":%d,"updated":%d,"unchanged":%d,"failed":%d,"records":[%s]}`,
			created, updated, unchanged, failed, strings.Join(records, ","))
	}
	const path = "/api/admin/import/locations"
	school.ImportBatch(t, path+"?dry_run=true", record).Want(t, http.StatusOK,
		strings.Replace(answer(1, 0, 0, 0, fmt.Sprintf(`{"index":0,"key":%q,"result":"created"}`, key)),
			`"OK",`, `"OK","dry_run":true,`, 1))
	id := school.Import(t, "locations", record)[key]
	school.ImportBatch(t, path, record).Want(t, http.StatusOK,
		answer(0, 0, 1, 0, fmt.Sprintf(`{"index":0,"key":%q,"result":"unchanged","id":%d}`, key, id)))
	record["name"] = name + " II"
	school.ImportBatch(t, path, record, object{"key": key + "x"}).Want(t, http.StatusOK, answer(0, 1, 0, 1,
		fmt.Sprintf(`{"index":0,"key":%q,"result":"updated","id":%d}`, key, id),
		fmt.Sprintf(`{"index":1,"key":%q,"result":"failed","errors":{"name":["can't be blank"]}}`, key+"x")))
	school.Admin().Get(t, fmt.Sprintf("/api/admin/elements/%d", id)).Equal(t, "element.name", quoted(name+" II"))
}

func TestAdministration_LimitsOfABatch(t *testing.T) {
	proves(t, "administration import limits: at most 1,000 records; a malformed line: 400, nothing written")
	const path = "/api/admin/import/subjects"
	many := make([]object, 1001)
	for i := range many {
		many[i] = object{"key": school.Unique("subject"), "name": "x"}
	}
	a := school.ImportBatch(t, path, many...)
	equal(t, "code of 1,001 records is not 200", a.Code != http.StatusOK, true)
	key := school.Unique("subject")
	a = school.Admin().Do(t, http.MethodPost, path, fmt.Sprintf("{\"key\":%q,\"name\":\"x\"}\n{\n", key),
		"Content-Type", "application/x-ndjson")
	a.Want(t, http.StatusBadRequest, `{"status":"Bad request","message":"line 2: Bad request: not a JSON object"}`)
	school.Admin().Get(t, "/api/admin/elements?key=Subject:"+strings.ReplaceAll(key, " ", "%20")).Want(t, http.StatusOK,
		`{"status":"OK","elements":[],"next":null}`)
	school.ImportBatch(t, path).Want(t, http.StatusOK,
		`{"status":"OK","created":0,"updated":0,"unchanged":0,"failed":0,"records":[]}`)
}

// Two imports that bring the same rows in opposite orders at once don't wait for each other. Each new row is created by
// one and unchanged for the other, each changed row is updated, in the order of its request.
func TestAdministration_ImportsOfTheSameKeysInOppositeOrder(t *testing.T) {
	proves(t, "administration import")
	const rows = 150
	keys := make([]string, rows)
	for i := range keys {
		keys[i] = fmt.Sprintf("%s %03d", school.Unique("import"), i)
	}
	group, event := keys[0], school.Unique("event")
	school.Import(t, "events", object{"key": event, "body": event, "category": school.Category.Name,
		"starts_at": "2019-04-10 09:00", "ends_at": "2019-04-10 10:00"})
	named := func(key, more string) object { return object{"name": key + more} }
	for _, of := range []struct {
		kind string
		row  func(key, more string) object
	}{
		{"groups", named},
		{"locations", named},
		{"memberships", func(key, more string) object {
			return object{"key": "Group:" + group + "/Location:" + key, "group": group,
				"member": "Location:" + key, "spans": []any{object{"last_day": "2099-12-3" + more}}}
		}},
		{"users", func(key, more string) object {
			address := strings.ReplaceAll(key, " ", ".") + "@school.example"
			return object{"name": key + more, "email": address, "kind": "staff"}
		}},
		{"eventcategories", named},
		{"events", func(key, more string) object {
			return object{"body": key + more, "category": school.Category.Name,
				"starts_at": "2019-04-10 09:00", "ends_at": "2019-04-10 10:00", "elements": []string{"Location:" + key}}
		}},
		{"notes", func(key, more string) object {
			return object{"event": event, "contents": key + more}
		}},
	} {
		for round, more := range []string{"0", "1"} {
			batch := make([]object, rows)
			for i, key := range keys {
				batch[i] = of.row(key, more)
				if batch[i]["key"] == nil {
					batch[i]["key"] = key
				}
			}
			back := slices.Clone(batch)
			slices.Reverse(back)
			var answers [2]imported
			var wg sync.WaitGroup
			for i, records := range [][]object{batch, back} {
				wg.Go(func() {
					answers[i] = decode[imported](t, school.ImportBatch(t, "/api/admin/import/"+of.kind, records...))
					equal(t, "status of an import of "+of.kind, answers[i].Status, "OK")
				})
			}
			wg.Wait()
			equal(t, of.kind+" that failed", answers[0].Failed+answers[1].Failed, 0)
			equal(t, of.kind+" created", answers[0].Created+answers[1].Created, rows*(1-round))
			if round == 0 {
				equal(t, of.kind+" unchanged", answers[0].Unchanged+answers[1].Unchanged, rows)
			}
			if len(answers[0].Records) != rows || len(answers[1].Records) != rows {
				t.Fatalf("imports of %s were not done", of.kind)
			}
			slices.Reverse(answers[1].Records)
			for i, first := range answers[0].Records {
				second := answers[1].Records[i]
				equal(t, "one row of "+of.kind, fmt.Sprint(second.Key, second.ID), fmt.Sprint(first.Key, first.ID))
			}
		}
	}
	for _, key := range []string{keys[0], keys[rows-1]} { // what the last imports said is stored
		a := school.Admin().Get(t, "/api/admin/elements?key=Location:"+url.QueryEscape(key))
		equal(t, "name of "+key, a.At(t, "elements.0.name"), fmt.Sprintf("%q", key+"1"))
	}
}

// imported is the answer to an import.
type imported struct {
	Status                     string
	Created, Unchanged, Failed int
	Records                    []struct {
		Key string
		ID  int64
	}
}
