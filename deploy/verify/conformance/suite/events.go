package suite

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// eventChecks are those of parts 2.2 to 2.4, 2.8, 3.1, 3.2 and 4.2 and of decisions, parts 4 and 5.
func eventChecks() []Check {
	return slices.Concat(eventFormChecks(), addingChecks(), changingChecks(), eventTimeChecks(), eventRightChecks(), decisionChecks(), allocationChecks(), parallelChecks())
}

func eventFormChecks() []Check {
	return []Check{
		prove("TestPart4_2_AnEventWithoutElements", eventWithoutElements, "4.2 POST events", "4.2 body", "2.3 fields", "2.3 commitments and requests", "decisions 1 escapes", "decisions 1 empty lists"),
		prove("TestPart2_3_OwnerAndOrganiserOnlyInGet", ownerAndOrganiser, "2.3 owner", "2.3 organiser", "4.2 organiser_id"),
		prove("TestPart2_8_NoAnswerShowsTheCategory", noCategory, "2.8 category"),
		prove("TestPart3_1_OnlyTheFiveStatuses", fiveStatuses, "3.1 values", "3.1 only two"),
		prove("TestPart4_2_Rule01_BodyCategoryAndStartAreNeeded", threeAreNeeded, "4.2 rule 1", "decisions 1 422", "decisions 4 errors body", "decisions 4 errors category",
			"decisions 4 errors starts_at", "decisions 4 no start"),
		prove("TestPart4_2_CategoryAndOrganiserAreStringsOrIntegers", stringsOrIntegers, "4.2 event_category_id", "4.2 organiser_id", "decisions 1 ids in bodies"),
		prove("TestDecisionsPart4_BothSpellingsOfTheCategory", bothSpellings, "decisions 4 both spellings"),
		prove("TestDecisionsPart4_ErrorsUseTheNamesOfTheAPI", errorNames, "decisions 4 errors body", "decisions 4 errors category", "decisions 4 errors organiser", "decisions 1 422"),
		prove("TestDecisionsPart4_BodyHas1To4096CharactersAfterTrimming", bodyLength, "decisions 4 body length", "decisions 4 errors body"),
		prove("TestPart4_2_MissingEventIsAnExceptionBody", missingEvent, "4.2 GET event", "decisions 1 exception", "decisions 1 404 records", "decisions 1 ids in paths"),
	}
}

func eventWithoutElements(t *T) {
	c := t.Booker()
	body := t.Unique("Lesson <i>&\u2028 Größe")
	a := t.Event(c, map[string]any{"body": body, "all_day_field": true, "starts_at_text": "2019-04-10", "ends_at_text": nil})
	t.Golden(a, http.StatusOK, "event_empty.json", "40001", a.Int("event.id"), "Sample lesson", body)
	a = c.Post("/api/events", map[string]any{"event": map[string]any{"body": body, "event_category_id": t.School.Category.ID, "all_day": true, "starts_at": "2019-04-10", "ends_at": "2019-04-11"}})
	t.Golden(a, http.StatusOK, "event_empty.json", "40001", a.Int("event.id"), "Sample lesson", body) // the key left out
	a = add(c, a.Int("event.id"))
	t.Golden(a, http.StatusOK, "event_empty.json", "40001", a.Int("event.id"), "Sample lesson", body, "Created", "OK")
}

func ownerAndOrganiser(t *T) {
	c, staff := t.Booker(), t.Staff()
	const short = "id,body,starts_at,ends_at,all_day,commitments,requests,valid"
	a := t.Event(c, map[string]any{"organiser_id": staff.Sent()})
	path := eventPath(a.Int("event.id"))
	t.Equal("keys on create", a.Keys("event"), short)
	t.Equal("keys on add", add(c, a.Int("event.id"), staff).Keys("event"), short)
	t.Equal("keys on get", t.As().Get(path).Keys("event"), "id,body,starts_at,ends_at,all_day,commitments,requests,owner,organiser,valid")
	t.Equal("the organiser", c.Get(path).At("event.organiser"), staff.List())
	a = t.Event(c, nil)
	t.Equal("keys on get without an organiser", c.Get(eventPath(a.Int("event.id"))).Keys("event"), "id,body,starts_at,ends_at,all_day,commitments,requests,owner,valid")
}

