package suite

import (
	"fmt"
	"net/http"

	"github.com/google/uuid"
)

func elementFormChecks() []Check {
	return []Check{
		prove("TestPart2_1_ListForm", listForm, "2.1 list", "4.1 GET elements?name", "decisions 1 key order"),
		prove("TestPart2_1_DetailOfEachType", detailOfEachType, "2.1 detail", "2.1 types", "2.1 staff", "2.1 resource group", "4.1 GET element",
			"decisions 3 types", "decisions 3 uuid", "decisions 3 staff", "decisions 3 pupil", "decisions 3 group", "decisions 3 property"),
		prove("TestPart2_1_EntityIDIsAnIntegerOfTheType", entityIDs, "2.1 entity_id", "decisions 1 types"),
		prove("TestDecisionsPart3_AFieldWithoutAValueIsNull", fieldsWithoutValue, "decisions 3 null"),
		prove("TestDecisionsPart3_NamesAreDerived", namesAreDerived, "decisions 3 names"),
		prove("TestDecisionsPart3_MembersAreCountedOnceThroughAllNesting", membersAreCounted, "decisions 3 group", "2.1 resource group"),
		prove("TestPart4_1_MissingElementIsAnExceptionBody", missingElement, "4.1 GET element", "decisions 1 exception types", "decisions 1 404 records"),
		prove("TestPart4_1_AnIDThatIsNoneIsNotFound", elementIDs, "4.1 GET element", "decisions 1 ids in paths"),
	}
}

func elementPath(e Element) string { return fmt.Sprintf("/api/elements/%d", e.ID) }

func listForm(t *T) {
	c, e := t.As(), t.Element(map[string]any{"entity_type": "Location", "name": t.Unique("Hall")})
	t.Golden(search(c, "name", e.Name), http.StatusOK, "element_search.json", "10001", e.ID, "Sample Hall", e.Name, "20001", e.EntityID)
	t.Golden(search(c, "namelike", e.Name), http.StatusOK, "element_search.json", "10001", e.ID, "Sample Hall", e.Name, "20001", e.EntityID)
}

// wantDetail makes an element of the fields, with a uuid, and compares its detail with a golden file; the samples are further ones.
func (t *T) wantDetail(c *Client, file string, fields map[string]any, samples ...any) {
	id := uuid.NewString()
	fields["uuid"] = id
	e := t.Element(fields)
	samples = append([]any{"6fa0f0e0-3b7a-4d1c-9a65-0f7d7a1c0001", id, "10001", e.ID, "20001", e.EntityID}, samples...)
	t.Golden(c.Get(elementPath(e)), http.StatusOK, file, samples...)
}

func detailOfEachType(t *T) {
	c := t.As()
	initials, surname := t.Staff().Initials()+"X", t.Unique("Smith")
	t.wantDetail(c, "element_staff.json", map[string]any{
		"entity_type": "Staff", "initials": initials, "forename": "John", "surname": surname, "title": "Mr", "email": "jrs@school.example",
	}, "JRS", initials, "Sample", surname)
	t.wantDetail(c, "element_pupil.json", map[string]any{
		"entity_type": "Pupil", "forename": "Ann", "surname": surname, "known_as": "Nan", "year_group": "Year 9", "house_name": "Red", "tutor_group": "9A",
		"email": "ann@school.example",
	}, "Sample", surname)
	set := t.Unique("Set")
	t.wantDetail(c, "element_group.json", map[string]any{"entity_type": "Group", "name": set, "description": "Teaching group"}, "Sample set", set)
	t.wantDetail(c, "element_group_without.json", map[string]any{"entity_type": "Group", "name": set}, "Sample set", set)
	calendar := t.Unique("Calendar")
	t.wantDetail(c, "element_property.json", map[string]any{"entity_type": "Property", "name": calendar, "make_public": true}, "Sample calendar", calendar)
	thing := t.Unique("Thing")
	for file, entityType := range map[string]string{"element_location.json": "Location", "element_service.json": "Service", "element_subject.json": "Subject"} {
		t.wantDetail(c, file, map[string]any{"entity_type": entityType, "name": thing}, "Sample thing", thing)
	}

	buses := t.Unique("Minibuses")
	id := uuid.NewString()
	group := t.Element(map[string]any{"entity_type": "Group", "name": buses, "resource": true, "uuid": id})
	t.withMembers(group, []Element{t.Property(), t.Property(), t.Property()})
	t.Golden(c.Get(elementPath(group)), http.StatusOK, "element_resource_group.json", "6fa0f0e0-3b7a-4d1c-9a65-0f7d7a1c0001", id,
		"10001", group.ID, "20001", group.EntityID, "Sample minibuses", buses)
}

