package event

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// controls asks elements what the schools of elements mean.
type controls interface {
	Control(ctx context.Context, q fact.ControlQuestion) ([]fact.Control, error)
}

// Deciders returns the users who decide on each of the elements (decisions, parts 5 and 9): its administrators or,
// where it has none, those of its schools. It asks no neighbour while all have administrators.
func Deciders(
	ctx context.Context, elements controls, users Users, of []fact.Element,
) (map[int64][]int64, error) {
	deciders := map[int64][]int64{}
	var unattended []int64
	for _, e := range of {
		if len(e.Administrators) > 0 {
			deciders[e.ID] = e.Administrators
		} else if !slices.Contains(unattended, e.ID) {
			unattended = append(unattended, e.ID)
		}
	}
	if len(unattended) == 0 {
		return deciders, nil
	}
	found, err := elements.Control(ctx, fact.ControlQuestion{IDs: unattended})
	if err != nil || len(found) == 0 {
		return deciders, err
	}
	var schools []int64
	for _, c := range found {
		schools = append(schools, c.Schools...)
	}
	administrators, err := users.Users(ctx, fact.UsersQuestion{AdminOf: sequence.Distinct(schools)})
	for _, c := range found {
		for _, u := range administrators {
			if slices.ContainsFunc(u.AdminOf, func(id int64) bool { return slices.Contains(c.Schools, id) }) {
				deciders[c.ElementID] = append(deciders[c.ElementID], u.ID)
			}
		}
	}
	return deciders, err
}

// waiting returns the elements of which something in the event waits for a decision or an allocation. A group without
// administrators has no one who allocates.
func (v *View) waiting() (of []fact.Element) {
	for _, c := range v.Commitments {
		if c.Status.waits() {
			of = append(of, v.Elements[c.ElementID])
		}
	}
	for _, r := range v.Requests {
		if group := v.Elements[r.ElementID]; v.Allocated(r.ID) < r.Quantity && len(group.Administrators) > 0 {
			of = append(of, group)
		}
	}
	return of
}