func noCategory(t *T) {
	c, room := t.Booker(), t.Location()
	a := t.Event(c, nil, room)
	path := eventPath(a.Int("event.id"))
	for _, a := range []Answer{a, c.Get(path), add(c, a.Int("event.id"), t.Staff()), c.Patch(path, map[string]any{"event": map[string]any{"event_category_id": t.School.Category.ID}}), on(c, room, "start_date=2019-04-10")} {
		t.Equal(a.request+" shows a category", strings.Contains(a.Must(http.StatusOK).Body, "category"), false)
	}
}

func fiveStatuses(t *T) {
	c, keeper, calendar := t.Booker(), t.User("can_add_events"), t.Property()
	t.Administrator(calendar, keeper)
	k := t.Login(keeper)
	a := t.Event(c, nil, calendar, t.Staff())
	t.Equal("created", statuses(a), "requested uncontrolled")
	id, path := a.Int("event.commitments.0.id"), eventPath(a.Int("event.id"))
	for _, status := range []string{"confirmed", "rejected", "noted"} {
		decide(k, id, status).Must(http.StatusOK)
		t.Equal("after the decision", statuses(c.Get(path)), status+" uncontrolled")
	}
	a = t.Event(c, nil)
	t.Equal("added", statuses(add(c, a.Int("event.id"), calendar, t.Location())), "requested uncontrolled")
}

// statuses are those of an event's commitments.
func statuses(a Answer) string {
	all := []string{}
	for _, c := range decode[booked](a).Event.Commitments {
		all = append(all, c.Status)
	}
	return strings.Join(all, " ")
}

// wantInvalid fails the check unless the answer is 422 with an event whose id and errors are these.
func (a Answer) wantInvalid(id, errors string) {
	a.WantCode(http.StatusUnprocessableEntity)
	if a.Code != http.StatusUnprocessableEntity {
		return
	}
	a.t.Equal(a.request+": the status", a.String("status"), "Unprocessable entity")
	a.t.Equal(a.request+": the event's id", a.At("event.id"), id)
	a.t.Equal(a.request+": the event's errors", a.At("event.errors"), errors)
	a.t.Equal(a.request+": the event ends with valid and errors", strings.HasSuffix(a.Keys("event"), ",valid,errors"), true)
	a.t.Equal(a.request+": the event is valid", a.At("event.valid"), false)
}

func threeAreNeeded(t *T) {
	c, room := t.Booker(), t.Location()
	c.Post("/api/events", map[string]any{"event": map[string]any{}}).Want(http.StatusUnprocessableEntity, `{"status":"Unprocessable entity","event":{"id":null,"body":"","starts_at":null,"ends_at":null,`+
		`"all_day":false,"valid":false,"errors":{"body":["can't be blank"],"event_category_id":["can't be blank"],"starts_at":["can't be blank"]}}}`)
	for field, errors := range map[string]string{
		"body": `{"body":["can't be blank"]}`, "event_category_id": `{"event_category_id":["can't be blank"]}`, "starts_at_text": `{"starts_at":["can't be blank"]}`,
	} {
		for _, value := range []any{nil, "", " "} {
			if field == "event_category_id" && value == " " {
				continue // no number: "must exist", elsewhere
			}
			t.TryEvent(c, map[string]any{field: value}, room).wantInvalid("null", errors)
		}
	}
	t.Equal("what came of them", listed(on(c, room, "start_date=2019-04-10")), "")
}

func stringsOrIntegers(t *T) {
	c, staff := t.Booker(), t.Staff()
	for _, category := range []any{t.School.Category.ID, strconv.FormatInt(t.School.Category.ID, 10)} {
		for _, organiser := range []any{staff.ID, staff.Sent()} {
			a := t.Event(c, map[string]any{"event_category_id": category, "organiser_id": organiser})
			t.Equal("the organiser", c.Get(eventPath(a.Int("event.id"))).At("event.organiser"), staff.List())
		}
	}
	// It is the element's id, not the entity's: that of a member of staff whose element has another id is nobody's, or somebody else's.
	if staff.EntityID != staff.ID {
		a := t.TryEvent(c, map[string]any{"organiser_id": staff.EntityID})
		if a.Code == http.StatusOK {
			t.Equal("the organiser by entity id is the member of staff", c.Get(eventPath(a.Int("event.id"))).At("event.organiser") == staff.List(), false)
		}
	}
}

