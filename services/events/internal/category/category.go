// Package category has the rules and use cases of event categories: who may use them, and how they are made, changed
// and imported (contract 2.7 and 4.4; decisions, parts 4 and 7).
package category

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
)

// Record is the type's name in exception bodies.
const Record = "EventCategory"

// schoolField is the field that names the school of a category; a row of an import has the key in school.
const schoolField = "school_id"

// maxName bounds a category's name, in characters after trimming.
const maxName = 255

// Category classifies events (contract 2.7). The tags name its fields in the detail form and as they are stored.
type Category struct {
	ID           int64  `bson:"-" json:"-"`
	Name         string `bson:"name" json:"name"`
	PeckingOrder int    `bson:"pecking_order" json:"pecking_order"`
	Flags        `bson:",inline"`

	School     int64  `bson:"school_id,omitempty" json:"school_id,omitempty"` // whose own it is; 0: the deployment's
	Key        string `bson:"key,omitempty" json:"key,omitempty"`             // the import's own id; "": made by hand
	ImportHash string `bson:"import_hash,omitempty" json:"-"`                 // of the row that was last imported
}

// Flags of a category, in the order of the contract's part 2.7, which has all but the last. The tags name them in the
// API, in imports and as they are stored.
type Flags struct {
	Schoolwide  bool `json:"schoolwide" bson:"schoolwide"`
	Publish     bool `json:"publish" bson:"publish"`
	Visible     bool `json:"visible" bson:"visible"`
	Unimportant bool `json:"unimportant" bson:"unimportant"`
	CanMerge    bool `json:"can_merge" bson:"can_merge"`
	CanBorrow   bool `json:"can_borrow" bson:"can_borrow"`
	Compactable bool `json:"compactable" bson:"compactable"`
	Privileged  bool `json:"privileged" bson:"privileged"`
	ClashCheck  bool `json:"clash_check" bson:"clash_check"`
	Busy        bool `json:"busy" bson:"busy"`
	Timetable   bool `json:"timetable" bson:"timetable"`
	// Confidential hides what its events are from all but a few (decisions, part 9). Only administrators see it.
	Confidential bool `json:"confidential,omitempty" bson:"confidential,omitempty"`
}

// flag returns the i-th flag.
func (f *Flags) flag(i int) *bool {
	return reflect.ValueOf(f).Elem().Field(i).Addr().Interface().(*bool)
}

// Flag returns the flag of that name, which must be one of FlagNames.
func (f *Flags) Flag(name string) bool { return *f.flag(slices.Index(flagNames, name)) }

// FlagNames lists the names of the flags in the API.
func FlagNames() []string { return slices.Clone(flagNames) }

var flagNames = func() (names []string) {
	for field := range reflect.TypeFor[Flags]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}()

// Fields are the fields of a category in a request; nil, or not in Flags, is a field not given.
type Fields struct {
	Name         *string
	PeckingOrder *int
	School       *int64 // 0: none; which it may be is for mayOwn to say
	Flags        map[string]bool
	Faults       problem.Fields // what could not be read, by the field's name; never nil
}

// apply writes the fields into c and returns their faults. Fields not given keep their values.
func (f Fields) apply(c *Category) problem.Fields {
	if f.Name != nil {
		c.Name = strings.TrimSpace(*f.Name)
	}
	form.Set(&c.PeckingOrder, f.PeckingOrder)
	for i, name := range flagNames {
		if value, given := f.Flags[name]; given {
			*c.flag(i) = value
		}
	}
	faults := maps.Clone(f.Faults)
	problem.Text{Most: maxName, Required: true}.Check(faults, "name", c.Name)
	return faults
}

// UsableBy says whether p may see and use the category (decisions, parts 4 and 7); for a school's category, ofViewer
// must agree too.
func (c Category) UsableBy(p principal.Principal) bool {
	return !c.Privileged || p.Permissions.Privileged
}
