package element

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

const (
	// MaxTimetables bounds the elements of one question for timetables by their ids.
	MaxTimetables = 200
	// MaxTimetablesOf bounds those of a group or a type.
	MaxTimetablesOf = 1000
)

// Whose says whose timetables are asked for. One field is set.
type Whose struct {
	IDs        []int64 // each once
	Group      int64   // of the current people and things that are in it on any of the days
	EntityType string  // of the current elements of that type
}

// Timetable is an element with its commitments.
type Timetable struct {
	Element     Element
	Commitments []Commitment
}

// ListTimetables returns the timetables of the elements, each with what ListCommitments returns of it: those of ids in
// their order, others in order of name, then id. Each is made when it is asked for: what a large group is committed to
// is in all of them. Problems are those of ListCommitments, and Malformed when the elements are too many, or the group
// is none.
func (s *Service) ListTimetables(
	ctx context.Context, whose Whose, days wiretime.Days, include Include,
) (iter.Seq[Timetable], error) {
	p, err := s.poolFor(ctx, whose, days)
	if err != nil {
		return nil, err
	}
	q := fact.CommitmentsQuestion{Reaches: union(p.reaches), Involved: include.Staff || include.Locations}
	facts, err := s.events.Commitments(ctx, q)
	if err != nil {
		return nil, err
	}
	placed, err := s.placed(facts)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, f := range facts {
		ids = append(append(ids, f.ElementID), f.Involved...)
	}
	elements, err := s.find(ctx, ids)
	if err != nil {
		return nil, err
	}
	return func(yield func(Timetable) bool) {
		for n, e := range p.elements {
			t := Timetable{Element: e}
			for _, f := range reached(p.reaches[n], placed) {
				t.Commitments = append(t.Commitments, newCommitment(facts[f], e.ID, elements, include))
			}
			if !yield(t) {
				return
			}
		}
	}, nil
}

// poolFor returns the elements whose timetables are asked for.
func (s *Service) poolFor(ctx context.Context, whose Whose, days wiretime.Days) (pool, error) {
	if len(whose.IDs) == 0 {
		c := choice{entityType: whose.EntityType, group: whose.Group, most: MaxTimetablesOf}
		return s.poolOf(ctx, c, days)
	}
	elements, err := s.getAll(ctx, whose.IDs)
	if err != nil {
		return pool{}, err
	}
	return s.reach(ctx, elements, days)
}

// place is where a commitment is in a list, and the days that its event touches.
type place struct {
	at   int
	days wiretime.Days
}

// placed returns the places of commitments by element.
func (s *Service) placed(facts []fact.Commitment) (map[int64][]place, error) {
	placed := map[int64][]place{}
	for i, f := range facts {
		days, err := s.daysOf(f.Event)
		if err != nil {
			return nil, fmt.Errorf("days of event %d: %w", f.ID, err)
		}
		placed[f.ElementID] = append(placed[f.ElementID], place{i, days})
	}
	return placed, nil
}

// daysOf returns the days that an event touches.
func (s *Service) daysOf(e form.Event) (wiretime.Days, error) {
	time, err := intervalOf(e)
	return s.zone.Days(time.Starts, time.Ends), err
}

// reached returns where those of the commitments are that count for an element with these reaches, in their order.
func reached(reaches []fact.Reach, placed map[int64][]place) []int {
	var all []int
	for _, r := range reaches {
		for _, p := range placed[r.ElementID] {
			if slices.ContainsFunc(r.Days, p.days.Overlaps) {
				all = append(all, p.at)
			}
		}
	}
	slices.Sort(all)
	return all
}