func bothSpellings(t *T) {
	c, one, other := t.Booker(), t.School.Category.ID, t.category(nil)
	t.Event(c, map[string]any{"event_category_id": nil, "eventcategory_id": one})
	t.Event(c, map[string]any{"event_category_id": nil, "eventcategory_id": fmt.Sprint(one)})
	t.Event(c, map[string]any{"event_category_id": one, "eventcategory_id": fmt.Sprint(one)})
	a := t.TryEvent(c, map[string]any{"event_category_id": one, "eventcategory_id": other})
	a.WantCode(http.StatusUnprocessableEntity)
	t.Equal("the field that is wrong", a.Keys("event.errors"), "event_category_id")
	t.TryEvent(c, map[string]any{"event_category_id": nil, "eventcategory_id": noSuchID}).wantInvalid("null", `{"event_category_id":["must exist"]}`)
	path := eventPath(t.Event(c, nil).Int("event.id"))
	c.Patch(path, map[string]any{"event": map[string]any{"eventcategory_id": other}}).WantCode(http.StatusOK)
	c.Patch(path, map[string]any{"event": map[string]any{"event_category_id": one, "eventcategory_id": other}}).WantCode(http.StatusUnprocessableEntity)
}

func errorNames(t *T) {
	c, room, pupil, group := t.Booker(), t.Location(), t.Pupil(), t.Group()
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
		t.TryEvent(c, map[string]any{fault.field: fault.value}).wantInvalid("null", fault.errors)
	}
	all := t.TryEvent(c, map[string]any{"body": "", "event_category_id": noSuchID, "organiser_id": room.ID, "starts_at_text": "x"})
	all.wantInvalid("null", `{"body":["can't be blank"],"event_category_id":["must exist"],"organiser_id":["must be a staff element"],"starts_at":["is not a date"]}`)
	made := t.Event(c, map[string]any{"body": "stays"})
	path := eventPath(made.Int("event.id"))
	c.Patch(path, map[string]any{"event": map[string]any{"body": " ", "organiser_id": room.ID}}).
		wantInvalid(made.At("event.id"), `{"body":["can't be blank"],"organiser_id":["must be a staff element"]}`)
	t.Equal("the title after a change that failed", c.Get(path).String("event.body"), "stays")
}

func bodyLength(t *T) {
	c := t.Booker()
	for _, body := range []string{"x", strings.Repeat("x", 4096), strings.Repeat("é", 4096), strings.Repeat("🚌", 4096)} {
		a := t.Event(c, map[string]any{"body": " \t\n" + body + "\n "})
		t.Equal("the title", c.Get(eventPath(a.Int("event.id"))).String("event.body") == body, true)
	}
	for _, body := range []any{strings.Repeat("x", 4097), strings.Repeat("é", 4097), "", " \t\n", 7, true, []any{"x"}} {
		a := t.TryEvent(c, map[string]any{"body": body})
		a.WantCode(http.StatusUnprocessableEntity)
		t.Equal("the field that is wrong", a.Keys("event.errors"), "body")
	}
}

func missingEvent(t *T) {
	c := t.As("can_add_events", "can_add_notes", "edit_all_events")
	path := eventPath(noSuchID)
	want := missing("Not found", "Event", noSuchID)
	c.Get(path).Want(http.StatusNotFound, want)
	c.Patch(path, map[string]any{"event": map[string]any{}}).Want(http.StatusNotFound, want)
	c.Put(path, map[string]any{"event": map[string]any{}}).Want(http.StatusNotFound, want)
	c.Delete(path).Want(http.StatusNotFound, want)
	c.Post(path+"/add", map[string]any{"elements": []string{}}).Want(http.StatusNotFound, want)
	c.Get(path+"/notes").Want(http.StatusNotFound, want)
	c.Post(path+"/notes", map[string]any{"note": map[string]any{}}).Want(http.StatusNotFound, want)
	for _, id := range []string{"0", "01", "-1", "+1", "x", "1.0", "9223372036854775808", "%201"} {
		c.Get("/api/events/"+id).Want(http.StatusNotFound, `{"status":"Not found"}`)
	}
}

// jsonText is a value as JSON.
func jsonText(v any) string {
	text, _ := json.Marshal(v) // of plain values, which always can be
	return string(text)
}
