package element

import (
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestDecisionsPart3_NamesAreDerived(t *testing.T) {
	for _, c := range []struct {
		entityType string
		texts      map[string]string
		name       string
	}{
		{form.Staff, map[string]string{"initials": "JRS", "forename": "John", "surname": "Smith"}, "JRS - John Smith"},
		{form.Staff, map[string]string{"initials": " JRS ", "forename": "John", "surname": "Smith", "name": "Another"},
			"JRS - John Smith"},
		{form.Pupil, map[string]string{"forename": "Ann", "surname": "Lee"}, "Ann Lee"},
		{form.Pupil, map[string]string{"forename": "Ann", "surname": "Lee", "tutor_group": "9A"}, "Ann Lee (9A)"},
		{form.Pupil, map[string]string{"forename": "Ann", "surname": "Lee", "known_as": "Nan", "tutor_group": "9A"},
			"Nan Lee (9A)"},
		{form.Location, map[string]string{"name": "Main Hall", "short_name": "MH"}, "Main Hall"},
		{form.Group, map[string]string{"name": "9A"}, "9A"},
		{form.Property, map[string]string{"name": "Calendar"}, "Calendar"},
		{form.Service, map[string]string{"name": "Catering"}, "Catering"},
		{form.Subject, map[string]string{"name": "Maths"}, "Maths"},
	} {
		e := newElement(c.entityType)
		if faults := (Draft{Texts: c.texts}).Apply(&e); len(faults) > 0 || e.Name != c.name {
			t.Errorf("%s %v is named %q, not %q (%v)", c.entityType, c.texts, e.Name, c.name, faults)
		}
	}
}

func TestDecisionsPart3_AChangeOfPartsRenames(t *testing.T) {
	e := newElement(form.Pupil)
	e.Name, e.Details = "Ann Lee (9A)", Details{Forename: "Ann", Surname: "Lee", TutorGroup: "9A"}
	if faults := (Draft{Texts: map[string]string{"tutor_group": "10A"}}).Apply(&e); len(faults) > 0 ||
		e.Name != "Ann Lee (10A)" {
		t.Errorf("named %q (%v)", e.Name, faults)
	}
}

func TestDraft_Faults(t *testing.T) {
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		name           string
		entityType     string
		draft          Draft
		field, message string
	}{
		{"no type", "", Draft{}, "entity_type", "can't be blank"},
		{"no such type", "Ghost", Draft{}, "entity_type", "is not an entity type"},
		{"another type", form.Staff, Draft{EntityType: text(form.Pupil)}, "entity_type", "can't be changed"},
		{"no initials", form.Staff, Draft{}, "initials", "can't be blank"},
		{"spaces for a surname", form.Pupil, Draft{Texts: map[string]string{"surname": "  "}}, "surname",
			"can't be blank"},
		{"no name", form.Group, Draft{}, "name", "can't be blank"},
		{"long name", form.Group, Draft{Texts: map[string]string{"name": strings.Repeat("é", 256)}}, "name",
			"is too long (maximum is 255 characters)"},
		{"two lines", form.Group, Draft{Texts: map[string]string{"name": "a\nb"}}, "name", "has a control character"},
		{"no address", form.Pupil, Draft{Texts: map[string]string{"email": "no address"}}, "email",
			"is not an e-mail address"},
		{"address with a name", form.Pupil, Draft{Texts: map[string]string{"email": "A <a@b.org>"}}, "email",
			"is not an e-mail address"},
		{"no uuid", form.Group, Draft{UUID: text("5")}, "uuid", "is not a uuid"},
		{"uuid in braces", form.Group, Draft{UUID: text("{9f3c1f52-8a35-4b5d-9a39-3b6a2e2f3f10}")}, "uuid",
			"is not a uuid"},
	} {
		e := newElement(c.entityType)
		faults := c.draft.Apply(&e)
		valuetest.Holds(t, len(faults[c.field]) == 1 && faults[c.field][0] == c.message, "%s: %v", c.name, faults)
	}
}

func TestDraft_KeepsWhatItDoesNotGive(t *testing.T) {
	e := newElement(form.Location)
	e.Name, e.Details.ShortName = "Main Hall", "MH"
	before := e
	if faults := (Draft{Texts: map[string]string{"initials": "no field of a location"}}).Apply(&e); len(faults) > 0 {
		t.Fatal(faults)
	}
	if e.Name != before.Name || e.Details != before.Details || e.UUID != before.UUID || !e.Current {
		t.Errorf("%+v became %+v", before, e)
	}
}

// A detail that no type has could not be given, and a field of a type that is not a detail would be ignored.
func TestTypes_HaveTheDetailsAndNothingElse(t *testing.T) {
	texts, flags := Fields()
	known, had := slices.Concat(texts, flags), map[string]bool{"current": true}
	for _, of := range Types() {
		for _, name := range slices.Concat(of.required, of.optional) {
			had[name] = true
			valuetest.Holds(t, slices.Contains(known, name), "%s has %s, which is not a field", of.Name, name)
		}
	}
	for _, name := range known {
		valuetest.Holds(t, had[name], "no type has %s", name)
	}
}
