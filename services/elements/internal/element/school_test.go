package element

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
)

func TestDecisionsPart9_AnElementIsControlledForThoseOutsideItsSchools(t *testing.T) {
	const north, south, trust = 1, 2, 3 // schools; the trust is one around the south
	for _, c := range []struct {
		name             string
		who              fact.ControlQuestion
		own, schools     []int64
		administrators   []int64
		open             bool
		outside, decides bool
	}{
		{name: "of its school", own: []int64{north}, schools: []int64{north}},
		{name: "of another", own: []int64{south, trust}, schools: []int64{north}, outside: true},
		{name: "of none", schools: []int64{north}, outside: true},
		{name: "of one of several", own: []int64{south}, schools: []int64{north, south}},
		{name: "of the school around its own", own: []int64{trust}, schools: []int64{south, trust}},
		{name: "of a school within its own", own: []int64{south, trust}, schools: []int64{trust}},
		{name: "an admin", who: fact.ControlQuestion{Admin: true}, schools: []int64{north}},
		{name: "open", own: []int64{south}, schools: []int64{north}, open: true},
		{
			name: "its school's administrator", who: fact.ControlQuestion{AdminOf: []int64{north}},
			schools: []int64{north}, decides: true,
		},
		{
			name: "its school's administrator, beside its own", who: fact.ControlQuestion{AdminOf: []int64{north}},
			schools: []int64{north}, administrators: []int64{7},
		},
		{
			name: "another school's administrator", who: fact.ControlQuestion{AdminOf: []int64{south}},
			schools: []int64{north}, outside: true,
		},
	} {
		e := Element{ID: 9, Administrators: c.administrators}
		got := e.control(c.who, c.own, c.schools, c.open)
		if got.Outside != c.outside || got.Decides != c.decides || got.ElementID != e.ID {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
