package api_test

import (
	"fmt"
	"testing"
)

func TestAdministration_EventCategories(t *testing.T) {
	s := loadSchool(t)
	admin := s.as(t, "admin")
	const address = "/api/admin/eventcategories"
	s.as(t, "privileged").Get(t, address).Want(t, 403, `{"status":"Forbidden"}`)
	a := admin.Post(t, address, map[string]any{"eventcategory": map[string]any{"name": " Club ", "pecking_order": 5,
		"publish": true}})
	var got struct{ EventCategory struct{ ID int64 } }
	a.Decode(t, &got)
	shape := `{"id":%d,"name":%q,"pecking_order":5,"schoolwide":false,"publish":true,"visible":%v,"unimportant":false,"can_merge":false,"can_borrow":false,` +
		`"compactable":false,"privileged":false,"clash_check":false,"busy":false,"timetable":false}`
	id := got.EventCategory.ID
	a.Want(t, 201, `{"status":"Created","eventcategory":`+fmt.Sprintf(shape, id, "Club", false)+`}`)
	one := path(address+"/%d", id)
	admin.Patch(t, one, map[string]any{"eventcategory": map[string]any{"name": "Society", "visible": true}}).Want(t,
		200,
		`{"status":"OK","eventcategory":`+fmt.Sprintf(shape, id, "Society", true)+`}`)

	wantInvalid(t, admin.Post(t, address, map[string]any{"eventcategory": map[string]any{"name": "Lesson"}}),
		"eventcategory", "name", "has already been taken")
	wantInvalid(t, admin.Patch(t, one, map[string]any{"eventcategory": map[string]any{"name": "Lesson"}}),
		"eventcategory", "name", "has already been taken")
	wantInvalid(t, admin.Post(t, address, map[string]any{"eventcategory": map[string]any{}}), "eventcategory", "name",
		"can't be blank")
	wantInvalid(t, admin.Post(t, address, map[string]any{"eventcategory": map[string]any{"name": "X", "busy": "very"}}),
		"eventcategory", "busy", "is not true or false")
	if a := admin.Patch(t, address+"/99999",
		map[string]any{"eventcategory": map[string]any{"name": "X"}}); a.Code != 404 {
		t.Errorf("a missing one: %d %s", a.Code, a.Body)
	}

	var first, second struct {
		EventCategories []struct{ ID int64 }
		Next            *int64
	}
	admin.Get(t, address+"?limit=2").Decode(t, &first)
	admin.Get(t, path(address+"?after=%d", *first.Next)).Decode(t, &second)
	if len(first.EventCategories) != 2 || *first.Next != first.EventCategories[1].ID || second.Next != nil ||
		second.EventCategories[0].ID <= *first.Next {
		t.Errorf("pages %+v and %+v", first, second)
	}
	if a := admin.Get(t, address+"?limit=1001"); a.Code != 400 {
		t.Errorf("limit=1001: %d %s", a.Code, a.Body)
	}
}
