package principal

import (
	"reflect"
	"slices"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestDecisionsPart8_EveryPermissionHasItsName(t *testing.T) {
	var p Permissions
	for i, row := range table {
		tag := reflect.TypeFor[Permissions]().Field(i).Tag
		if row.Name == "" || row.May == "" || tag.Get("bson") != row.Name {
			t.Errorf("%q has not one name everywhere and what it allows", tag)
		}
		before := p
		if p.Set(row.Name, true); p == before || before.Has(row.Name) || !p.Has(row.Name) {
			t.Errorf("%s is no permission of its own: %+v", row.Name, p)
		}
		if !slices.Equal(before.Lacking(p), []string{row.Name}) || len(p.Lacking(before)) > 0 {
			t.Errorf("%+v lacks %v of %+v", before, before.Lacking(p), p)
		}
	}
	valuetest.Holds(t, p == All() && (Permissions{Admin: true}).Implied() == All(), "all the names make %+v", p)
	some := (Permissions{CanAPI: true, Privileged: true})
	valuetest.Same(t, some.Implied(), some, "%+v implies", some)
}
