package api

import (
	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// The detail forms (contract 2.1, decisions part 3). The order of the fields is that of the keys; a field without a value is null.
type (
	detail struct {
		ID         int64  `json:"id"`
		Name       string `json:"name"`
		EntityType string `json:"entity_type"`
		EntityID   int64  `json:"entity_id"`
		Current    bool   `json:"current"`
		UUID       string `json:"uuid"`
	}
	staffDetail struct {
		detail
		Email    *string `json:"email"`
		Title    *string `json:"title"`
		Initials *string `json:"initials"`
		Forename *string `json:"forename"`
		Surname  *string `json:"surname"`
	}
	pupilDetail struct {
		detail
		Email     *string `json:"email"`
		Forename  *string `json:"forename"`
		Surname   *string `json:"surname"`
		KnownAs   *string `json:"known_as"`
		YearGroup *string `json:"year_group"`
		HouseName *string `json:"house_name"`
	}
	groupDetail struct {
		detail
		Description string `json:"description"`
		Members     int    `json:"members"`
	}
	propertyDetail struct {
		detail
		MakePublic *bool `json:"make_public"`
	}
)

// detailOf returns the detail form of an element; members counts for groups alone.
func detailOf(e element.Element, members int) any {
	d := detail{e.ID, e.Name, e.EntityType, e.EntityID, e.Current, e.UUID}
	f := e.Details
	switch e.EntityType {
	case form.Staff:
		return staffDetail{d, value(f.Email), value(f.Title), value(f.Initials), value(f.Forename), value(f.Surname)}
	case form.Pupil:
		return pupilDetail{d, value(f.Email), value(f.Forename), value(f.Surname), value(f.KnownAs), value(f.YearGroup), value(f.HouseName)}
	case form.Group:
		return groupDetail{d, e.Description(), members}
	case form.Property:
		return propertyDetail{d, f.MakePublic}
	default:
		return d
	}
}

// value is nil for a field without one.
func value(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// record is the administrators' form of an element: all that can be written, fields without a value left out.
type record struct {
	ID          *int64         `json:"id"` // null: never stored
	Key         string         `json:"key,omitempty"`
	Name        string         `json:"name"`
	EntityType  string         `json:"entity_type"`
	EntityID    *int64         `json:"entity_id"`
	Current     bool           `json:"current"`
	UUID        string         `json:"uuid"`
	Email       string         `json:"email,omitempty"`
	Title       string         `json:"title,omitempty"`
	Initials    string         `json:"initials,omitempty"`
	Forename    string         `json:"forename,omitempty"`
	Surname     string         `json:"surname,omitempty"`
	KnownAs     string         `json:"known_as,omitempty"`
	YearGroup   string         `json:"year_group,omitempty"`
	HouseName   string         `json:"house_name,omitempty"`
	TutorGroup  string         `json:"tutor_group,omitempty"`
	ShortName   string         `json:"short_name,omitempty"`
	Description string         `json:"description,omitempty"`
	Resource    *bool          `json:"resource,omitempty"` // of groups
	MakePublic  *bool          `json:"make_public,omitempty"`
	Controlled  bool           `json:"controlled"`
	Valid       bool           `json:"valid"`
	Errors      problem.Fields `json:"errors,omitempty"`
}

func recordOf(e element.Element) record {
	f := e.Details
	r := record{
		Key: e.Key, Name: e.Name, EntityType: e.EntityType, Current: e.Current, UUID: e.UUID,
		Email: f.Email, Title: f.Title, Initials: f.Initials, Forename: f.Forename, Surname: f.Surname, KnownAs: f.KnownAs,
		YearGroup: f.YearGroup, HouseName: f.HouseName, TutorGroup: f.TutorGroup, ShortName: f.ShortName, Description: f.Description,
		MakePublic: f.MakePublic, Controlled: len(e.Administrators) > 0, Valid: true,
	}
	if e.ID != 0 {
		r.ID, r.EntityID = &e.ID, &e.EntityID
	}
	if e.IsGroup() {
		r.Resource = &f.Resource
	}
	return r
}

func recordsOf(elements []element.Element) []record {
	records := make([]record, len(elements))
	for i, e := range elements {
		records[i] = recordOf(e)
	}
	return records
}

// membership is the administrators' form of a run of days of a membership; an open end is null.
type membership struct {
	ElementID *int64         `json:"element_id"`
	Element   *form.Element  `json:"element,omitempty"`
	FirstDay  *string        `json:"first_day"`
	LastDay   *string        `json:"last_day"`
	Valid     bool           `json:"valid"`
	Errors    problem.Fields `json:"errors,omitempty"`
}

func membershipsOf(members []element.Member) []membership {
	forms := make([]membership, len(members))
	for i, m := range members {
		forms[i] = membership{FirstDay: dayText(m.Days.First), LastDay: dayText(m.Days.Last), Valid: len(m.Faults) == 0, Errors: m.Faults}
		if m.ElementID != 0 {
			forms[i].ElementID = &m.ElementID
		}
		if m.Element.ID != 0 {
			forms[i].Element = &m.Element
		}
	}
	return forms
}

func dayText(day wiretime.Day) *string {
	if day == wiretime.FirstDay || day == wiretime.LastDay {
		return nil
	}
	text := day.String()
	return &text
}

// inside is the administrators' form of a person or thing in a group, directly or through groups in it.
type inside struct {
	ElementID int64        `json:"element_id"`
	Element   form.Element `json:"element"`
	Valid     bool         `json:"valid"`
}

func insidesOf(members []element.Member) []inside {
	forms := make([]inside, len(members))
	for i, m := range members {
		forms[i] = inside{m.ElementID, m.Element, true}
	}
	return forms
}
