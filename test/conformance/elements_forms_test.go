package conformance_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

func TestPart2_1_ListForm(t *testing.T) {
	proves(t, "2.1 list: list form of an element: id, name, entity_type, entity_id, valid", "4.1 GET elements?name",
		"decisions 1 key order")
	c, e := school.As(t), school.Element(t, object{"entity_type": "Location", "name": school.Unique("Hall")})
	school.Golden(t, search(t, c, "name", e.Name), http.StatusOK, "element_search.json", "10001", e.ID, "Sample Hall",
		e.Name, "20001", e.EntityID)
	school.Golden(t, search(t, c, "namelike", e.Name), http.StatusOK, "element_search.json", "10001", e.ID,
		"Sample Hall", e.Name, "20001", e.EntityID)
}

// wantDetail makes an element with the fields and a uuid, and compares its detail with a golden file. The samples
// are in addition to those of the element.
func (s *School) wantDetail(t *testing.T, c *servicetest.Client, file string, fields object, samples ...any) {
	t.Helper()
	id := uuid.NewString()
	fields["uuid"] = id
	e := s.Element(t, fields)
	samples = append([]any{"6fa0f0e0-3b7a-4d1c-9a65-0f7d7a1c0001", id, "10001", e.ID, "20001", e.EntityID}, samples...)
	s.Golden(t, c.Get(t, elementPath(e)), http.StatusOK, file, samples...)
}

func TestPart2_1_DetailOfEachType(t *testing.T) {
	proves(t, "2.1 detail: detail form: id, name, entity_type, entity_id, current, and the fields of the type",
		"2.1 types: entity types Location, Pupil, Staff, Group, Property",
		"2.1 staff: detail of Staff adds email, title, initials, forename, surname",
		"2.1 resource group: detail of a resource group adds description and members, an integer", "4.1 GET element",
		"decisions 3 types: Staff, Pupil, Location, Group, Property, Service, Subject",
		"decisions 3 uuid: detail adds uuid for all types",
		"decisions 3 staff: Staff: email, title, initials, forename, surname",
		"decisions 3 pupil: Pupil: email, forename, surname, known_as, year_group, house_name", "decisions 3 group",
		"decisions 3 property: Property: make_public")
	c := school.As(t)
	initials, surname := school.Staff(t).Initials()+"X", school.Unique("Smith")
	school.wantDetail(t, c, "element_staff.json", object{
		"entity_type": "Staff", "initials": initials, "forename": "John", "surname": surname, "title": "Mr",
		"email": "jrs@school.example",
	}, "JRS", initials, "Sample", surname)
	school.wantDetail(t, c, "element_pupil.json", object{
		"entity_type": "Pupil", "forename": "Ann", "surname": surname, "known_as": "Nan",
		"year_group": "Year 9", "house_name": "Red", "tutor_group": "9A", "email": "ann@school.example",
	}, "Sample", surname)
	set := school.Unique("Set")
	school.wantDetail(t, c, "element_group.json",
		object{"entity_type": "Group", "name": set, "description": "Teaching group"}, "Sample set", set)
	school.wantDetail(t, c, "element_group_without.json", object{"entity_type": "Group", "name": set},
		"Sample set", set)
	calendar := school.Unique("Calendar")
	school.wantDetail(t, c, "element_property.json",
		object{"entity_type": "Property", "name": calendar, "make_public": true}, "Sample calendar", calendar)
	thing := school.Unique("Thing")
	for file, entityType := range map[string]string{"element_location.json": "Location",
		"element_service.json": "Service", "element_subject.json": "Subject"} {
		school.wantDetail(t, c, file, object{"entity_type": entityType, "name": thing}, "Sample thing", thing)
	}

	buses := school.Unique("Minibuses")
	id := uuid.NewString()
	group := school.Element(t, object{"entity_type": "Group", "name": buses, "resource": true, "uuid": id})
	school.withMembers(t, group, []Element{school.Property(t), school.Property(t), school.Property(t)})
	school.Golden(t, c.Get(t, elementPath(group)), http.StatusOK, "element_resource_group.json",
		"6fa0f0e0-3b7a-4d1c-9a65-0f7d7a1c0001", id,
		"10001", group.ID, "20001", group.EntityID, "Sample minibuses", buses)
}

func TestDecisionsPart3_AResourceGroupIsToldByItsDescription(t *testing.T) {
	proves(t, "decisions 3 group: every Group: description and members, distinct current ones, nested groups resolved")
	c := school.As(t)
	for _, g := range []struct {
		resource   bool
		own, shown string
	}{
		{true, "", "Resource group"}, {true, "School vans", "Resource group: School vans"},
		{true, "Resource group", "Resource group"}, {true, "Resource group: vans", "Resource group: vans"},
		{false, "", "Group"}, {false, "School vans", "School vans"},
	} {
		group := school.Element(t, object{"entity_type": "Group", "name": school.Unique("Vans"),
			"resource": g.resource, "description": g.own})
		equal(t, fmt.Sprintf("the description of a group, resource %t, described as %q", g.resource, g.own),
			c.Get(t, elementPath(group)).Text(t, "element.description"), g.shown)
	}
}

