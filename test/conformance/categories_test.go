package conformance_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// flags of a category, in the order of the contract.
var flags = []string{"schoolwide", "publish", "visible", "unimportant", "can_merge", "can_borrow", "compactable",
	"privileged", "clash_check", "busy", "timetable"}

// category makes a category with a unique name and those fields, and returns its id.
func (s *School) category(t *testing.T, fields object) int64 {
	t.Helper()
	all := object{"name": s.Unique("Category")}
	maps.Copy(all, fields)
	return s.Admin().Post(t, "/api/admin/eventcategories", object{"eventcategory": all}).Must(t,
		http.StatusCreated).Int(t, "eventcategory.id")
}

func TestPart2_7_ListForm(t *testing.T) {
	proves(t, "2.7 list: list form of a category: id, name, valid",
		"4.4 GET eventcategories: status OK and the list forms",
		"decisions 1 key order: keys keep one fixed order, with valid and then errors last")
	c, name := school.As(t), school.Unique("Größe <&>")
	id := school.category(t, object{"name": name})
	a := c.Get(t, "/api/eventcategories").Must(t, http.StatusOK)
	equal(t, "keys", a.Keys(t, ""), "status,eventcategories")
	equal(t, "the status", a.Text(t, "status"), "OK")
	equal(t, "the last entry, which is the newest, is there",
		strings.Contains(a.Body, fmt.Sprintf(`{"id":%d,"name":%s,"valid":true}`, id, quoted(name))), true)
	for i := range a.Len(t, "eventcategories") {
		equal(t, "keys of an entry", a.Keys(t, fmt.Sprintf("eventcategories.%d", i)), "id,name,valid")
	}
}

func TestPart2_7_DetailForm(t *testing.T) {
	proves(t,
		"2.7 detail: detail: id, name, pecking_order, schoolwide, publish, visible, unimportant, can_merge, "+
			"can_borrow, compactable, privileged, clash_check, busy, timetable",
		"4.4 GET eventcategory: status OK and the detail form", "decisions 1 key order")
	c, name := school.As(t, "privileged"), school.Unique("Lesson")
	id := school.category(t, object{
		"name": name, "pecking_order": 20, "publish": true, "unimportant": true, "can_borrow": true,
		"clash_check": true, "timetable": true,
	})
	school.Golden(t, c.Get(t, categoryPath(id)), http.StatusOK, "eventcategory.json", "70001", id, "Sample lesson",
		name)
	for _, flag := range flags { // one at a time, so that no two are confused
		a := c.Get(t, categoryPath(school.category(t, object{flag: true})))
		for _, other := range flags {
			equal(t, other+" of a category with "+flag, a.At(t, "eventcategory."+other), other == flag)
		}
	}
}

func TestPart4_4_PrivilegedUsersGetALongerList(t *testing.T) {
	proves(t, "4.4 privileged: a privileged user gets a longer list",
		"decisions 7 privileged list: privileged ones only to privileged users and admins")
	entry := fmt.Sprintf(`{"id":%d,"name":%q,"valid":true}`, school.Privileged.ID, school.Privileged.Name)
	ordinary := fmt.Sprintf(`{"id":%d,"name":%q,"valid":true}`, school.Category.ID, school.Category.Name)
	for permission, want := range map[string]bool{"": false, "edit_all_events": false, "can_su": false,
		"privileged": true, "admin": true} {
		c := school.As(t)
		if permission != "" {
			c = school.As(t, permission)
		}
		a := c.Get(t, "/api/eventcategories").Must(t, http.StatusOK)
		equal(t, "the privileged category is listed with permission "+permission, strings.Contains(a.Body, entry), want)
		equal(t, "the ordinary category is listed with permission "+permission, strings.Contains(a.Body, ordinary),
			true)
	}
}

func TestDecisionsPart7_ListedByID(t *testing.T) {
	proves(t, "decisions 7 order: listed by id")
	school.category(t, object{"name": school.Unique("Z")})
	school.category(t, object{"name": school.Unique("A"), "pecking_order": -1})
	list := school.As(t, "privileged").Get(t, "/api/eventcategories").Ints(t, "eventcategories.#.id")
	equal(t, "at least those of the run are listed", len(list) >= 4, true)
	sorted := slices.Compact(slices.Sorted(slices.Values(list)))
	equal(t, "a later entry has a greater id", slices.Equal(list, sorted), true)
}
