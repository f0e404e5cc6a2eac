package api_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

func TestPart4_2_CreateAndGetToTheLetter(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	a := owner.Post(t, "/api/events", map[string]any{
		"event":    s.fields("body", "  Trip <to> & fro  ", "ends_at_text", "2026-09-07 10:30", "organiser_id", text(s.teacher)),
		"elements": []any{text(s.colleague), text(s.minibuses)},
	})
	var got created
	a.Decode(t, &got)
	e := got.Event
	if len(e.Commitments) != 1 || len(e.Requests) != 1 {
		t.Fatal(a.Body)
	}
	shared := fmt.Sprintf(`"id":%d,"body":"Trip \u003cto\u003e \u0026 fro","starts_at":"2026-09-07T09:00:00.000+01:00","ends_at":"2026-09-07T10:30:00.000+01:00","all_day":false,`+
		`"commitments":[{"id":%d,"status":"uncontrolled","element":{"id":%d,"name":"DEF - Dan Eve","entity_type":"Staff","entity_id":%d,"valid":true},"valid":true}],`+
		`"requests":[{"id":%d,"quantity":1,"num_allocated":0,"element":{"id":%d,"name":"Minibuses","entity_type":"Group","entity_id":%d,"valid":true},"valid":true}],`,
		e.ID, e.Commitments[0].ID, s.colleague, entityID(t, s.colleague), e.Requests[0].ID, s.minibuses, entityID(t, s.minibuses))
	a.Want(t, 200, `{"status":"Created","event":{`+shared+`"valid":true},"failures":[]}`)
	owner.Get(t, path("/api/events/%d", e.ID)).Want(t, 200, fmt.Sprintf(`{"status":"OK","event":{`+shared+
		`"owner":{"id":%d,"name":"owner","email":"owner@school.example","valid":true},`+
		`"organiser":{"id":%d,"name":"ABC - Anna Bell","entity_type":"Staff","entity_id":%d,"valid":true},"valid":true}}`,
		s.users["owner"], s.teacher, entityID(t, s.teacher)))
}

func entityID(t *testing.T, element int64) int64 {
	t.Helper()
	var got struct {
		Element struct {
			EntityID int64 `json:"entity_id"`
		}
	}
	system.Admin(t).Get(t, path("/api/elements/%d", element)).Decode(t, &got)
	return got.Element.EntityID
}

func TestPart4_2_Rule01_BodyCategoryAndStartAreNeeded(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	for _, c := range []struct{ field, reported, message string }{
		{"body", "body", "can't be blank"}, {"event_category_id", "event_category_id", "can't be blank"}, {"starts_at_text", "starts_at", "can't be blank"},
	} {
		a := owner.Post(t, "/api/events", map[string]any{"event": s.fields(c.field, nil), "elements": []any{}})
		wantInvalid(t, a, "event", c.reported, c.message)
	}
	owner.Post(t, "/api/events", map[string]any{"event": map[string]any{}}).Want(t, 422,
		`{"status":"Unprocessable entity","event":{"id":null,"body":"","starts_at":null,"ends_at":null,"all_day":false,"valid":false,`+
			`"errors":{"body":["can't be blank"],"event_category_id":["can't be blank"],"starts_at":["can't be blank"]}}}`)
}

func TestPart4_2_Rule02_ElementsAreProcessedInOrder(t *testing.T) {
	s := loadSchool(t)
	got := book(t, s.as(t, "owner"), s.fields(), text(s.room), text(s.teacher), text(s.set))
	want := []int64{s.room, s.teacher, s.set}
	for i, c := range got.Event.Commitments {
		if c.Element.ID != want[i] || i > 0 && c.ID <= got.Event.Commitments[i-1].ID {
			t.Errorf("commitment %d is %+v, want element %d and rising ids", i, c, want[i])
		}
	}
	if len(got.Event.Commitments) != 3 {
		t.Errorf("%d commitments", len(got.Event.Commitments))
	}
}

