package element

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestDecisionsPart9_WhoIsToldOfStaffInListings(t *testing.T) {
	staff, hall := &Element{ID: 1, EntityType: form.Staff}, &Element{ID: 2, EntityType: form.Location}
	for _, c := range []struct {
		name  string
		who   fact.Sight
		staff bool
	}{
		{"staff", fact.Sight{Scope: principal.SeesAll}, true},
		{"a pupil", fact.Sight{Scope: principal.SeesOwn, SeesStaff: true}, true},
		{"a pupil, without staff", fact.Sight{Scope: principal.SeesOwn}, false},
		{"a guest", fact.Sight{Scope: principal.SeesPublic}, true},
	} {
		v := sight{Sight: c.who}
		valuetest.Same(t, v.names(staff), c.staff, "%s is told of staff", c.name)
		valuetest.Holds(t, v.names(hall), "%s is not told of a location", c.name)
	}
}
