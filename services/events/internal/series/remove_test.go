package series

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// memory keeps one series and its events, and lets another user act right after a deletion of several was begun.
type memory struct {
	sync.Mutex // of events: several are deleted at once
	series     Series
	events     map[int64]event.Event
	other      func()
}

// kept is the store of its series.
type kept struct {
	Store
	m *memory
}

func (s kept) Change(_ context.Context, _ int64, change func(*Series) error) (Series, error) {
	before := s.m.series.Ending
	switch err := change(&s.m.series); {
	case errors.Is(err, record.ErrUnchanged):
		return s.m.series, nil
	case err != nil:
		return Series{}, err
	}
	if act := s.m.other; before == nil && act != nil {
		s.m.other = nil
		act()
	}
	return s.m.series, nil
}

func (s kept) FindEvents(context.Context, int64) (found []event.Event, err error) {
	for _, e := range s.m.events {
		found = append(found, e)
	}
	return found, nil
}

// single is the store of its events.
type single struct {
	EventStore
	m *memory
}

func (s single) Get(_ context.Context, id int64) (event.Event, error) {
	s.m.Lock()
	defer s.m.Unlock()
	e, exists := s.m.events[id]
	if !exists {
		return e, record.ErrNotFound
	}
	return e, nil
}

func (s single) Delete(ctx context.Context, id int64, may func(*event.Event) error) error {
	e, err := s.Get(ctx, id)
	if err == nil {
		err = may(&e)
	}
	if err == nil {
		s.m.Lock()
		defer s.m.Unlock()
		delete(s.m.events, id)
	}
	return err
}

// dying is single of a process that dies before it deletes the event of that id.
type dying struct {
	single
	before int64
}

func (s dying) Delete(ctx context.Context, id int64, may func(*event.Event) error) error {
	if id == s.before {
		return context.DeadlineExceeded
	}
	return s.single.Delete(ctx, id, may)
}

// The same deletion was asked for at another replica, which went on with the first, deleted the event named and died.
// The first took that event for deleted alone, so that the others stayed for ever.
func TestADeletionThatTwoReplicasBeginIsCompleted(t *testing.T) {
	const owner, named, next = 1, 11, 12
	m := &memory{series: Series{ID: 1, State: Made}, events: map[int64]event.Event{
		named: {ID: named, SeriesID: 1, Place: 1, OwnerID: owner, Version: 3},
		next:  {ID: next, SeriesID: 1, Place: 2, OwnerID: owner, Version: 5},
	}}
	remove := func(events EventStore) error {
		s := New(Options{Store: kept{m: m}, EventStore: events, Events: event.New(event.Options{Store: single{m: m}})})
		_, err := s.Remove(t.Context(), principal.Principal{UserID: owner}, named, Removal{All, record.Match{}})
		return err
	}
	m.other = func() {
		err := remove(dying{single{m: m}, next})
		if !errors.Is(err, context.DeadlineExceeded) || len(m.events) != 1 {
			t.Errorf("the other: %v, left %v", err, m.events)
		}
	}
	if err := remove(single{m: m}); err != nil || len(m.events) > 0 || m.series.Ending != nil {
		t.Errorf("%v, left %v, %+v", err, m.events, m.series.Ending)
	}
}

