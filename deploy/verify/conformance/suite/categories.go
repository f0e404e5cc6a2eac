package suite

import (
	"fmt"
	"net/http"
	"strings"
)

// categoryChecks are those of parts 2.7 and 4.4 and of decisions, part 7.
func categoryChecks() []Check {
	return []Check{
		prove("TestPart2_7_ListForm", categoryListForm, "2.7 list", "4.4 GET eventcategories", "decisions 1 key order"),
		prove("TestPart2_7_DetailForm", categoryDetailForm, "2.7 detail", "4.4 GET eventcategory", "decisions 1 key order"),
		prove("TestPart4_4_PrivilegedUsersGetALongerList", privilegedUsersGetALongerList, "4.4 privileged", "decisions 7 privileged list"),
		prove("TestDecisionsPart7_ListedByID", categoriesByID, "decisions 7 order"),
		prove("TestDecisionsPart7_DetailOfAPrivilegedCategory", privilegedDetail, "decisions 7 privileged detail", "decisions 1 403"),
		prove("TestDecisionsPart7_UnknownCategoriesAreNotFound", unknownCategory, "decisions 7 unknown", "decisions 1 exception types"),
	}
}

// flags of a category, in the order of the contract.
var flags = []string{"schoolwide", "publish", "visible", "unimportant", "can_merge", "can_borrow", "compactable", "privileged", "clash_check", "busy", "timetable"}

// category makes a category with a name of its own and those fields besides, and returns its id.
func (t *T) category(fields map[string]any) int64 {
	all := map[string]any{"name": t.Unique("Category")}
	for name, value := range fields {
		all[name] = value
	}
	return t.Admin().Post("/api/admin/eventcategories", map[string]any{"eventcategory": all}).Must(http.StatusCreated).Int("eventcategory.id")
}

func categoryPath(id int64) string { return fmt.Sprintf("/api/eventcategories/%d", id) }

func categoryListForm(t *T) {
	c, name := t.As(), t.Unique("Größe <&>")
	id := t.category(map[string]any{"name": name})
	a := c.Get("/api/eventcategories").Must(http.StatusOK)
	t.Equal("keys", a.Keys(""), "status,eventcategories")
	t.Equal("the status", a.String("status"), "OK")
	t.Equal("the last entry, which is the newest, is there", strings.Contains(a.Body, fmt.Sprintf(`{"id":%d,"name":%s,"valid":true}`, id, quoted(name))), true)
	for i := range a.Len("eventcategories") {
		t.Equal("keys of an entry", a.Keys(fmt.Sprintf("eventcategories.%d", i)), "id,name,valid")
	}
}

func categoryDetailForm(t *T) {
	c, name := t.As("privileged"), t.Unique("Lesson")
	id := t.category(map[string]any{
		"name": name, "pecking_order": 20, "publish": true, "unimportant": true, "can_borrow": true, "clash_check": true, "timetable": true,
	})
	t.Golden(c.Get(categoryPath(id)), http.StatusOK, "eventcategory.json", "70001", id, "Sample lesson", name)
	for _, flag := range flags { // each by itself, so that no two are mixed up
		a := c.Get(categoryPath(t.category(map[string]any{flag: true})))
		for _, other := range flags {
			t.Equal(other+" of a category with "+flag, a.At("eventcategory."+other), other == flag)
		}
	}
}

func privilegedUsersGetALongerList(t *T) {
	entry := fmt.Sprintf(`{"id":%d,"name":%q,"valid":true}`, t.School.Privileged.ID, t.School.Privileged.Name)
	ordinary := fmt.Sprintf(`{"id":%d,"name":%q,"valid":true}`, t.School.Category.ID, t.School.Category.Name)
	for permission, want := range map[string]bool{"": false, "edit_all_events": false, "can_su": false, "privileged": true, "admin": true} {
		c := t.As()
		if permission != "" {
			c = t.As(permission)
		}
		a := c.Get("/api/eventcategories").Must(http.StatusOK)
		t.Equal("the privileged category is listed with permission "+permission, strings.Contains(a.Body, entry), want)
		t.Equal("the ordinary category is listed with permission "+permission, strings.Contains(a.Body, ordinary), true)
	}
}

func categoriesByID(t *T) {
	t.category(map[string]any{"name": t.Unique("Z")})
	t.category(map[string]any{"name": t.Unique("A"), "pecking_order": -1})
	list := decode[struct{ EventCategories []struct{ ID int64 } }](t.As("privileged").Get("/api/eventcategories")).EventCategories
	t.Equal("at least those of the run are listed", len(list) >= 4, true)
	last := int64(0)
	for _, entry := range list {
		t.Equal("a later entry has a greater id", entry.ID > last, true)
		last = entry.ID
	}
}

func privilegedDetail(t *T) {
	path := categoryPath(t.School.Privileged.ID)
	for _, c := range []*Client{t.As(), t.As("can_add_events", "can_add_notes", "edit_all_events", "can_su")} {
		c.Get(path).Want(http.StatusForbidden, forbidden)
	}
	for _, permission := range []string{"privileged", "admin"} {
		t.Equal("the detail with "+permission, t.As(permission).Get(path).Must(http.StatusOK).At("eventcategory.privileged"), true)
	}
}

func unknownCategory(t *T) {
	for _, c := range []*Client{t.As(), t.As("privileged")} {
		c.Get(categoryPath(noSuchID)).Want(http.StatusNotFound, missing("Not found", "EventCategory", noSuchID))
	}
	for _, id := range []string{"0", "01", "x", "-1", "9223372036854775808"} {
		t.As().Get("/api/eventcategories/"+id).Want(http.StatusNotFound, `{"status":"Not found"}`)
	}
}
