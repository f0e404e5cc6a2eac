package api_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestDecisionsPart5_ADecisionIsTheElementsAdministrators(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	e := book(t, owner, s.fields(), s.calendar).Event
	address := path("/api/commitments/%d", e.Commitments[0].ID)
	confirm := map[string]any{"commitment": map[string]any{"status": "confirmed"}}
	for _, user := range []string{"owner", "admin", "editor", "driver"} {
		s.as(t, user).Patch(t, address, confirm).Want(t, 403, `{"status":"Forbidden"}`)
	}
	keeper := s.as(t, "keeper")
	keeper.Patch(t, address, confirm).Want(t, 200, fmt.Sprintf(`{"status":"OK","commitment":{"id":%d,"status":"confirmed",`+
		`"element":{"id":%d,"name":"Public calendar","entity_type":"Property","entity_id":%d,"valid":true},`+
		`"event":{"id":%d,"body":"Maths","starts_at":"2026-09-07T09:00:00.000+01:00","ends_at":"2026-09-07T09:00:00.000+01:00","all_day":false,"valid":true},"valid":true}}`,
		e.Commitments[0].ID, s.calendar, entityID(t, s.calendar), e.ID))
	for status, code := range map[string]int{"confirmed": 409, "noted": 409, "uncontrolled": 409, "maybe": 422, "": 422} {
		if a := keeper.Patch(t, address, map[string]any{"commitment": map[string]any{"status": status}}); a.Code != code {
			t.Errorf("confirmed to %q: %d %s, want %d", status, a.Code, a.Body, code)
		}
	}
	if a := keeper.Patch(t, "/api/commitments/99999999", confirm); a.Code != 404 || !strings.Contains(a.Body, "Couldn't find Commitment with 'id'=99999999") {
		t.Errorf("a missing one: %d %s", a.Code, a.Body)
	}
}

func TestDecisionsPart5_TheQuantityOfARequest(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	e := book(t, owner, s.fields("organiser_id", s.teacher), s.minibuses).Event
	address := path("/api/requests/%d", e.Requests[0].ID)
	set := func(quantity any) map[string]any {
		return map[string]any{"request": map[string]any{"quantity": quantity}}
	}
	owner.Patch(t, address, set(3)).Want(t, 200, fmt.Sprintf(`{"status":"OK","request":{"id":%d,"quantity":3,"num_allocated":0,`+
		`"element":{"id":%d,"name":"Minibuses","entity_type":"Group","entity_id":%d,"valid":true},"valid":true}}`, e.Requests[0].ID, s.minibuses, entityID(t, s.minibuses)))
	if a := s.as(t, "driver").Patch(t, address, set("2")); a.Code != 200 {
		t.Errorf("the group's administrator: %d %s", a.Code, a.Body)
	}
	for _, user := range []string{"nobody", "keeper", "organiser"} {
		s.as(t, user).Patch(t, address, set(1)).Want(t, 403, `{"status":"Forbidden"}`)
	}
	for message, quantity := range map[string]any{"must be at least 1": 0, "must be at most 1000": 1001, "is not a number": "many", "can't be blank": nil} {
		wantInvalid(t, owner.Patch(t, address, set(quantity)), "request", "quantity", message)
	}
	if got := get(t, owner, e.ID).Event.Requests[0].Quantity; got != 2 {
		t.Errorf("quantity %d, want 2", got)
	}
	if a := owner.Patch(t, "/api/requests/99999999", set(1)); a.Code != 404 || !strings.Contains(a.Body, "Couldn't find Request with 'id'=99999999") {
		t.Errorf("a missing one: %d %s", a.Code, a.Body)
	}
}
