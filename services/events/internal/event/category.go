package event

import (
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// maxCategoryName bounds a category's name, in characters after trimming.
const maxCategoryName = 255

// Category classifies events (contract 2.7).
type Category struct {
	ID           int64
	Key          string // the import's own id of it; empty when made by hand
	ImportHash   string // of the row that was last imported
	Name         string
	PeckingOrder int
	Flags
}

// Flags of a category, in the order of the contract's part 2.7.
type Flags struct {
	Schoolwide, Publish, Visible, Unimportant, CanMerge, CanBorrow, Compactable, Privileged, ClashCheck, Busy, Timetable bool
}

// names gives each flag its name in the API.
func (f *Flags) names() []struct {
	name string
	flag *bool
} {
	return []struct {
		name string
		flag *bool
	}{
		{"schoolwide", &f.Schoolwide}, {"publish", &f.Publish}, {"visible", &f.Visible}, {"unimportant", &f.Unimportant},
		{"can_merge", &f.CanMerge}, {"can_borrow", &f.CanBorrow}, {"compactable", &f.Compactable}, {"privileged", &f.Privileged},
		{"clash_check", &f.ClashCheck}, {"busy", &f.Busy}, {"timetable", &f.Timetable},
	}
}

// Flag returns the flag of that name, which must be one of FlagNames.
func (f Flags) Flag(name string) bool {
	for _, n := range f.names() {
		if n.name == name {
			return *n.flag
		}
	}
	return false
}

// FlagNames lists the names of the flags.
func FlagNames() []string {
	var f Flags
	var names []string
	for _, n := range f.names() {
		names = append(names, n.name)
	}
	return names
}

// CategoryFields are the fields of a category in a request; nil, or not in Flags, is a field not given.
type CategoryFields struct {
	Name         *string
	PeckingOrder *int
	Flags        map[string]bool
	Faults       problem.Fields // what could not be read, by the field's name; never nil
}

// apply writes the fields into c and returns all that is wrong with them. Fields not given keep their values.
func (f CategoryFields) apply(c *Category) problem.Fields {
	if f.Name != nil {
		c.Name = strings.TrimSpace(*f.Name)
	}
	if f.PeckingOrder != nil {
		c.PeckingOrder = *f.PeckingOrder
	}
	for _, n := range c.names() {
		if value, given := f.Flags[n.name]; given {
			*n.flag = value
		}
	}
	faults := maps.Clone(f.Faults)
	switch {
	case faults["name"] != nil:
	case c.Name == "":
		faults.Add("name", blank)
	case utf8.RuneCountInString(c.Name) > maxCategoryName:
		faults.Add("name", tooLong(maxCategoryName))
	}
	return faults
}

// seesPrivileged says whether p may see and use privileged categories (decisions, parts 4 and 7).
func seesPrivileged(p principal.Principal) bool { return p.Permissions.Privileged }
