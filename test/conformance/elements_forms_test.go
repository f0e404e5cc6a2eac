package conformance_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

func TestPart2_1_ListForm(t *testing.T) {
	proves(t, "2.1 list", "4.1 GET elements?name", "decisions 1 key order")
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
	proves(t, "2.1 detail", "2.1 types", "2.1 staff", "2.1 resource group", "4.1 GET element", "decisions 3 types",
		"decisions 3 uuid", "decisions 3 staff", "decisions 3 pupil", "decisions 3 group", "decisions 3 property")
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
	proves(t, "decisions 3 group")
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
	proves(t, "2.1 entity_id", "decisions 1 types")
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
	proves(t, "decisions 3 null")
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
	proves(t, "decisions 3 names")
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

func TestPart4_1_MissingElementIsAnExceptionBody(t *testing.T) {
	proves(t, "4.1 GET element", "decisions 1 exception types", "decisions 1 404 records")
	c := school.As(t)
	for _, path := range []string{"", "/commitments", "/requests"} {
		c.Get(t, fmt.Sprintf("/api/elements/%d%s", noSuchID, path)).Want(t, http.StatusNotFound,
			missing("Not found", "Element", noSuchID))
	}
}

func TestPart4_1_AnIDThatIsNoneIsNotFound(t *testing.T) {
	proves(t, "4.1 GET element", "decisions 1 ids in paths")
	c := school.As(t)
	for _, id := range []string{"0", "01", "-1", "+1", "1.0", "1e3", "x", "9223372036854775808", "%201", "1%20", "١"} {
		for _, path := range []string{"/api/elements/%s", "/api/elements/%s/commitments", "/api/elements/%s/requests"} {
			c.Get(t, fmt.Sprintf(path, id)).Want(t, http.StatusNotFound, `{"status":"Not found"}`)
		}
	}
}
