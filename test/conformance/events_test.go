package conformance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

func TestPart4_2_AnEventWithoutElements(t *testing.T) {
	proves(t, "4.2 POST events: creates: status Created, the event, failures", "4.2 body: body is the title",
		"2.3 fields", "2.3 commitments and requests", "decisions 1 escapes", "decisions 1 empty lists")
	c := school.Booker(t)
	body := school.Unique("Lesson <i>&\u2028 Größe")
	a := school.Event(t, c, object{"body": body, "all_day_field": true, "starts_at_text": "2019-04-10",
		"ends_at_text": nil})
	school.Golden(t, a, http.StatusOK, "event_empty.json", "40001", a.Int(t, "event.id"), "Sample lesson", body)
	a = c.Post(t, "/api/events", object{"event": object{"body": body,
		"event_category_id": school.Category.ID, "all_day": true, "starts_at": "2019-04-10", "ends_at": "2019-04-11"}})
	// the key left out
	school.Golden(t, a, http.StatusOK, "event_empty.json", "40001", a.Int(t, "event.id"), "Sample lesson", body)
	a = add(t, c, a.Int(t, "event.id"))
	school.Golden(t, a, http.StatusOK, "event_empty.json", "40001", a.Int(t, "event.id"), "Sample lesson", body,
		"Created", "OK")
}

// statuses returns the statuses of an event's commitments.
func statuses(t *testing.T, a servicetest.Answer) string {
	t.Helper()
	return strings.Join(a.Texts(t, "event.commitments.#.status"), " ")
}

// wantInvalid fails the test unless the answer is 422 with an event with that id and those errors.
func wantInvalid(t *testing.T, a servicetest.Answer, id, errors string) {
	t.Helper()
	a.WantCode(t, http.StatusUnprocessableEntity)
	if a.Code != http.StatusUnprocessableEntity {
		return
	}
	equal(t, a.Request+": the status", a.Text(t, "status"), "Unprocessable entity")
	equal(t, a.Request+": the event's id", a.At(t, "event.id"), id)
	equal(t, a.Request+": the event's errors", a.At(t, "event.errors"), errors)
	equal(t, a.Request+": the event ends with valid and errors", strings.HasSuffix(a.Keys(t, "event"), ",valid,errors"),
		true)
	equal(t, a.Request+": the event is valid", a.At(t, "event.valid"), false)
}

func TestPart4_2_Rule01_BodyCategoryAndStartAreNeeded(t *testing.T) {
	proves(t, "4.2 rule 1: without body, category or start, creation fails", "decisions 1 422",
		"decisions 4 errors body", "decisions 4 errors category", "decisions 4 errors starts_at",
		"decisions 4 no start")
	c, room := school.Booker(t), school.Location(t)
	c.Post(t, "/api/events", object{"event": object{}}).Want(t, http.StatusUnprocessableEntity,
		`{"status":"Unprocessable entity","event":{"id":null,"body":"","starts_at":null,"ends_at":null,`+
			`"all_day":false,"valid":false,`+
			`"errors":{"body":["can't be blank"],"event_category_id":["can't be blank"],`+
			`"starts_at":["can't be blank"]}}}`)
	for field, errors := range map[string]string{
		"body": `{"body":["can't be blank"]}`, "event_category_id": `{"event_category_id":["can't be blank"]}`,
		"starts_at_text": `{"starts_at":["can't be blank"]}`,
	} {
		for _, value := range []any{nil, "", " "} {
			if field == "event_category_id" && value == " " {
				continue // no number: "must exist", elsewhere
			}
			wantInvalid(t, school.TryEvent(t, c, object{field: value}, room), "null", errors)
		}
	}
	equal(t, "what came of them", listed(t, on(t, c, room, "start_date=2019-04-10")), "")
}

func TestPart4_2_CategoryAndOrganiserAreStringsOrIntegers(t *testing.T) {
	proves(t, "4.2 event_category_id: the category, as string or integer",
		"4.2 organiser_id: the element id of a member of staff, as string or integer",
		"decisions 1 ids in bodies: ids in bodies are numbers or strings of digits")
	c, staff := school.Booker(t), school.Staff(t)
	for _, category := range []any{school.Category.ID, strconv.FormatInt(school.Category.ID, 10)} {
		for _, organiser := range []any{staff.ID, staff.Sent()} {
			a := school.Event(t, c, object{"event_category_id": category, "organiser_id": organiser})
			equal(t, "the organiser", c.Get(t, pathIn(t, a)).At(t, "event.organiser"), staff.List())
		}
	}
	// It is the element's id, not the entity's. Where they differ, the entity's id is that of no element, or of
	// another one.
	if staff.EntityID != staff.ID {
		a := school.TryEvent(t, c, object{"organiser_id": staff.EntityID})
		if a.Code == http.StatusOK {
			equal(t, "the organiser by entity id is the member of staff",
				c.Get(t, pathIn(t, a)).At(t, "event.organiser") == staff.List(), false)
		}
	}
}