func TestPart2_1_EntityIDIsAnIntegerOfTheType(t *testing.T) {
	proves(t, "2.1 entity_id: entity_id is the id of the underlying entity: numbered per type, an integer",
		"decisions 1 types: entity_id is always an integer, valid always a boolean")
	c := school.As(t)
	for _, pair := range [][2]Element{{school.Location(t), school.Location(t)}, {school.Staff(t), school.Staff(t)},
		{school.Pupil(t), school.Pupil(t)}, {school.Group(t), school.ResourceGroup(t)}, {school.Property(t),
			school.Property(t)}} {
		for _, e := range pair {
			equal(t, "entity_id in the detail", c.Get(t, elementPath(e)).At(t, "element.entity_id"), e.EntityID)
			equal(t, "entity_id in the search", search(t, c, "name", e.Name).At(t, "elements.0.entity_id"), e.EntityID)
			equal(t, "valid in the search", search(t, c, "name", e.Name).At(t, "elements.0.valid"), true)
		}
		equal(t, "two of one type have one entity_id", pair[0].EntityID == pair[1].EntityID, false)
	}
}

func TestDecisionsPart3_AFieldWithoutAValueIsNull(t *testing.T) {
	proves(t, "decisions 3 null: a field without a value is null")
	c := school.As(t)
	initials, surname := school.Staff(t).Initials()+"X", school.Unique("Smith")
	school.wantDetail(t, c, "element_staff_without.json", object{"entity_type": "Staff",
		"initials": initials, "forename": "John", "surname": surname}, "JRS", initials, "Sample", surname)
	school.wantDetail(t, c, "element_pupil_without.json",
		object{"entity_type": "Pupil", "forename": "Ann", "surname": surname}, "Sample", surname)
	calendar := school.Unique("Calendar")
	school.wantDetail(t, c, "element_property_without.json",
		object{"entity_type": "Property", "name": calendar}, "Sample calendar", calendar)
}

func TestDecisionsPart3_NamesAreDerived(t *testing.T) {
	proves(t,
		`decisions 3 names: Staff "INI - Forename Surname"; Pupil "Forename Surname (9A)"; others their plain name`)
	c, surname := school.As(t), school.Unique("Ó Briain")
	shown := func(fields object) string {
		return c.Get(t, elementPath(school.Element(t, fields))).Text(t, "element.name")
	}
	for _, e := range []struct {
		fields object
		name   string
	}{
		{object{"entity_type": "Staff", "initials": "ÁB", "forename": "Áine", "title": "Dr"}, "ÁB - Áine " + surname},
		{object{"entity_type": "Pupil", "forename": "Áine"}, "Áine " + surname},
		{object{"entity_type": "Pupil", "forename": "Áine", "known_as": "Annie"}, "Annie " + surname},
		{object{"entity_type": "Pupil", "forename": "Áine", "tutor_group": "9A"}, "Áine " + surname + " (9A)"},
	} {
		e.fields["surname"] = surname
		equal(t, "the name", shown(e.fields), e.name)
	}
	for _, entityType := range []string{"Location", "Group", "Property", "Service", "Subject"} {
		name := school.Unique("Plain - name (9A)")
		equal(t, "the name of a "+entityType, shown(object{"entity_type": entityType, "name": name}), name)
	}
}

// TestDecisionsPart3_MembersAreCountedOnceThroughAllNesting: the count has each current person or thing once that
// is in the group today, directly or through nested groups, also when groups form a cycle.
func TestDecisionsPart3_MembersAreCountedOnceThroughAllNesting(t *testing.T) {
	proves(t, "decisions 3 group", "2.1 resource group")
	c, began := school.As(t), school.today()
	day := func(n int) string { return date(began.AddDate(0, 0, n)) }
	whole, year, set := school.Group(t), school.Group(t), school.Group(t)
	both, left, early, gone, last, first := school.Pupil(t), school.Pupil(t), school.Pupil(t), school.Pupil(t),
		school.Pupil(t), school.Staff(t)
	school.withMembers(t, whole, []Element{year, school.Location(t)})
	school.withMembers(t, year, []Element{set, both, gone, school.Group(t)})
	school.withMembers(t, set, []Element{both, whole}) // whole is in itself, by a cycle
	school.Member(t, set, left, "", day(-1))
	school.Member(t, set, early, day(1), "")
	school.Member(t, set, last, "", day(0))
	school.Member(t, set, first, day(0), "")
	school.Admin().Delete(t, elementAdmin(gone)).Must(t, http.StatusOK)
	for _, group := range []Element{whole, year, set} {
		equal(t, "members of a group in a cycle", c.Get(t, elementPath(group)).At(t, "element.members"), 4)
	}
	alone := school.Group(t, both, last)
	equal(t, "members of a group without nesting", c.Get(t, elementPath(alone)).At(t, "element.members"), 2)
	school.sameDay(t, began)
}
