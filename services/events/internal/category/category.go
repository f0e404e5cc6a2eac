// Package category is event categories: what they are, who may use them, and how they are made, changed and
// imported (contract 2.7 and 4.4; decisions, parts 4 and 7).
package category

import (
	"maps"
	"strings"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// Record is the type's name in exception bodies.
const Record = "EventCategory"

// schoolField is the field that names the school of a category; a row of an import has the key in school.
const schoolField = "school_id"

// maxName bounds a category's name, in characters after trimming.
const maxName = 255

// Category classifies events (contract 2.7).
type Category struct {
	ID           int64
	Key          string // the import's own id of it; empty when made by hand
	ImportHash   string // of the row that was last imported
	Name         string
	PeckingOrder int
	School       int64 // the group of the school whose own it is; 0: it is the deployment's
	Flags
}

// Flags of a category, in the order of the contract's part 2.7, which all but the last are from.
type Flags struct {
	Schoolwide, Publish, Visible, Unimportant, CanMerge, CanBorrow, Compactable, Privileged bool
	ClashCheck, Busy, Timetable                                                             bool
	// Confidential hides what its events are from all but a few (decisions, part 9). Only administrators see it.
	Confidential bool
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
		{"schoolwide", &f.Schoolwide}, {"publish", &f.Publish}, {"visible", &f.Visible},
		{"unimportant", &f.Unimportant}, {"can_merge", &f.CanMerge}, {"can_borrow", &f.CanBorrow},
		{"compactable", &f.Compactable}, {"privileged", &f.Privileged}, {"clash_check", &f.ClashCheck},
		{"busy", &f.Busy}, {"timetable", &f.Timetable}, {"confidential", &f.Confidential},
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

// Fields are the fields of a category in a request; nil, or not in Flags, is a field not given.
type Fields struct {
	Name         *string
	PeckingOrder *int
	School       *int64 // 0: none; which it may be is for mayOwn to say
	Flags        map[string]bool
	Faults       problem.Fields // what could not be read, by the field's name; never nil
}

// apply writes the fields into c and returns all that is wrong with them. Fields not given keep their values.
func (f Fields) apply(c *Category) problem.Fields {
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
	problem.Text{Most: maxName, Required: true}.Check(faults, "name", c.Name)
	return faults
}

// UsableBy says whether p may see and use the category (decisions, parts 4 and 7), unless it is a school's: then
// ofViewer says more.
func (c Category) UsableBy(p principal.Principal) bool {
	return !c.Privileged || p.Permissions.Privileged
}