func TestDecisionsPart4_BothSpellingsOfTheCategory(t *testing.T) {
	proves(t, "decisions 4 both spellings: event_category_id and eventcategory_id; both given must agree, else 422")
	c, one, other := school.Booker(t), school.Category.ID, school.category(t, nil)
	school.Event(t, c, object{"event_category_id": nil, "eventcategory_id": one})
	school.Event(t, c, object{"event_category_id": nil, "eventcategory_id": fmt.Sprint(one)})
	school.Event(t, c, object{"event_category_id": one, "eventcategory_id": fmt.Sprint(one)})
	a := school.TryEvent(t, c, object{"event_category_id": one, "eventcategory_id": other})
	a.WantCode(t, http.StatusUnprocessableEntity)
	equal(t, "the field that is wrong", a.Keys(t, "event.errors"), "event_category_id")
	wantInvalid(t, school.TryEvent(t, c, object{"event_category_id": nil, "eventcategory_id": noSuchID}),
		"null", `{"event_category_id":["must exist"]}`)
	path := pathIn(t, school.Event(t, c, nil))
	c.Patch(t, path, object{"event": object{"eventcategory_id": other}}).WantCode(t, http.StatusOK)
	c.Patch(t, path, object{"event": object{"event_category_id": one,
		"eventcategory_id": other}}).WantCode(t, http.StatusUnprocessableEntity)
}

func TestDecisionsPart4_ErrorsUseTheNamesOfTheAPI(t *testing.T) {
	proves(t, `decisions 4 errors body: body: "can't be blank"`,
		`decisions 4 errors category: event_category_id: "can't be blank", "must exist"`,
		`decisions 4 errors organiser: organiser_id: "must be a staff element"`, "decisions 1 422")
	c, room, pupil, group := school.Booker(t), school.Location(t), school.Pupil(t), school.Group(t)
	for _, fault := range []struct {
		field  string
		value  any
		errors string
	}{
		{"event_category_id", noSuchID, `{"event_category_id":["must exist"]}`},
		{"event_category_id", "lesson", `{"event_category_id":["must exist"]}`},
		{"event_category_id", 0, `{"event_category_id":["must exist"]}`},
		{"event_category_id", -1, `{"event_category_id":["must exist"]}`},
		{"event_category_id", []any{}, `{"event_category_id":["must exist"]}`},
		{"organiser_id", room.ID, `{"organiser_id":["must be a staff element"]}`},
		{"organiser_id", pupil.Sent(), `{"organiser_id":["must be a staff element"]}`},
		{"organiser_id", group.ID, `{"organiser_id":["must be a staff element"]}`},
		{"organiser_id", noSuchID, `{"organiser_id":["must be a staff element"]}`},
		{"organiser_id", "JRS", `{"organiser_id":["must be a staff element"]}`},
	} {
		wantInvalid(t, school.TryEvent(t, c, object{fault.field: fault.value}), "null", fault.errors)
	}
	for _, fault := range []struct {
		fields object
		errors string
	}{
		{object{"starts_at": "2019-04-10", "starts_at_text": "2019-04-10"},
			`{"starts_at":["can't mix all_day_field, starts_at_text, ends_at_text with all_day, starts_at, ends_at"]}`},
		{object{"starts_at_text": 20190410}, `{"starts_at":["is not a date"]}`},
		{object{"ends_at_text": "later"}, `{"ends_at":["is not a date"]}`},
		{object{"all_day_field": "maybe"}, `{"all_day":["is not true or false"]}`},
		{object{"all_day": true, "starts_at": "2019-04-10 09:00", "ends_at": "2019-04-11"},
			`{"starts_at":["is not a date"]}`},
		{object{"all_day": true, "starts_at": "2019-04-10", "ends_at": "2019-04-10"},
			`{"ends_at":["is before the start"]}`},
		{object{"body": 7}, `{"body":["is not a string"]}`},
		{object{"body": strings.Repeat("é", 4097)}, `{"body":["is too long (maximum is 4096 characters)"]}`},
	} {
		wantInvalid(t, school.TryEvent(t, c, fault.fields), "null", fault.errors)
	}
	all := school.TryEvent(t, c, object{"body": "", "event_category_id": noSuchID, "organiser_id": room.ID,
		"starts_at_text": "x"})
	wantInvalid(t, all, "null", `{"body":["can't be blank"],"event_category_id":["must exist"],`+
		`"organiser_id":["must be a staff element"],"starts_at":["is not a date"]}`)
	made := school.Event(t, c, object{"body": "stays"})
	path := pathIn(t, made)
	a := c.Patch(t, path, object{"event": object{"body": " ", "organiser_id": room.ID}})
	wantInvalid(t, a, made.At(t, "event.id"), `{"body":["can't be blank"],"organiser_id":["must be a staff element"]}`)
	equal(t, "the title after a change that failed", c.Get(t, path).Text(t, "event.body"), "stays")
}

