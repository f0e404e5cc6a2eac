package api_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestPart4_4_ListIsByIDAndLongerForThePrivileged(t *testing.T) {
	s := loadSchool(t)
	shown := func(user string) string { return s.as(t, user).Get(t, "/api/eventcategories").Body }
	lesson := fmt.Sprintf(`{"id":%d,"name":"Lesson","valid":true}`, s.lesson)
	secret := fmt.Sprintf(`{"id":%d,"name":"Secret","valid":true}`, s.privileged)
	if got := shown("nobody"); !strings.HasPrefix(got, `{"status":"OK","eventcategories":[`+lesson) || strings.Contains(got, secret) {
		t.Errorf("nobody sees %s", got)
	}
	for _, user := range []string{"privileged", "admin"} {
		if got := shown(user); !strings.Contains(got, secret) || strings.Index(got, lesson) > strings.Index(got, secret) {
			t.Errorf("%s sees %s", user, got)
		}
	}
}

func TestPart4_4_DetailToTheLetter(t *testing.T) {
	s := loadSchool(t)
	s.as(t, "nobody").Get(t, path("/api/eventcategories/%d", s.lesson)).Want(t, 200, fmt.Sprintf(`{"status":"OK","eventcategory":{"id":%d,"name":"Lesson","pecking_order":20,`+
		`"schoolwide":false,"publish":false,"visible":false,"unimportant":false,"can_merge":false,"can_borrow":false,"compactable":false,"privileged":false,`+
		`"clash_check":false,"busy":true,"timetable":true}}`, s.lesson))
}

func TestDecisionsPart7_DetailOfPrivilegedAndUnknownCategories(t *testing.T) {
	s := loadSchool(t)
	address := path("/api/eventcategories/%d", s.privileged)
	s.as(t, "nobody").Get(t, address).Want(t, 403, `{"status":"Forbidden"}`)
	for _, user := range []string{"privileged", "admin"} {
		if a := s.as(t, user).Get(t, address); a.Code != 200 {
			t.Errorf("%s: %d %s", user, a.Code, a.Body)
		}
	}
	s.as(t, "nobody").Get(t, "/api/eventcategories/99999").Want(t, 404,
		`{"status":"Not found","exception":"RecordNotFound","message":"Couldn't find EventCategory with 'id'=99999"}`)
}

func TestAdministration_EventCategories(t *testing.T) {
	s := loadSchool(t)
	admin := s.as(t, "admin")
	const address = "/api/admin/eventcategories"
	s.as(t, "privileged").Get(t, address).Want(t, 403, `{"status":"Forbidden"}`)
	a := admin.Post(t, address, map[string]any{"eventcategory": map[string]any{"name": " Club ", "pecking_order": 5, "publish": true}})
	var got struct{ EventCategory struct{ ID int64 } }
	a.Decode(t, &got)
	shape := `{"id":%d,"name":%q,"pecking_order":5,"schoolwide":false,"publish":true,"visible":%v,"unimportant":false,"can_merge":false,"can_borrow":false,` +
		`"compactable":false,"privileged":false,"clash_check":false,"busy":false,"timetable":false}`
	id := got.EventCategory.ID
	a.Want(t, 201, `{"status":"Created","eventcategory":`+fmt.Sprintf(shape, id, "Club", false)+`}`)
	one := path(address+"/%d", id)
	admin.Patch(t, one, map[string]any{"eventcategory": map[string]any{"name": "Society", "visible": true}}).Want(t, 200,
		`{"status":"OK","eventcategory":`+fmt.Sprintf(shape, id, "Society", true)+`}`)

	wantInvalid(t, admin.Post(t, address, map[string]any{"eventcategory": map[string]any{"name": "Lesson"}}), "eventcategory", "name", "has already been taken")
	wantInvalid(t, admin.Patch(t, one, map[string]any{"eventcategory": map[string]any{"name": "Lesson"}}), "eventcategory", "name", "has already been taken")
	wantInvalid(t, admin.Post(t, address, map[string]any{"eventcategory": map[string]any{}}), "eventcategory", "name", "can't be blank")
	wantInvalid(t, admin.Post(t, address, map[string]any{"eventcategory": map[string]any{"name": "X", "busy": "very"}}), "eventcategory", "busy", "is not true or false")
	if a := admin.Patch(t, address+"/99999", map[string]any{"eventcategory": map[string]any{"name": "X"}}); a.Code != 404 {
		t.Errorf("a missing one: %d %s", a.Code, a.Body)
	}

	var first, second struct {
		EventCategories []struct{ ID int64 }
		Next            *int64
	}
	admin.Get(t, address+"?limit=2").Decode(t, &first)
	admin.Get(t, path(address+"?after=%d", *first.Next)).Decode(t, &second)
	if len(first.EventCategories) != 2 || *first.Next != first.EventCategories[1].ID || second.Next != nil || second.EventCategories[0].ID <= *first.Next {
		t.Errorf("pages %+v and %+v", first, second)
	}
	if a := admin.Get(t, address+"?limit=1001"); a.Code != 400 {
		t.Errorf("limit=1001: %d %s", a.Code, a.Body)
	}
}
