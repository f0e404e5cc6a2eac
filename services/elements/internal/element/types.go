package element

import (
	"slices"

	"github.com/belfry-schools/belfry/pkg/record/form"
)

// Type is an entity type.
type Type struct {
	Name       string // in entity_type and in import keys
	ImportKind string // in the path of the import
	required   []string
	optional   []string
	// name derives the element's name; nil when the name is a field that is given.
	name func(Details) string
}

// textFields are the details that are texts.
var textFields = []struct {
	name string // in the API
	at   func(*Details) *string
	long bool // it may have several lines
}{
	{"initials", func(d *Details) *string { return &d.Initials }, false},
	{"title", func(d *Details) *string { return &d.Title }, false},
	{"forename", func(d *Details) *string { return &d.Forename }, false},
	{"surname", func(d *Details) *string { return &d.Surname }, false},
	{"known_as", func(d *Details) *string { return &d.KnownAs }, false},
	{"year_group", func(d *Details) *string { return &d.YearGroup }, false},
	{"house_name", func(d *Details) *string { return &d.HouseName }, false},
	{"tutor_group", func(d *Details) *string { return &d.TutorGroup }, false},
	{"email", func(d *Details) *string { return &d.Email }, false},
	{"short_name", func(d *Details) *string { return &d.ShortName }, false},
	{"open_to", func(d *Details) *string { return &d.OpenTo }, false},
	{"description", func(d *Details) *string { return &d.Description }, true},
}

// types are in the order of decisions, part 3. Their columns are those of administration's bundle.
var types = []Type{
	{
		Name: form.Staff, ImportKind: "staff", name: staffName,
		required: []string{"initials", "forename", "surname"},
		optional: []string{"title", "email"},
	},
	{
		Name: form.Pupil, ImportKind: "pupils", name: pupilName,
		required: []string{"forename", "surname"},
		optional: []string{"known_as", "year_group", "house_name", "tutor_group", "email"},
	},
	{
		Name: form.Location, ImportKind: "locations",
		required: []string{"name"},
		optional: []string{"short_name", "open_to"},
	},
	{
		Name: form.Group, ImportKind: "groups",
		required: []string{"name"},
		optional: []string{"description", "resource", "school", "open_to"},
	},
	{
		Name: form.Property, ImportKind: "properties",
		required: []string{"name"},
		optional: []string{"make_public", "open_to"},
	},
	{Name: form.Service, ImportKind: "services", required: []string{"name"}, optional: []string{"open_to"}},
	{Name: form.Subject, ImportKind: "subjects", required: []string{"name"}, optional: []string{"open_to"}},
}

// Types returns the entity types.
func Types() []Type { return slices.Clone(types) }

// TypeOf returns the entity type with that name.
func TypeOf(name string) (Type, bool) {
	i := slices.IndexFunc(types, func(t Type) bool { return t.Name == name })
	if i < 0 {
		return Type{}, false
	}
	return types[i], true
}

// TextFields returns the names of all fields that a draft may give as texts.
func TextFields() []string {
	names := []string{"name"}
	for _, f := range textFields {
		names = append(names, f.name)
	}
	return names
}

// Key returns an import's key of an element of this type as it is stored: "Pupil:17".
func (t Type) Key(key string) string { return t.Name + ":" + key }

func (t Type) has(field string) bool {
	return slices.Contains(t.required, field) || slices.Contains(t.optional, field)
}

func staffName(d Details) string { return d.Initials + " - " + d.Forename + " " + d.Surname }

func pupilName(d Details) string {
	name := d.Forename
	if d.KnownAs != "" {
		name = d.KnownAs
	}
	name += " " + d.Surname
	if d.TutorGroup != "" {
		name += " (" + d.TutorGroup + ")"
	}
	return name
}