// TestDecisionsPart4_TitlesAndNamesAreSeenAndHoldNoControlCharacters: wherever one comes in. Notes may have lines.
func TestDecisionsPart4_TitlesAndNamesAreSeenAndHoldNoControlCharacters(t *testing.T) {
	proves(t, "decisions 4 titles: no control characters, and something that can be seen, in titles, names and reasons")
	c, admin, key := school.Booker(t), school.Admin(), school.Unique("unseen")
	k, calendar := school.keeper(t)
	made := school.Event(t, c, nil, calendar)
	event := pathIn(t, made)
	row := func(kind, field string, fields object) func(text string) servicetest.Answer {
		fields["key"] = key
		return func(text string) servicetest.Answer {
			fields[field] = text
			return school.ImportBatch(t, "/api/admin/import/"+kind, fields)
		}
	}
	for _, in := range []struct {
		errors string
		send   func(text string) servicetest.Answer
	}{
		{"event.errors.body", func(text string) servicetest.Answer {
			return school.TryEvent(t, c, object{"body": text})
		}},
		{"event.errors.body", func(text string) servicetest.Answer {
			return c.Patch(t, event, wrapped("event", "body", text))
		}},
		{"commitment.errors.reason", func(text string) servicetest.Answer {
			return k.Patch(t, commitmentIn(t, made, 0),
				object{"commitment": object{"status": "confirmed", "reason": text}})
		}},
		{"note.errors.contents", func(text string) servicetest.Answer {
			return k.Post(t, event+"/notes", wrapped("note", "contents", text))
		}},
		{"element.errors.name", func(text string) servicetest.Answer {
			return admin.Post(t, "/api/admin/elements", object{"element": object{
				"entity_type": "Location", "name": text}})
		}},
		{"user.errors.name", func(text string) servicetest.Answer {
			return admin.Post(t, "/api/admin/users", object{"user": object{"name": text,
				"email": "someone@school.example"}})
		}},
		{"eventcategory.errors.name", func(text string) servicetest.Answer {
			return admin.Post(t, "/api/admin/eventcategories", wrapped("eventcategory", "name", text))
		}},
		{"records.0.errors.body", row("events", "body", object{"category": school.Category.Name,
			"starts_at": "2019-04-10", "ends_at": "2019-04-11", "all_day": true})},
		{"records.0.errors.contents", row("notes", "contents", object{"event": key})},
		{"records.0.errors.name", row("locations", "name", object{})},
		{"records.0.errors.surname", row("pupils", "surname", object{"forename": "A"})},
		{"records.0.errors.name", row("users", "name", object{"email": "someone@school.example"})},
		{"records.0.errors.name", row("eventcategories", "name", object{})},
	} {
		for text, want := range map[string]string{
			"a\x00b": `["has a control character"]`, "\u200b\u2060": `["has no visible character"]`,
		} {
			a := in.send(text)
			equal(t, fmt.Sprintf("%s of %q", a.Request, text), a.At(t, in.errors), want)
		}
	}
	lines := "one\n\ttwo"
	k.Post(t, event+"/notes", wrapped("note", "contents", lines)).
		Equal(t, "note.contents", quoted(lines))
	wantInvalid(t, school.TryEvent(t, c, object{"body": lines}), "null", `{"body":["has a control character"]}`)
}

func TestDecisionsPart4_BodyHas1To4096CharactersAfterTrimming(t *testing.T) {
	proves(t, "decisions 4 body length: 1 to 4,096 characters after trimming", "decisions 4 errors body")
	c := school.Booker(t)
	for _, body := range []string{"x", strings.Repeat("x", 4096), strings.Repeat("é", 4096),
		strings.Repeat("🚌", 4096)} {
		a := school.Event(t, c, object{"body": " \t\n" + body + "\n "})
		equal(t, "the title", c.Get(t, pathIn(t, a)).Text(t, "event.body") == body, true)
	}
	for _, body := range []any{strings.Repeat("x", 4097), strings.Repeat("é", 4097), "", " \t\n", 7, true, []any{"x"}} {
		a := school.TryEvent(t, c, object{"body": body})
		a.WantCode(t, http.StatusUnprocessableEntity)
		equal(t, "the field that is wrong", a.Keys(t, "event.errors"), "body")
	}
}

// jsonText returns a value as JSON.
func jsonText(v any) string {
	text, _ := json.Marshal(v) // plain values cannot fail
	return string(text)
}
