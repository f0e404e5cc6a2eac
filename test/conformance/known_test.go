package conformance_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
)

func TestClients_TheVersionIsToldWithoutLogin(t *testing.T) {
	proves(t, "clients version: GET /api/version without login: status and version")
	document := school.Client().Get(t, "/api/openapi.json").Must(t, http.StatusOK).Text(t, "info.version")
	for _, path := range []string{"/api/version", "/api/version.json"} {
		a := school.Client().Get(t, path).Must(t, http.StatusOK)
		equal(t, path+": the keys", a.Keys(t, ""), "status,version")
		equal(t, path+": the status", a.Text(t, "status"), "OK")
		equal(t, path+": the version", a.Text(t, "version"), document)
	}
}

func TestClients_ASwitchIsAPatchToo(t *testing.T) {
	proves(t, "clients PATCH session: PATCH /api/sessions/1 is PUT")
	su, other := school.User(t, "can_su"), school.User(t)
	c := school.Login(t, su)
	c.Patch(t, "/api/sessions/1", object{}).Want(t, http.StatusBadRequest,
		`{"status":"Bad request","message":"session is missing"}`)
	c.Patch(t, "/api/sessions/1", switchTo(other)).Want(t, http.StatusOK, okBody)
	isUser(t, c, &other, "after a switch by PATCH")
	c.Patch(t, "/api/sessions/1", switchTo(su)).Want(t, http.StatusOK, okBody)
	isUser(t, c, &su, "after a revert by PATCH")
	school.Login(t, other).Patch(t, "/api/sessions/1", switchTo(su)).Want(t, http.StatusForbidden, forbidden)
}

func TestClients_PathsMayEndInJSON(t *testing.T) {
	proves(t, "clients json: any path of the contract may end in .json: the same answer")
	c, room := school.Login(t, school.User(t, "can_su", "can_add_events", "can_add_notes")), school.Location(t)
	made := c.Post(t, "/api/events.json", school.booking(sent(room)))
	event := made.Must(t, http.StatusOK).Int(t, "event.id")
	path := eventPath(event)
	note := c.Post(t, path+"/notes.json", object{"note": object{"contents": "x"}}).
		Must(t, http.StatusOK).Int(t, "note.id")
	for _, asked := range [][2]string{ // the path, and the query
		{"/api/elements", "?name=" + url.QueryEscape(room.Name)}, {elementPath(room), ""},
		{elementPath(room) + "/commitments", "?start_date=2019-04-10"}, {elementPath(room) + "/requests", ""},
		{elementPath(room) + "/freebusy", "?start_date=2019-04-10"},
		{"/api/freebusy", fmt.Sprintf("?elements=%d&start_date=2019-04-10", room.ID)},
		{"/api/timetables", fmt.Sprintf("?elements=%d&start_date=2019-04-10", room.ID)},
		{path, ""}, {path + "/notes", ""}, {notePath(note), ""},
		{fmt.Sprintf("/notes/%d", note), ""}, {"/api/eventcategories", ""}, {"/api/commitments", ""},
		{"/api/requests", ""}, {"/api/users", "?email=unknown@school.example"}, {"/sessions/1/whoami", ""},
		{"/api/sessions/1/whoami", ""}, {eventPath(noSuchID), ""},
	} {
		plain := c.Get(t, asked[0]+asked[1])
		c.Get(t, asked[0]+".json"+asked[1]).Want(t, plain.Code, plain.Body)
	}
	c.Patch(t, path+".json", object{"event": object{"body": "Another"}}).Must(t, http.StatusOK).
		Equal(t, "event.body", `"Another"`)
	c.Delete(t, fmt.Sprintf("/notes/%d.json", note)).Want(t, http.StatusOK, okBody)
	a := c.Do(t, http.MethodPost, path+".json", object{})
	a.WantCode(t, http.StatusMethodNotAllowed)
	equal(t, "Allow", sortedList(a.Header.Get("Allow")), "DELETE, GET, HEAD, PATCH, PUT")
	c.Delete(t, path+".json").Want(t, http.StatusOK, okBody)
	c.Get(t, "/api/logout.json").Want(t, http.StatusOK, okBody)
	c.Get(t, "/sessions/1/whoami.json").WantCode(t, http.StatusUnauthorized)
}

func TestClients_PathsThatMayNotEndInJSON(t *testing.T) {
	proves(t,
		"clients json refused: paths of administration, of the document and of calendars may not end in .json, and "+
			"none twice")
	c, room := school.Admin(), school.Location(t)
	equal(t, "the document", c.Get(t, "/api/openapi.json").Must(t, http.StatusOK).Has("openapi"), true)
	for _, path := range []string{
		"/api/openapi.json.json", "/api/docs.json", "/api/admin/users.json", "/api/admin/elements/1.json",
		elementPath(room) + "/calendar.ics.json", elementPath(room) + ".json.json", "/api/elements/.json",
		elementPath(room) + ".xml", elementPath(room) + ".JSON", "/.json", "/api/nothing.json",
	} {
		c.Get(t, path).Want(t, http.StatusNotFound, `{"status":"Not found"}`)
	}
}