func TestPart4_2_Rule03_OrdinaryElementsYieldCommitments(t *testing.T) {
	s := loadSchool(t)
	got := book(t, s.as(t, "owner"), s.fields(), text(s.teacher), text(s.calendar), text(s.minibus), text(s.leaver))
	for i, want := range []string{"uncontrolled", "requested", "uncontrolled", "uncontrolled"} {
		if got.Event.Commitments[i].Status != want {
			t.Errorf("commitment %d is %s, want %s", i, got.Event.Commitments[i].Status, want)
		}
	}
	if got := book(t, s.as(t, "keeper"), s.fields(), text(s.calendar)); got.Event.Commitments[0].Status != "uncontrolled" {
		t.Errorf("the calendar's administrator gets %s, want uncontrolled", got.Event.Commitments[0].Status)
	}
	if got := book(t, s.as(t, "admin"), s.fields(), text(s.calendar)); got.Event.Commitments[0].Status != "requested" {
		t.Errorf("an admin who does not administer the calendar gets %s, want requested", got.Event.Commitments[0].Status)
	}
}

func TestPart4_2_Rule04_ResourceGroupsYieldRequests(t *testing.T) {
	s := loadSchool(t)
	got := book(t, s.as(t, "owner"), s.fields(), s.minibuses).Event
	if len(got.Commitments) != 0 || len(got.Requests) != 1 || got.Requests[0].Quantity != 1 || got.Requests[0].NumAllocated != 0 || got.Requests[0].Element.ID != s.minibuses {
		t.Errorf("got %+v", got)
	}
}

func TestPart4_2_Rule05_RepeatedResourceGroupRaisesQuantity(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	first := book(t, owner, s.fields(), text(s.minibuses), text(s.teacher), text(s.minibuses))
	if len(first.Event.Requests) != 1 || first.Event.Requests[0].Quantity != 2 || len(first.Failures) != 0 {
		t.Fatalf("got %+v", first)
	}
	again := add(t, owner, first.Event.ID, text(s.minibuses))
	if len(again.Event.Requests) != 1 || again.Event.Requests[0].Quantity != 3 || again.Event.Requests[0].ID != first.Event.Requests[0].ID {
		t.Errorf("got %+v", again)
	}
}

func TestPart4_2_Rule06_TheStatusStandsWhenAdditionsFail(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	got := book(t, owner, s.fields(), "none")
	if len(got.Failures) != 1 || got.Event.ID == 0 {
		t.Errorf("create: %+v", got)
	}
	if got := add(t, owner, got.Event.ID, "none", "0"); len(got.Failures) != 2 {
		t.Errorf("add: %+v", got)
	}
}

func TestPart4_2_Rules07_08_09_FailuresToTheLetter(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	a := owner.Post(t, "/api/events", map[string]any{"event": s.fields(), "elements": []any{
		text(s.calendar), text(s.calendar), "99999999", "Room 1", text(s.teacher), s.teacher, "01", "", nil, []int{1}, 1.5, true}})
	var got created
	a.Decode(t, &got)
	element := func(id int64, name, kind string) string {
		return fmt.Sprintf(`"element":{"id":%d,"name":%q,"entity_type":%q,"entity_id":%d,"valid":true}`, id, name, kind, entityID(t, id))
	}
	hash := func(index int, value string) string {
		return fmt.Sprintf(`,{"index":%d,"element_id":%q,"item_type":"Hash","item":{"status":"Not found"}}`, index, value)
	}
	want := fmt.Sprintf(`"failures":[{"index":1,"element_id":"%d","item_type":"Commitment","item":{"id":null,"status":"requested",%s,"valid":false,"errors":{"element_id":["has already been taken"]}}}`,
		s.calendar, element(s.calendar, "Public calendar", "Property")) +
		hash(2, "99999999") + hash(3, "Room 1") +
		fmt.Sprintf(`,{"index":5,"element_id":"%d","item_type":"Commitment","item":{"id":null,"status":"uncontrolled",%s,"valid":false,"errors":{"element_id":["has already been taken"]}}}`,
			s.teacher, element(s.teacher, "ABC - Anna Bell", "Staff")) +
		hash(6, "01") + hash(7, "") + hash(8, "null") + hash(9, "[1]") + hash(10, "1.5") + hash(11, "true") + `]}`
	if len(a.Body) < len(want) || a.Body[len(a.Body)-len(want):] != want {
		t.Errorf("got  %s\nwant …%s", a.Body, want)
	}
	if n := len(got.Event.Commitments); n != 2 {
		t.Errorf("%d commitments, want 2", n)
	}
}

