package event

import (
	"context"
	"errors"
	"testing"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// overtaken is a store with one event, onto which another user puts an element before each change of it.
type overtaken struct {
	Store
	e     Event
	added int64
}

func (s overtaken) Get(context.Context, int64) (Event, error) { return s.e, nil }
func (s overtaken) Change(_ context.Context, _ int64, change func(*Event) error) (Event, error) {
	s.e.Commitments = []Commitment{{ID: 1, ElementID: s.added, Status: Uncontrolled}}
	err := change(&s.e)
	return s.e, ignoring(err)
}
func (overtaken) NewIDs(_ context.Context, events, commitments, requests int) (IDs, error) {
	return IDs{make([]int64, events), make([]int64, commitments), make([]int64, requests)}, nil
}

func ignoring(err error) error {
	if errors.Is(err, record.ErrUnchanged) {
		return nil
	}
	return err
}

// allPupils is an elements service that has every element, each a pupil.
type allPupils struct{ Elements }

func (allPupils) Facts(_ context.Context, q fact.ElementsQuestion) (facts []fact.Element, err error) {
	for _, id := range q.IDs {
		if id != fact.District {
			facts = append(facts, fact.Element{Element: form.Element{ID: id, EntityType: form.Pupil}})
		}
	}
	return facts, nil
}
func (allPupils) Surroundings(context.Context, fact.SurroundingsQuestion) (fact.Surroundings, error) {
	return fact.Surroundings{}, nil
}

// unbooked finds no clashes.
type unbooked struct{ Clashes }

func (unbooked) Book(_ context.Context, _ Addition, write WriteAddition) (Event, []Clash, error) {
	e, _, err := write(nil)
	return e, nil, err
}

// categoryless has no categories.
type categoryless struct{ Categories }

func (categoryless) Find(context.Context, []int64, []string) ([]category.Category, error) {
	return nil, nil
}

// The add was stored, and then answered 500.
func TestAnAddOfAHiddenElementThatAnotherAddsMeanwhileIsAnswered(t *testing.T) {
	s := New(Options{
		Store: overtaken{e: Event{ID: 7, OwnerID: viewer}, added: mate}, Elements: allPupils{}, Clashes: unbooked{},
		Categories: categoryless{}, Sights: principal.Sights{Pupils: principal.SeesOwn},
	})
	p := principal.Principal{UserID: viewer, Kind: principal.Pupil}
	v, err := s.Add(t.Context(), p, 7, NewSubmission([]Submitted{{ID: mate}}))
	if err != nil || len(v.Commitments) != 0 || len(v.Failures) != 1 || v.Failures[0].Status != "" {
		t.Errorf("%+v: %v", v, err)
	}
}

// keptBy is an elements service in which the user of that id administers the element of that id.
type keptBy struct {
	allPupils
	user, element int64
}

func (k keptBy) Facts(ctx context.Context, q fact.ElementsQuestion) ([]fact.Element, error) {
	facts, err := k.allPupils.Facts(ctx, q)
	for i := range facts {
		if facts[i].ID == k.element {
			facts[i].Administrators = []int64{k.user}
		}
	}
	return facts, err
}

// An administrator of a group may take back what was allocated from it. One that was booked by itself meanwhile was
// taken off too.
func TestDecisionsPart4_WhatIsNoAllocationAnyMoreIsNotTheGroupsAdministratorsToTakeOff(t *testing.T) {
	const keeper, buses, bus = 41, 42, 43
	s := New(Options{
		Store: overtaken{e: Event{
			ID: 7, OwnerID: viewer, Commitments: []Commitment{{ID: 1, ElementID: bus, RequestID: 5}},
			Requests: []Request{{ID: 5, ElementID: buses, Quantity: 1}},
		}, added: bus},
		Elements: keptBy{user: keeper, element: buses}, Categories: categoryless{},
	})
	p := principal.Principal{UserID: keeper, Kind: principal.Staff}
	if err := s.DeleteElement(t.Context(), p, 7, bus, record.Match{}); !problem.Is(err, problem.Forbidden) {
		t.Error(err)
	}
}
