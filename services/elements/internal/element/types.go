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

// Fields returns the names of all fields that a draft may give, those of texts and those of flags.
func Fields() (texts, flags []string) {
	texts, flags = []string{"name"}, []string{"current"}
	for name, at := range new(Details).All() {
		if _, isText := at.(*string); isText {
			texts = append(texts, name)
		} else {
			flags = append(flags, name)
		}
	}
	return texts, flags
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
