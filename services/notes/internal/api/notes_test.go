package api_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

var staffOnly = [3]bool{false, true, false}

func TestPart2_5_FormsOfANote(t *testing.T) {
	s := newSchool(t)
	author := s.clients["author"]
	const source, html = "a\nb\n\n<i>c</i> & \"d\"", "<p>a<br>\nb</p>\n\n<p>c &amp; &quot;d&quot;</p>\n"
	created := author.Post(t, fmt.Sprintf("/api/events/%d/notes", s.event), map[string]any{"note": map[string]any{"contents": source}})
	var reply struct{ Note struct{ ID int64 } }
	created.Decode(t, &reply)
	withoutParent := noteForm(reply.Note.ID, source, staffOnly, html, s.ownerForm("author"), "")
	withParent := noteForm(reply.Note.ID, source, staffOnly, html, s.ownerForm("author"), parentForm(s.event))

	created.Want(t, 200, ok("note", withoutParent))
	if !strings.Contains(created.Body, `"formatted_contents":"\u003cp\u003ea\u003cbr\u003e\nb\u003c/p\u003e\n\n\u003cp\u003ec \u0026amp; \u0026quot;d\u0026quot;\u003c/p\u003e\n"`) {
		t.Errorf("special characters are not escaped: %s", created.Body)
	}
	author.Get(t, fmt.Sprintf("/api/events/%d/notes", s.event)).Want(t, 200, ok("notes", "["+withoutParent+"]"))
	author.Get(t, fmt.Sprint("/api/notes/", reply.Note.ID)).Want(t, 200, ok("note", withParent))
	author.Put(t, fmt.Sprint("/api/notes/", reply.Note.ID), map[string]any{"note": map[string]any{}}).Want(t, 200, ok("note", withParent))
}

func TestDecisionsPart6_BothPathsServeAllMethods(t *testing.T) {
	s := newSchool(t)
	author := s.clients["author"]
	for i := range 2 {
		id := s.newNote(t, map[string]any{"contents": "a"})
		path, other := paths(id)[i], paths(id)[1-i]
		form := func(contents string) string {
			return ok("note", noteForm(id, contents, staffOnly, "<p>"+contents+"</p>\n", s.ownerForm("author"), parentForm(s.event)))
		}
		author.Get(t, path).Want(t, 200, form("a"))
		author.Do(t, "HEAD", path, nil).Want(t, 200, "")
		author.Put(t, path, `{"note":{"contents":"b"}}`).Want(t, 200, form("b"))
		author.Patch(t, path, `{"note":{"contents":"c"}}`).Want(t, 200, form("c"))
		author.Get(t, other).Want(t, 200, form("c"))
		author.Delete(t, path).Want(t, 200, `{"status":"OK"}`)
		author.Get(t, other).Want(t, 404, missing(id))
	}
}