func TestPart4_2_Rule08_AnElementAlreadyOnTheEventFails(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	e := book(t, owner, s.fields(), text(s.teacher)).Event
	got := add(t, owner, e.ID, text(s.teacher), text(s.room))
	if len(got.Failures) != 1 || got.Failures[0].ItemType != "Commitment" || got.Failures[0].Item.Errors["element_id"][0] != "has already been taken" || got.Failures[0].Item.ID != nil {
		t.Errorf("failures %+v", got.Failures)
	}
	if len(got.Event.Commitments) != 2 {
		t.Errorf("commitments %+v", got.Event.Commitments)
	}
}

func TestPart4_2_Rule10_PatchNeedsEditRightsAndChangesOnlyBasicFields(t *testing.T) {
	s := loadSchool(t)
	e := book(t, s.as(t, "owner"), s.fields("organiser_id", s.teacher), text(s.room)).Event
	for _, user := range []string{"nobody", "organiser", "keeper"} {
		s.as(t, user).Patch(t, path("/api/events/%d", e.ID), map[string]any{"event": map[string]any{"body": "x"}}).Want(t, 403, `{"status":"Forbidden"}`)
	}
	for _, user := range []string{"owner", "editor", "admin"} {
		c := s.as(t, user)
		a := c.Patch(t, path("/api/events/%d", e.ID), map[string]any{"event": map[string]any{"body": "by " + user, "commitments": []any{}, "owner_id": 1}, "elements": []any{}})
		a.Want(t, 200, c.Get(t, path("/api/events/%d", e.ID)).Body)
		got := get(t, c, e.ID).Event
		if got.Body != "by "+user || got.StartsAt != e.StartsAt || len(got.Commitments) != 1 || got.Owner.ID != s.users["owner"] || got.Organiser == nil {
			t.Errorf("after %s: %+v", user, got)
		}
	}
	c := s.as(t, "owner")
	a := c.Put(t, path("/api/events/%d", e.ID), map[string]any{"event": map[string]any{"organiser_id": nil, "starts_at_text": "2026-09-08 11:00", "ends_at_text": "2026-09-08 12:00", "eventcategory_id": s.trip}})
	a.Want(t, 200, c.Get(t, path("/api/events/%d", e.ID)).Body)
	if got := get(t, c, e.ID).Event; got.Organiser != nil || got.StartsAt != "2026-09-08T11:00:00.000+01:00" {
		t.Errorf("after PUT: %+v", got)
	}
}

