package element

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// listed is a store of a few elements, as far as a search reads it.
type listed struct {
	Store
	elements []Element
}

func (s listed) choose(matches func(*Element) bool) (found []Element, err error) {
	for _, e := range s.elements {
		if matches(&e) {
			found = append(found, e)
		}
	}
	return found, nil
}

func (s listed) Find(_ context.Context, ids []int64) ([]Element, error) {
	return s.choose(func(e *Element) bool { return slices.Contains(ids, e.ID) })
}

func (s listed) ListByType(_ context.Context, among Among, _ int) ([]Element, error) {
	return s.choose(among.Matcher())
}

func (s listed) ListSchools(context.Context) ([]int64, error) {
	schools, err := s.choose(func(e *Element) bool { return e.IsSchool() })
	return idsOf(schools), err
}

// enrolled is a store of memberships.
type enrolled struct {
	MembershipStore
	*school
}

func (s enrolled) FindByMembers(ctx context.Context, members []int64, _ wiretime.Days) ([]Membership, error) {
	return s.up(ctx, members)
}

func (s enrolled) Reaches(
	ctx context.Context, _ int64, work func(context.Context) ([]fact.Reach, error),
) ([]fact.Reach, error) {
	return work(ctx)
}

func (s enrolled) Belonging(
	ctx context.Context, _ int64, _ wiretime.Day, work func(context.Context) (ids, groups []int64, err error),
) ([]int64, error) {
	ids, _, err := work(ctx)
	return ids, err
}

func (s enrolled) FindByGroups(ctx context.Context, groups []int64, _ wiretime.Days) ([]Membership, error) {
	return s.down(ctx, groups)
}

// A viewer who sees only the list form of a person must not learn a detail by a filter.
func TestDecisionsPart9_AFilterByADetailFindsOnlyPersonsWhoseDetailsAreSeen(t *testing.T) {
	const north, south, viewer, ann, bob, cleo = 1, 2, 3, 4, 5, 6
	elements := listed{}
	for id, entityType := range []string{
		north: form.Group, south: form.Group, viewer: form.Staff, ann: form.Pupil, bob: form.Pupil, cleo: form.Pupil,
	} {
		e := Element{ID: int64(id), EntityType: entityType, Current: true}
		e.School, e.YearGroup = e.IsGroup(), "9"
		elements.elements = append(elements.elements, e)
	}
	memberships := enrolled{school: &school{asked: map[int64]int{}}}
	for _, pair := range [][2]int64{{north, viewer}, {north, ann}, {south, bob}} { // Cleo belongs to no school
		memberships.memberships = append(memberships.memberships,
			Membership{Group: pair[0], Member: pair[1], Days: []wiretime.Days{allDays}})
	}
	for scope, want := range map[principal.Scope][]int64{
		principal.SeesSchool: {ann, cleo}, principal.SeesAll: {ann, bob, cleo},
	} {
		s := New(Options{
			Store: elements, Memberships: memberships, Sights: principal.Sights{Staff: scope},
			Zone: timetest.London(t), Now: time.Now,
		})
		for _, c := range []struct {
			details map[string]any
			want    []int64
		}{{map[string]any{"year_group": "9"}, want}, {map[string]any{"year_group": "8"}, nil},
			{nil, []int64{ann, bob, cleo}}} {
			found, _, err := s.Search(t.Context(), principal.Principal{Kind: principal.Staff, ElementID: viewer},
				Search{EntityType: form.Pupil, Details: c.details})
			if got := idsOf(found); err != nil || !slices.Equal(got, c.want) && len(got)+len(c.want) > 0 {
				t.Errorf("staff who see %s find %v by %v, not %v (%v)", scope, got, c.details, c.want, err)
			}
		}
	}
}