func entityIDs(t *T) {
	c := t.As()
	for _, pair := range [][2]Element{{t.Location(), t.Location()}, {t.Staff(), t.Staff()}, {t.Pupil(), t.Pupil()}, {t.Group(), t.ResourceGroup()}, {t.Property(), t.Property()}} {
		for _, e := range pair {
			t.Equal("entity_id in the detail", c.Get(elementPath(e)).At("element.entity_id"), e.EntityID)
			t.Equal("entity_id in the search", search(c, "name", e.Name).At("elements.0.entity_id"), e.EntityID)
			t.Equal("valid in the search", search(c, "name", e.Name).At("elements.0.valid"), true)
		}
		t.Equal("two of one type have one entity_id", pair[0].EntityID == pair[1].EntityID, false)
	}
}

func fieldsWithoutValue(t *T) {
	c := t.As()
	initials, surname := t.Staff().Initials()+"X", t.Unique("Smith")
	t.wantDetail(c, "element_staff_without.json", map[string]any{"entity_type": "Staff", "initials": initials, "forename": "John", "surname": surname}, "JRS", initials, "Sample", surname)
	t.wantDetail(c, "element_pupil_without.json", map[string]any{"entity_type": "Pupil", "forename": "Ann", "surname": surname}, "Sample", surname)
	calendar := t.Unique("Calendar")
	t.wantDetail(c, "element_property_without.json", map[string]any{"entity_type": "Property", "name": calendar}, "Sample calendar", calendar)
}

func namesAreDerived(t *T) {
	c, surname := t.As(), t.Unique("Ó Briain")
	shown := func(fields map[string]any) string {
		return c.Get(elementPath(t.Element(fields))).String("element.name")
	}
	for _, e := range []struct {
		fields map[string]any
		name   string
	}{
		{map[string]any{"entity_type": "Staff", "initials": "ÁB", "forename": "Áine", "title": "Dr"}, "ÁB - Áine " + surname},
		{map[string]any{"entity_type": "Pupil", "forename": "Áine"}, "Áine " + surname},
		{map[string]any{"entity_type": "Pupil", "forename": "Áine", "known_as": "Annie"}, "Annie " + surname},
		{map[string]any{"entity_type": "Pupil", "forename": "Áine", "tutor_group": "9A"}, "Áine " + surname + " (9A)"},
	} {
		e.fields["surname"] = surname
		t.Equal("the name", shown(e.fields), e.name)
	}
	for _, entityType := range []string{"Location", "Group", "Property", "Service", "Subject"} {
		name := t.Unique("Plain - name (9A)")
		t.Equal("the name of a "+entityType, shown(map[string]any{"entity_type": entityType, "name": name}), name)
	}
}

// membersAreCounted: distinct people and things that are current and, today, in the group or in a group that is in it, cycles included.
func membersAreCounted(t *T) {
	c, began := t.As(), t.today()
	day := func(n int) string { return date(began.AddDate(0, 0, n)) }
	school, year, set := t.Group(), t.Group(), t.Group()
	both, left, early, gone, last, first := t.Pupil(), t.Pupil(), t.Pupil(), t.Pupil(), t.Pupil(), t.Staff()
	t.withMembers(school, []Element{year, t.Location()})
	t.withMembers(year, []Element{set, both, gone, t.Group()})
	t.withMembers(set, []Element{both, school}) // the school is in itself, by a cycle
	t.Member(set, left, "", day(-1))
	t.Member(set, early, day(1), "")
	t.Member(set, last, "", day(0))
	t.Member(set, first, day(0), "")
	t.Admin().Delete(fmt.Sprintf("/api/admin/elements/%d", gone.ID)).Must(http.StatusOK)
	for _, group := range []Element{school, year, set} {
		t.Equal("members of a group in a cycle", c.Get(elementPath(group)).At("element.members"), 4)
	}
	alone := t.Group(both, last)
	t.Equal("members of a group without nesting", c.Get(elementPath(alone)).At("element.members"), 2)
	t.sameDay(began)
}

func missingElement(t *T) {
	c := t.As()
	for _, path := range []string{"", "/commitments", "/requests"} {
		c.Get(fmt.Sprintf("/api/elements/%d%s", noSuchID, path)).Want(http.StatusNotFound, missing("Not found", "Element", noSuchID))
	}
}

func elementIDs(t *T) {
	c := t.As()
	for _, id := range []string{"0", "01", "-1", "+1", "1.0", "1e3", "x", "9223372036854775808", "%201", "1%20", "١"} {
		for _, path := range []string{"/api/elements/%s", "/api/elements/%s/commitments", "/api/elements/%s/requests"} {
			c.Get(fmt.Sprintf(path, id)).Want(http.StatusNotFound, `{"status":"Not found"}`)
		}
	}
}
