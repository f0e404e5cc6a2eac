package authority_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/principal/authority"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestOwn_IsWhatBelongsAndAnAdminsAll: 0, which is no element, is an admin's alone and never asked about.
func TestOwn_IsWhatBelongsAndAnAdminsAll(t *testing.T) {
	var asked []fact.BelongingQuestion
	belonging := func(_ context.Context, q fact.BelongingQuestion) ([]int64, error) {
		asked = append(asked, q)
		return []int64{7}, nil
	}
	head := principal.Principal{AdminOf: []int64{3}}
	admin := principal.Principal{Permissions: principal.All(), AdminOf: []int64{3}}
	for _, c := range []struct {
		p    principal.Principal
		ids  []int64
		want []int64 // asked about; nil: nothing
		has  map[int64]bool
	}{
		{head, []int64{9, 0, 7, 9}, []int64{7, 9}, map[int64]bool{7: true, 9: false, 0: false}},
		{head, []int64{0}, nil, map[int64]bool{0: false, 7: false}},
		{head, nil, nil, map[int64]bool{0: false}},
		{principal.Principal{}, []int64{7}, nil, map[int64]bool{7: false}},
		{admin, []int64{9, 0, 7}, nil, map[int64]bool{7: true, 9: true, 0: true, 11: true}},
	} {
		asked = nil
		given := slices.Clone(c.ids)
		own, err := authority.AskOwn(t.Context(), c.p, c.ids, belonging)
		if err != nil || own.All() != c.p.Permissions.Admin || !slices.Equal(given, c.ids) {
			t.Errorf("%v: %v, all %v, the ids are %v", given, err, own.All(), c.ids)
		}
		switch {
		case c.want == nil && len(asked) > 0, c.want != nil && len(asked) != 1:
			t.Errorf("%v: asked %v", given, asked)
		case c.want != nil && (!slices.Equal(asked[0].IDs, c.want) || !slices.Equal(asked[0].Schools, []int64{3})):
			t.Errorf("%v: asked %v", given, asked[0])
		}
		for id, has := range c.has {
			valuetest.Same(t, own.Has(id), has, "%v: has %d", given, id)
		}
	}
	away := errors.New("away")
	if _, err := authority.AskOwn(t.Context(), head, []int64{7}, func(context.Context, fact.BelongingQuestion) ([]int64,
		error) {
		return nil, away
	}); !errors.Is(err, away) {
		t.Errorf("%v", err)
	}
}

func TestSchools_AreThoseThatAreSoToday(t *testing.T) {
	facts := func(_ context.Context, q fact.ElementsQuestion) ([]fact.Element, error) {
		valuetest.Holds(t, len(q.IDs) != 0, "asked about none")
		return []fact.Element{{Element: form.Element{ID: 3}, School: true}, {Element: form.Element{ID: 4}}}, nil
	}
	for _, c := range []struct{ ids, want []int64 }{{[]int64{3, 4, 5}, []int64{3}}, {nil, nil}} {
		if got, err := authority.Schools(t.Context(), c.ids, facts); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, %v", c.ids, got, err)
		}
	}
}

// directory says that 7 and 8 belong to the school 3, and that 8 and 9 are schools.
type directory struct{ asked []int64 }

func (d *directory) Belonging(_ context.Context, q fact.BelongingQuestion) ([]int64, error) {
	d.asked = append(d.asked, q.IDs...)
	return []int64{7, 8}, nil
}

func (d *directory) Facts(_ context.Context, q fact.ElementsQuestion) ([]fact.Element, error) {
	return sequence.Map(q.IDs, func(id int64) fact.Element {
		return fact.Element{Element: form.Element{ID: id}, School: id > 7}
	}), nil
}

func TestAdministered_AreSchoolsWithinOnesOwnToo(t *testing.T) {
	for _, c := range []struct{ adminOf, asked, want []int64 }{
		{[]int64{3}, []int64{7, 8, 9}, []int64{8}}, {nil, nil, nil},
	} {
		d := &directory{}
		got, err := authority.Administered(t.Context(), principal.Principal{AdminOf: c.adminOf}, []int64{0, 7, 8, 9}, d)
		if err != nil || !slices.Equal(got, c.want) || !slices.Equal(d.asked, c.asked) {
			t.Errorf("of %v: %v, asked about %v, %v", c.adminOf, got, d.asked, err)
		}
	}
}

func TestOnly_IsNamedWhereThereAreSeveral(t *testing.T) {
	for _, c := range []struct {
		schools []int64
		want    int64
		fault   bool
		refused bool
	}{{nil, 0, false, true}, {[]int64{3}, 3, false, false}, {[]int64{3, 4}, 0, true, false}} {
		faults := problem.Fields{}
		got, err := authority.Only(c.schools, "school_id", faults)
		if got != c.want || problem.Is(err, problem.Forbidden) != c.refused || (err != nil) != c.refused ||
			slices.Equal(faults["school_id"], []string{problem.Blank}) != c.fault || (len(faults) > 0) != c.fault {
			t.Errorf("%v: %d, %v, %v", c.schools, got, err, faults)
		}
	}
}