func TestPart4_3_Rule01_AddingNotesNeedsPermissionOnAnyEvent(t *testing.T) {
	s := newSchool(t)
	path := fmt.Sprintf("/api/events/%d/notes", s.event)
	body := `{"note":{"contents":"a"}}`
	for _, key := range []string{"colleague", "pupil", "guest"} {
		s.clients[key].Post(t, path, body).Want(t, 403, forbidden)
	}
	// the event is the author's; the head, as an admin, may add notes
	if a := s.clients["head"].Post(t, path, body); a.Code != 200 || !strings.Contains(a.Body, `"owner":`+s.ownerForm("head")) {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

func TestPart4_3_Rule02_FieldsNotGivenKeepTheirValues(t *testing.T) {
	s := newSchool(t)
	author := s.clients["author"]
	id := s.newNote(t, map[string]any{"contents": "a", "visible_guest": true, "visible_staff": false})
	for _, step := range []struct {
		fields, contents, html string
		flags                  [3]bool
	}{
		{`{}`, "a", "<p>a</p>\n", [3]bool{true, false, false}},
		{`{"visible_pupil":true}`, "a", "<p>a</p>\n", [3]bool{true, false, true}},
		{`{"contents":"*b*"}`, "*b*", "<p><em>b</em></p>\n", [3]bool{true, false, true}},
		{`{"contents":null,"visible_guest":"false","id":5,"owner":null,"event_id":1}`, "*b*", "<p><em>b</em></p>\n", [3]bool{false, false, true}},
		{`{"contents":"","visible_staff":true}`, "", "", [3]bool{false, true, true}},
	} {
		want := ok("note", noteForm(id, step.contents, step.flags, step.html, s.ownerForm("author"), parentForm(s.event)))
		author.Put(t, paths(id)[0], `{"note":`+step.fields+`}`).Want(t, 200, want)
		author.Get(t, paths(id)[0]).Want(t, 200, want)
	}
}

func TestPart4_3_Rule03_OnlyTheOwnerChangesAndDeletes(t *testing.T) {
	s := newSchool(t)
	id := s.newNote(t, map[string]any{"contents": "a"}) // staff see it
	for key, want := range map[string]struct {
		code int
		body string
	}{"colleague": {403, forbidden}, "head": {403, forbidden}, "pupil": {404, missing(id)}, "guest": {404, missing(id)}} {
		for _, path := range paths(id) {
			// The right to change comes before what the change says.
			s.clients[key].Put(t, path, `{"note":{"contents":"b"}}`).Want(t, want.code, want.body)
			s.clients[key].Patch(t, path, `{"note":{"contents":5}}`).Want(t, want.code, want.body)
			s.clients[key].Delete(t, path).Want(t, want.code, want.body)
		}
	}
	if a := s.clients["author"].Get(t, paths(id)[0]); !strings.Contains(a.Body, `"contents":"a"`) {
		t.Errorf("the note has changed: %s", a.Body)
	}
}

func TestPart4_3_Rule04_DeletingADeletedNoteIsNotFound(t *testing.T) {
	s := newSchool(t)
	id := s.newNote(t, map[string]any{"contents": "a"})
	s.clients["author"].Delete(t, paths(id)[1]).Want(t, 200, `{"status":"OK"}`)
	for _, path := range paths(id) {
		s.clients["author"].Delete(t, path).Want(t, 404, missing(id))
		s.clients["author"].Get(t, path).Want(t, 404, missing(id))
		s.clients["author"].Put(t, path, `{"note":{}}`).Want(t, 404, missing(id))
	}
	s.clients["author"].Get(t, fmt.Sprintf("/api/events/%d/notes", s.event)).Want(t, 200, ok("notes", "[]"))
}

func TestDecisionsPart6_WhoSeesWhichNotes(t *testing.T) {
	s := newSchool(t)
	ids := map[string]int64{}
	for _, note := range []struct {
		name  string
		flags [3]bool
	}{{"nobody", [3]bool{}}, {"guests", [3]bool{true, false, false}}, {"staff", staffOnly}, {"pupils", [3]bool{false, false, true}}, {"all", [3]bool{true, true, true}}} {
		ids[note.name] = s.newNote(t, map[string]any{"contents": note.name, "visible_guest": note.flags[0], "visible_staff": note.flags[1], "visible_pupil": note.flags[2]})
	}
	order := []string{"nobody", "guests", "staff", "pupils", "all"}
	for viewer, seen := range map[string][]string{
		"author": order, "head": order, "colleague": {"staff", "all"}, "pupil": {"pupils", "all"}, "guest": {"guests", "all"},
	} {
		var list struct {
			Notes []struct {
				ID       int64
				Contents string
			}
		}
		s.clients[viewer].Get(t, fmt.Sprintf("/api/events/%d/notes", s.event)).Decode(t, &list)
		var listed []string
		for _, n := range list.Notes {
			listed = append(listed, n.Contents)
		}
		if strings.Join(listed, " ") != strings.Join(seen, " ") {
			t.Errorf("%s is listed %v, want %v", viewer, listed, seen)
		}
		for _, name := range order {
			code := 404
			for _, n := range seen {
				if n == name {
					code = 200
				}
			}
			a := s.clients[viewer].Get(t, paths(ids[name])[0])
			if a.Code != code {
				t.Errorf("%s gets %q: %d %s", viewer, name, a.Code, a.Body)
			}
			if code == 404 {
				a.Want(t, 404, missing(ids[name]))
			}
		}
	}
}

func TestDecisionsPart6_ContentsThatAreTooLongAreInvalid(t *testing.T) {
	s := newSchool(t)
	author := s.clients["author"]
	long := strings.Repeat("é", 65536)
	id := s.newNote(t, map[string]any{"contents": long})
	invalid := func(id, contents string, parent, errors string) string {
		return fmt.Sprintf(`{"status":"Unprocessable entity","note":{"id":%s,"contents":%s,"visible_guest":true,"visible_staff":true,"visible_pupil":false,"formatted_contents":"","owner":%s,%s"valid":false,"errors":%s}}`,
			id, quoted(contents), s.ownerForm("author"), parent, errors)
	}
	tooLong := `{"contents":["is too long (maximum is 65536 characters)"]}`
	body := map[string]any{"note": map[string]any{"contents": long + "!", "visible_guest": true}}
	author.Put(t, paths(id)[0], body).Want(t, 422, invalid(fmt.Sprint(id), long+"!", `"parent":`+parentForm(s.event)+`,`, tooLong))
	author.Post(t, fmt.Sprintf("/api/events/%d/notes", s.event), body).Want(t, 422, invalid("null", long+"!", "", tooLong))
	author.Patch(t, paths(id)[0], `{"note":{"contents":[],"visible_guest":true,"visible_pupil":7}}`).
		Want(t, 422, invalid(fmt.Sprint(id), long, `"parent":`+parentForm(s.event)+`,`, `{"contents":["is not a string"],"visible_pupil":["is not true or false"]}`))
	if a := author.Get(t, paths(id)[0]); !strings.Contains(a.Body, `"visible_guest":false`) {
		t.Error("an invalid change is stored")
	}
	// About the longest body that a client may send, of characters that JSON may write in six bytes, on its way through two services.
	raw := `{"note":{"visible_guest":true,"contents":"` + strings.Repeat("<", 1_000_000) + `"}}`
	author.Post(t, fmt.Sprintf("/api/events/%d/notes", s.event), raw).Want(t, 422, invalid("null", strings.Repeat("<", 1_000_000), "", tooLong))
}

func TestDecisionsPart1_RequestsThatCannotBeRead(t *testing.T) {
	s := newSchool(t)
	author := s.clients["author"]
	id := s.newNote(t, map[string]any{"contents": "a"})
	for _, path := range paths(id) {
		for _, body := range []string{``, `{`, `[]`, `{}`, `{"note":null}`, `{"note":[]}`, `{"note":"a"}`, `{"contents":"b"}`, `{"note":{}} x`} {
			for _, method := range []string{"PUT", "PATCH"} {
				if a := author.Do(t, method, path, body); a.Code != 400 || !strings.HasPrefix(a.Body, `{"status":"Bad request"`) {
					t.Errorf("%s %s: %d %s", method, body, a.Code, a.Body)
				}
			}
		}
		if a := author.Do(t, "PUT", path, `{"note":{}}`, "Content-Type", "text/plain"); a.Code != 415 {
			t.Errorf("%d %s", a.Code, a.Body)
		}
		if a := author.Post(t, path, `{"note":{}}`); a.Code != 405 || a.Header.Get("Allow") == "" {
			t.Errorf("%d %s, Allow %q", a.Code, a.Body, a.Header.Get("Allow"))
		}
		if a := system.Client(t).Get(t, path); a.Code != 401 || !strings.HasPrefix(a.Body, `{"status":"Access denied"`) {
			t.Errorf("%d %s", a.Code, a.Body)
		}
	}
	for _, path := range []string{"/api/notes/0", "/api/notes/01", "/api/notes/-1", "/api/notes/x", "/notes/9223372036854775808", "/notes/1.0", "/notes/%201", "/api/notes", "/notes/", "/api/notes/1/", "/api/Notes/1"} {
		if a := author.Get(t, path); a.Code != 404 || !strings.HasPrefix(a.Body, `{"status":"Not found"`) {
			t.Errorf("%s: %d %s", path, a.Code, a.Body)
		}
	}
	author.Get(t, "/api/notes/9223372036854775807").Want(t, 404, missing(9223372036854775807))
}

func TestPart4_3_ConcurrentChangesAreAllKept(t *testing.T) {
	s := newSchool(t)
	id := s.newNote(t, map[string]any{"contents": "a"})
	var wg sync.WaitGroup
	for _, body := range []string{`{"note":{"contents":"b"}}`, `{"note":{"visible_guest":true}}`, `{"note":{"visible_staff":false}}`, `{"note":{"visible_pupil":true}}`} {
		wg.Go(func() {
			if a := s.clients["author"].Put(t, paths(id)[0], body); a.Code != 200 {
				t.Errorf("%d %s", a.Code, a.Body)
			}
		})
	}
	wg.Wait()
	s.clients["author"].Get(t, paths(id)[0]).Want(t, 200,
		ok("note", noteForm(id, "b", [3]bool{true, false, true}, "<p>b</p>\n", s.ownerForm("author"), parentForm(s.event))))
}

func TestPart5_Rule08_TheEffectiveUserIsTheOwner(t *testing.T) {
	s := newSchool(t)
	id := s.newNote(t, map[string]any{"contents": "a"})
	head := s.clients["head"]
	head.Put(t, "/api/sessions/1", map[string]any{"session": map[string]any{"user_id": fmt.Sprint(s.ids["author"])}}).Want(t, 200, `{"status":"OK"}`)
	head.Delete(t, paths(id)[0]).Want(t, 200, `{"status":"OK"}`)
}
