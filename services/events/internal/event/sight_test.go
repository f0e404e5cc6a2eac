package event

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

const (
	teacher, asked, colleague, mate, hall, others = 11, 12, 13, 14, 15, 16 // elements
	viewer, owner                                 = 1, 2                   // users
)

// What a listing names of an event to a guest is what the event itself shows to it.
func TestDecisionsPart9_TheStaffOfAListingAreThoseOfTheEvent(t *testing.T) {
	e := Event{Commitments: []Commitment{
		{ID: 1, ElementID: teacher, Status: Uncontrolled}, {ID: 2, ElementID: asked, Status: Requested},
		{ID: 3, ElementID: hall, Status: Confirmed}, {ID: 4, ElementID: colleague, Status: Rejected},
	}}
	all, firm := []int64{teacher, asked, hall, colleague}, []int64{teacher, hall}
	for scope, want := range map[principal.Scope][]int64{
		principal.SeesAll: all, principal.SeesOwn: all, principal.SeesPublic: firm,
	} {
		valuetest.List(t, Named(&e, &fact.Sight{Scope: scope}), want, "with %s named", scope)
	}
	valuetest.List(t, Named(&e, nil), all, "to another service named")
}

// A viewer who decides on an entry of an event that is hidden from it is not told who and what else is there.
func TestDecisionsPart9_OfAHiddenEventStaffAndLocationsNameOnlyWhatTheViewerDecidesOn(t *testing.T) {
	const court = 17
	named := func(id int64, kind, short string, administrators ...int64) fact.Element {
		return fact.Element{
			Element: form.Element{ID: id, EntityType: kind}, Short: short, Administrators: administrators,
		}
	}
	b := Included{include: Include{Staff: true, Locations: true}, elements: map[int64]fact.Element{
		teacher: named(teacher, form.Staff, "TT"), hall: named(hall, form.Location, "Hall"),
		court: named(court, form.Location, "Court", viewer),
	}}
	e := &Event{Commitments: []Commitment{
		{ID: 3, ElementID: court, Status: Requested}, {ID: 2, ElementID: hall, Status: Uncontrolled},
		{ID: 1, ElementID: teacher, Status: Uncontrolled},
	}}
	for name, c := range map[string]struct {
		who              fact.Sight
		ownerID          int64
		staff, locations string
	}{
		"a pupil, of a hidden event": {
			fact.Sight{UserID: viewer, Scope: principal.SeesOwn, SeesStaff: true}, owner, "", "Court",
		},
		"a pupil, of its own event": {
			fact.Sight{UserID: viewer, Scope: principal.SeesOwn, SeesStaff: true}, viewer, "TT", "Hall,Court",
		},
		"a pupil, without staff": {fact.Sight{UserID: viewer, Scope: principal.SeesOwn}, viewer, "", "Hall,Court"},
		"a guest":                {fact.Sight{UserID: 9, Scope: principal.SeesPublic}, 9, "TT", "Hall"},
		"staff":                  {fact.Sight{UserID: 9, Scope: principal.SeesAll}, owner, "TT", "Hall,Court"},
	} {
		b.lens, e.OwnerID = lens{surrounded(wiretime.Zone{}, c.who), nil}, c.ownerID
		if staff, locations := *b.Staff(e), *b.Locations(e); staff != c.staff || locations != c.locations {
			t.Errorf("%s: %q and %q, want %q and %q", name, staff, locations, c.staff, c.locations)
		}
	}
}
