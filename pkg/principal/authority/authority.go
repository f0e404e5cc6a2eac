// Package authority has what the services share about administrators of schools: which elements are theirs, and the
// school of new records. Each domain package decides what they may do with these
// (docs/decisions/0020-several-schools.md).
package authority

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// Own are the elements that a user administers, among those that were asked about; an admin's are all.
type Own struct {
	all bool
	ids []int64
}

// AskOwn asks which of the elements p administers today. Ids may repeat; 0 is not an element. It asks nothing for an
// admin, for a user who administers no school, or without elements.
func AskOwn(
	ctx context.Context, p principal.Principal, ids []int64,
	belonging func(context.Context, fact.BelongingQuestion) ([]int64, error),
) (Own, error) {
	o := Own{all: p.Permissions.Admin}
	ids = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(ids))), func(id int64) bool { return id == 0 })
	if o.all || len(p.AdminOf) == 0 || len(ids) == 0 {
		return o, nil
	}
	var err error
	o.ids, err = belonging(ctx, fact.BelongingQuestion{Schools: p.AdminOf, IDs: ids})
	return o, err
}

// All says whether they are an admin's.
func (o Own) All() bool { return o.all }

// Has says whether the element is one of them. Only an admin has 0, which is not an element.
func (o Own) Has(id int64) bool { return o.all || slices.Contains(o.ids, id) }

// Schools asks which of the elements are schools today, and returns them in no order. It asks nothing without elements.
func Schools(
	ctx context.Context, ids []int64, facts func(context.Context, fact.ElementsQuestion) ([]fact.Element, error),
) ([]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := facts(ctx, fact.ElementsQuestion{IDs: ids})
	var schools []int64
	for _, e := range found {
		if e.School {
			schools = append(schools, e.ID)
		}
	}
	return schools, err
}

// Directory is what is asked of the elements service.
type Directory interface {
	Belonging(context.Context, fact.BelongingQuestion) ([]int64, error)
	Facts(context.Context, fact.ElementsQuestion) ([]fact.Element, error)
}

// Administered returns the schools that p administers today, in no order: its own, and those that belong to them. 0 is
// not a school. It asks nothing when p administers none.
func Administered(ctx context.Context, p principal.Principal, schools []int64, elements Directory) ([]int64, error) {
	own, err := AskOwn(ctx, p, schools, elements.Belonging)
	if err != nil {
		return nil, err
	}
	schools = slices.DeleteFunc(slices.Clone(schools), func(id int64) bool { return id == 0 || !own.Has(id) })
	return Schools(ctx, schools, elements.Facts) // an element of a school may have been a school once
}

// Only returns the school of a new record whose school is not named: the only one that its maker administers. Forbidden
// when there is none; with several the field is at fault, and the school 0.
func Only(schools []int64, field string, faults problem.Fields) (int64, error) {
	switch len(schools) {
	case 0:
		return 0, problem.New(problem.Forbidden, "")
	case 1:
		return schools[0], nil
	}
	faults.Add(field, problem.Blank)
	return 0, nil
}