// A deletion of several events checked If-Match before, and another change at the same version succeeded too.
func TestDecisionsPart1_IfMatch_OfSeveralEventsHoldsUntilTheOneNamedIsDeleted(t *testing.T) {
	const owner, named, next = 1, 11, 12
	for name, c := range map[string]struct {
		match record.Match
		other func(m *memory)
		kind  problem.Kind
		left  int
	}{
		"nothing else": {record.Versions(3), nil, 0, 0},
		"another changes it": {record.Versions(3), func(m *memory) {
			m.events[named] = event.Event{ID: named, SeriesID: 1, Place: 1, OwnerID: owner, Version: 4}
		}, problem.PreconditionFailed, 2},
		"another changes it, and no version is asked for": {record.Match{}, func(m *memory) {
			m.events[named] = event.Event{ID: named, SeriesID: 1, Place: 1, OwnerID: owner, Version: 4}
		}, 0, 0},
		"another deletes it": {record.Versions(3), func(m *memory) { delete(m.events, named) }, problem.NotFound, 1},
	} {
		m := &memory{series: Series{ID: 1, State: Made}, events: map[int64]event.Event{
			named: {ID: named, SeriesID: 1, Place: 1, OwnerID: owner, Version: 3},
			next:  {ID: next, SeriesID: 1, Place: 2, OwnerID: owner, Version: 5},
		}}
		if c.other != nil {
			m.other = func() { c.other(m) }
		}
		s := New(Options{
			Store: kept{m: m}, EventStore: single{m: m}, Events: event.New(event.Options{Store: single{m: m}}),
		})
		_, err := s.Remove(t.Context(), principal.Principal{UserID: owner}, named, Removal{All, c.match})
		if got := problem.As(err); (err == nil) != (c.kind == 0) || got != nil && got.Kind != c.kind ||
			len(m.events) != c.left || m.series.Ending != nil {
			t.Errorf("%s: %v, left %v, %+v", name, err, m.events, m.series.Ending)
		}
	}
}

// secret are categories, of which one is confidential.
type secret struct {
	event.Categories
	id int64
}

func (c secret) Find(_ context.Context, ids []int64, _ []string) (found []category.Category, err error) {
	for _, id := range ids {
		found = append(found, category.Category{ID: id, Flags: category.Flags{Confidential: id == c.id}})
	}
	return found, nil
}

// Whether another event of the series may be deleted was decided before the first was, and it was deleted although it
// had become confidential since. Its owner may delete it whatever it is.
func TestDecisionsPart9_WhatBecomesConfidentialWhileASeriesIsDeletedStays(t *testing.T) {
	const owner, editor, named, next, lesson, care = 1, 2, 11, 12, 21, 22
	for who, c := range map[string]struct {
		user int64
		dies bool // after the event named is deleted, so that another process goes on
		left int
	}{
		"who may edit all events": {editor, false, 1}, "and another process goes on": {editor, true, 1},
		"the owner": {owner, false, 0}, "the owner, and another process goes on": {owner, true, 0},
	} {
		m := &memory{series: Series{ID: 1, State: Made}, events: map[int64]event.Event{
			named: {ID: named, SeriesID: 1, Place: 1, OwnerID: owner, Version: 3, CategoryID: lesson},
			next:  {ID: next, SeriesID: 1, Place: 2, OwnerID: owner, Version: 5, CategoryID: lesson},
		}}
		m.other = func() {
			e := m.events[next]
			e.Version, e.CategoryID = e.Version+1, care
			m.events[next] = e
		}
		o := Options{Store: kept{m: m}, EventStore: single{m: m}, Events: event.New(event.Options{
			Store: single{m: m}, Categories: secret{id: care},
		})}
		if c.dies {
			o.EventStore = dying{single{m: m}, next}
		}
		p := principal.Principal{
			UserID: c.user, Kind: principal.Staff, Permissions: principal.Permissions{EditAllEvents: true},
		}
		stays, err := New(o).Remove(t.Context(), p, named, Removal{All, record.Match{}})
		if c.dies {
			valuetest.Holds(t, errors.Is(err, context.DeadlineExceeded), "%s: %v", who, err)
			o.EventStore = single{m: m}
			_, err = New(o).finish(t.Context(), m.series)
		} else if len(stays) != c.left || c.left > 0 && (stays[0].EventID != next || stays[0].Reason != Overtaken) {
			t.Errorf("%s: %+v stay", who, stays)
		}
		if err != nil || len(m.events) != c.left || m.events[named].ID != 0 || m.series.Ending != nil {
			t.Errorf("%s: %v, left %v, %+v", who, err, m.events, m.series.Ending)
		}
	}
}
