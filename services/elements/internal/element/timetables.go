package element

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/segmentio/encoding/json"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

const (
	// MaxTimetables bounds the elements of one question for timetables by their ids.
	MaxTimetables = 200
	// MaxTimetablesOf bounds those of a group or a type.
	MaxTimetablesOf = 1000
)

// Timetable is an element with its commitments.
type Timetable struct {
	Element     Element
	Commitments []Commitment
}

// ListTimetables returns the timetables of the elements, each as ListCommitments returns it: those of ids in their
// order, others in order of name, then id. Each is made when it is read, since the commitments of a large group are in
// all of them. Problems are those of ListCommitments, and Malformed when there are too many elements, or the group is
// not one.
func (s *Service) ListTimetables(
	ctx context.Context, p principal.Principal, whose Whose, days wiretime.Days, include Include,
) (iter.Seq[Timetable], error) {
	all, v, err := s.poolFor(ctx, p, whose, days)
	if err != nil {
		return nil, err
	}
	s.recordRead(ctx, v.ElementID, audit.ReadTimetable, all.elements...)
	facts, err := s.commitmentsOf(ctx, v, union(all.reaches), include, all.elements...)
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
		for n, e := range all.elements {
			t := Timetable{Element: e}
			for _, f := range reached(all.reaches[n], placed) {
				t.Commitments = append(t.Commitments, newCommitment(facts[f], e.ID, elements, include, v))
			}
			if !yield(t) {
				return
			}
		}
	}, nil
}

// poolFor returns the elements of a choice, by their ids or in another way, and what p sees.
func (s *Service) poolFor(
	ctx context.Context, p principal.Principal, whose Whose, days wiretime.Days,
) (pool, sight, error) {
	if len(whose.IDs) == 0 {
		v, err := s.sightOf(ctx, s.viewer(p), days)
		if err != nil {
			return pool{}, v, err
		}
		all, err := s.poolOf(ctx, v, whose, MaxTimetablesOf, days)
		return all, v, err
	}
	elements, v, err := s.getAllSeen(ctx, p, whose.IDs, days)
	if err != nil {
		return pool{}, v, err
	}
	all, err := s.reach(ctx, v, elements, days)
	return all, v, err
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
func (s *Service) daysOf(event json.RawMessage) (wiretime.Days, error) {
	var e struct {
		StartsAt *string `json:"starts_at"`
		EndsAt   *string `json:"ends_at"`
	}
	if err := json.Unmarshal(event, &e); err != nil {
		return wiretime.Days{}, err
	}
	time, err := intervalOf(form.Event{StartsAt: e.StartsAt, EndsAt: e.EndsAt})
	return s.Zone.Days(time.Starts, time.Ends), err
}

// reached returns the places of the commitments that count for an element with these reaches, in their order.
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
