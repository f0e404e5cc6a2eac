package event

import (
	"slices"
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

// seenBy is what a view of a lesson of all of them shows to a viewer: the commitments' elements, and the owner.
func seenBy(who fact.Sight, ownerKind principal.Kind) (elements []int64, organiser int64, shown *fact.User) {
	e := Event{ID: 1, OwnerID: owner, OrganiserID: colleague}
	view := View{Elements: map[int64]fact.Element{}, Owner: &fact.User{
		User: form.User{ID: owner, Name: "Tess Teacher", Email: "tt@school.example", Valid: true}, Kind: ownerKind,
	}}
	for i, of := range []struct {
		id     int64
		kind   string
		status Status
	}{
		{teacher, form.Staff, Uncontrolled}, {asked, form.Staff, Requested}, {mate, form.Pupil, Uncontrolled},
		{hall, form.Location, Uncontrolled}, {others, form.Group, Uncontrolled},
	} {
		e.Commitments = append(e.Commitments, Commitment{ID: int64(i + 1), ElementID: of.id, Status: of.status})
		view.Elements[of.id] = fact.Element{Element: form.Element{ID: of.id, EntityType: of.kind}}
	}
	view.Event = e
	trimmed := surrounded(wiretime.Zone{}, who).trim(view)
	return trimmed.Involved(), trimmed.OrganiserID, trimmed.Owner
}

func TestDecisionsPart9_PupilsAreShownStaffOfTheEventsThatTheySee(t *testing.T) {
	sight := func(kind principal.Kind, staff bool) fact.Sight {
		sights := principal.Sights{
			Pupils: principal.SeesOwn, PupilsSeeStaff: staff, Staff: principal.SeesAll, Guests: principal.SeesPublic,
		}
		return fact.SightOf(sights, principal.Principal{UserID: viewer, Kind: kind})
	}
	for name, c := range map[string]struct {
		who       fact.Sight
		ownerKind principal.Kind
		elements  []int64
		organiser int64
		owner     string
	}{
		"staff": {sight(principal.Staff, true), principal.Pupil, []int64{teacher, asked, mate, hall, others}, colleague,
			"tt@school.example"},
		"a pupil": {sight(principal.Pupil, true), principal.Staff, []int64{teacher, asked, hall}, colleague,
			hiddenEmail},
		"a pupil, of another pupil's event": {sight(principal.Pupil, true), principal.Pupil,
			[]int64{teacher, asked, hall}, colleague, "hidden"},
		"a pupil, of a guest's event": {sight(principal.Pupil, true), principal.Guest,
			[]int64{teacher, asked, hall}, colleague, "hidden"},
		"a pupil, without staff": {sight(principal.Pupil, false), principal.Staff, []int64{hall}, 0, "hidden"},
		"a guest": {sight(principal.Guest, true), principal.Staff, []int64{teacher, hall, others}, 0,
			"hidden"},
	} {
		elements, organiser, shown := seenBy(c.who, c.ownerKind)
		if !slices.Equal(elements, c.elements) || organiser != c.organiser {
			t.Errorf("%s sees %v, organised by %d", name, elements, organiser)
		}
		if got := "hidden"; shown != nil || c.owner != got {
			if shown == nil || shown.Name != "Tess Teacher" || shown.Email != c.owner {
				t.Errorf("%s sees the owner %+v, want %q", name, shown, c.owner)
			}
		}
	}
}

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
