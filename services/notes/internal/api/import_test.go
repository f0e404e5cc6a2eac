package api_test

import (
	"fmt"
	"testing"
)

const importPath = "/api/admin/import/notes"

func TestAdministration_ImportOfNotes(t *testing.T) {
	s := newSchool(t)
	head := s.clients["head"]
	events := head.Import(t, "events", map[string]any{
		"key": "drill", "body": "Fire drill", "category": "c", "starts_at": "2026-09-01 " +
			"09:00", "ends_at": "2026-09-01 10:00", "owner": "author"})
	event := events["drill"]
	own := map[string]any{"key": "own", "event": "drill", "contents": "*a*", "owner": "author", "visible_staff": false,
		"visible_guest": true}
	system := map[string]any{"key": "system", "event": "drill", "contents": "3 of 20 pupils are missing"}
	bad := map[string]any{"key": "bad", "event": "no such event", "contents": "a", "owner": "no such user"}

	head.ImportBatch(t, importPath+"?dry_run=true", own, system).Want(t, 200,
		`{"status":"OK","dry_run":true,"created":2,"updated":0,"unchanged":0,"failed":0,"records":[{"index":0,"key":"own","result":"created"},{"index":1,"key":"system","result":"created"}]}`)
	head.Get(t, fmt.Sprintf("/api/events/%d/notes", event)).Want(t, 200, ok("notes", "[]"))

	first := head.ImportBatch(t, importPath, own, bad, system)
	var reply struct{ Records []struct{ ID int64 } }
	first.Decode(t, &reply)
	a, b := reply.Records[0].ID, reply.Records[2].ID
	first.Want(t, 200, fmt.Sprintf(`{"status":"OK","created":2,"updated":0,"unchanged":0,"failed":1,"records":[`+
		`{"index":0,"key":"own","result":"created","id":%d},{"index":1,"key":"bad","result":"failed","errors":{"event":["must exist"],"owner":["must exist"]}},{"index":2,"key":"system","result":"created","id":%d}]}`, a, b))
	head.Get(t, fmt.Sprintf("/api/events/%d/notes", event)).Want(t, 200, ok("notes", "["+
		noteForm(a, "*a*", [3]bool{true, false, false}, "<p><em>a</em></p>\n", s.ownerForm("author"), "")+","+
		noteForm(b, "3 of 20 pupils are missing", staffOnly, "<p>3 of 20 pupils are missing</p>\n", "null", "")+"]"))

	own["contents"] = "b"
	head.ImportBatch(t, importPath, system, own).Want(t, 200, fmt.Sprintf(
		`{"status":"OK","created":0,"updated":1,"unchanged":1,"failed":0,"records":[{"index":0,"key":"system","result":"unchanged","id":%d},{"index":1,"key":"own","result":"updated","id":%d}]}`, b, a))
	s.clients["author"].Get(t, paths(a)[0]).Want(t, 200,
		ok("note", noteForm(a, "b", [3]bool{true, false, false}, "<p>b</p>\n", s.ownerForm("author"),
			parentForm(event))))

	// decisions, part 6: the system alone changes and removes its notes
	head.Put(t, paths(b)[0], `{"note":{"contents":"c"}}`).Want(t, 403, forbidden)
	head.Delete(t, paths(b)[0]).Want(t, 403, forbidden)
	s.clients["colleague"].Get(t, paths(b)[0]).Want(t, 200,
		ok("note", noteForm(b, "3 of 20 pupils are missing", staffOnly, "<p>3 of 20 pupils are missing</p>\n", "null",
			parentForm(event))))
}