func TestPart4_2_Rule11_DeletingAnEventDeletesItsCommitmentsRequestsAndNotes(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	e := book(t, owner, s.fields(), text(s.room), text(s.minibuses)).Event
	var note struct{ Note struct{ ID int64 } }
	owner.Post(t, path("/api/events/%d/notes", e.ID), map[string]any{"note": map[string]any{"contents": "x"}}).Decode(t, &note)

	for _, user := range []string{"nobody", "organiser", "keeper"} {
		s.as(t, user).Delete(t, path("/api/events/%d", e.ID)).Want(t, 403, `{"status":"Forbidden"}`)
	}
	owner.Delete(t, path("/api/events/%d", e.ID)).Want(t, 200, `{"status":"OK"}`)

	gone := fmt.Sprintf(`{"status":"Not found","exception":"RecordNotFound","message":"Couldn't find Event with 'id'=%d"}`, e.ID)
	owner.Get(t, path("/api/events/%d", e.ID)).Want(t, 404, gone)
	owner.Delete(t, path("/api/events/%d", e.ID)).Want(t, 404, gone)
	owner.Patch(t, path("/api/events/%d", e.ID), map[string]any{"event": map[string]any{"body": "x"}}).Want(t, 404, gone)
	owner.Post(t, path("/api/events/%d/add", e.ID), map[string]any{"elements": []any{s.room}}).Want(t, 404, gone)
	owner.Get(t, path("/api/events/%d/notes", e.ID)).Want(t, 404, gone)
	owner.Delete(t, path("/api/commitments/%d", e.Commitments[0].ID)).Want(t, 400,
		fmt.Sprintf(`{"status":"Bad request","exception":"RecordNotFound","message":"Couldn't find Commitment with 'id'=%d"}`, e.Commitments[0].ID))
	owner.Delete(t, path("/api/requests/%d", e.Requests[0].ID)).Want(t, 404,
		fmt.Sprintf(`{"status":"Not found","exception":"RecordNotFound","message":"Couldn't find Request with 'id'=%d"}`, e.Requests[0].ID))
	owner.Get(t, path("/api/notes/%d", note.Note.ID)).Want(t, 404,
		fmt.Sprintf(`{"status":"Not found","exception":"RecordNotFound","message":"Couldn't find Note with 'id'=%d"}`, note.Note.ID))
	if got := day(t, owner, s.room, "2026-09-07"); slices.Contains(got, e.ID) {
		t.Error("the event is still in the room's day")
	}
}

func TestPart4_2_Rule12_DeletingAMissingCommitmentIsABadRequest(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	owner.Delete(t, "/api/commitments/99999999").Want(t, 400,
		`{"status":"Bad request","exception":"RecordNotFound","message":"Couldn't find Commitment with 'id'=99999999"}`)
	e := book(t, owner, s.fields(), s.room).Event
	owner.Delete(t, path("/api/commitments/%d", e.Commitments[0].ID)).Want(t, 200, `{"status":"OK"}`)
	if a := owner.Delete(t, path("/api/commitments/%d", e.Commitments[0].ID)); a.Code != 400 {
		t.Errorf("the second time: %d %s", a.Code, a.Body)
	}
	if got := get(t, owner, e.ID); len(got.Event.Commitments) != 0 {
		t.Errorf("it is still there: %+v", got)
	}
}

func TestPart4_2_Rule13_DeletingARequest(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	e := book(t, owner, s.fields(), s.minibuses, s.room).Event
	s.as(t, "nobody").Delete(t, path("/api/requests/%d", e.Requests[0].ID)).Want(t, 403, `{"status":"Forbidden"}`)
	s.as(t, "driver").Delete(t, path("/api/requests/%d", e.Requests[0].ID)).Want(t, 200, `{"status":"OK"}`)
	if got := get(t, owner, e.ID).Event; len(got.Requests) != 0 || len(got.Commitments) != 1 {
		t.Errorf("left: %+v", got)
	}
}

// day returns the ids of the events in an element's day.
func day(t *testing.T, c *servicetest.Client, element int64, date string) []int64 {
	t.Helper()
	var got struct {
		Commitments []struct{ Event struct{ ID int64 } }
	}
	a := c.Get(t, path("/api/elements/%d/commitments?start_date=%s", element, date))
	a.Decode(t, &got)
	if a.Code != 200 {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	var ids []int64
	for _, commitment := range got.Commitments {
		ids = append(ids, commitment.Event.ID)
	}
	return ids
}
