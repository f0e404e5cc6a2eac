package event

import (
	"context"
	"errors"
	"strconv"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// Delete deletes an event with its commitments and requests; its notes follow by message (contract 4.2 rule 11).
// Missing; Forbidden without edit rights on it, PreconditionFailed at another version, and the error of may, which is
// asked last.
func (s *Service) Delete(
	ctx context.Context, p principal.Principal, id int64, match record.Match, may func(*Event) error,
) error {
	if !s.Reader(p).All() {
		if _, err := s.Editable(ctx, p, id, match); err != nil {
			return err
		}
	}
	check := func(e *Event) error {
		if !mayEdit(p, e) {
			return forbidden()
		}
		if err := s.mustKnow(ctx, Sight{Sight: s.Reader(p)}, e); err != nil {
			return err
		}
		if err := match.Check(e.Version); err != nil {
			return err
		}
		return may(e)
	}
	return record.Missing(s.o.Store.Delete(ctx, id, check), Record, id)
}

// Editable returns the event if p has edit rights on it and it has a version that match names; its errors are those of
// Delete, except may's.
func (s *Service) Editable(ctx context.Context, p principal.Principal, id int64, match record.Match) (Event, error) {
	e, err := s.o.Store.Get(ctx, id)
	if err != nil {
		return Event{}, record.Missing(err, Record, id)
	}
	if err := s.mustEdit(ctx, p, &e); err != nil {
		return Event{}, err
	}
	return e, match.Check(e.Version)
}

// DeleteCommitment deletes a commitment. One that is missing, or does not exist for p, is Malformed with the exception
// body (contract 4.2 rule 12 and 7.2), not NotFound as everywhere else. Elements is asked only when p is neither the
// event's owner nor its organiser, or does not see everything.
func (s *Service) DeleteCommitment(ctx context.Context, p principal.Principal, id int64) error {
	e, err := s.o.Store.GetByCommitment(ctx, id)
	if err == nil {
		concerned := func(e *Event) []int64 { return e.concerned(id) }
		err = s.takeOff(ctx, p, e.ID, concerned, func(e *Event, there entries, regardless bool) error {
			if c := e.Commitment(id); c == nil || !regardless && !there.commitment(e, *c) {
				return record.ErrNotFound
			}
			e.removeCommitment(id)
			return nil
		})
	}
	if errors.Is(err, record.ErrNotFound) {
		return &problem.Error{Kind: problem.Malformed, Record: CommitmentRecord, ID: strconv.FormatInt(id, 10)}
	}
	return err
}

// DeleteRequest deletes a request with its allocations. Missing, also when it does not exist for p. Elements is asked
// as for DeleteCommitment.
func (s *Service) DeleteRequest(ctx context.Context, p principal.Principal, id int64) error {
	e, err := s.o.Store.GetByRequest(ctx, id)
	if err != nil {
		return record.Missing(err, RequestRecord, id)
	}
	group := []int64{e.Request(id).ElementID}
	concerned := func(*Event) []int64 { return group }
	err = s.takeOff(ctx, p, e.ID, concerned, func(e *Event, there entries, regardless bool) error {
		if r := e.Request(id); r == nil || !regardless && !there.request(e, *r) {
			return record.ErrNotFound
		}
		e.removeRequest(id)
		return nil
	})
	return record.Missing(err, RequestRecord, id)
}

// DeleteElement removes an element from an event by deleting its commitment and its request. Missing for the event, or
// for the element when neither exists for p; PreconditionFailed at another version.
func (s *Service) DeleteElement(
	ctx context.Context, p principal.Principal, id, element int64, match record.Match,
) error {
	concerned := func(e *Event) []int64 {
		of := []int64{element}
		for _, c := range e.Commitments {
			if c.ElementID == element {
				of = append(of, e.concerned(c.ID)...)
			}
		}
		return of
	}
	err := s.takeOff(ctx, p, id, concerned, func(e *Event, there entries, _ bool) error {
		if !there.element(e, element) {
			return problem.Missing("Element", element)
		}
		if err := match.Check(e.Version); err != nil {
			return err
		}
		e.takeOut(element)
		return nil
	})
	return record.Missing(err, Record, id)
}

// takeOff removes something from an event. Forbidden unless p organises the event, administers one of the elements that
// it concerns, or has edit rights on the event, sees it and may know it. Remove returns record.ErrNotFound when another
// call was first, or when it does not exist for p. Regardless says that p may remove it whatever p sees (mayRemove).
func (s *Service) takeOff(
	ctx context.Context, p principal.Principal, id int64, concerned func(*Event) []int64,
	remove func(e *Event, there entries, regardless bool) error,
) error {
	there, err := s.entriesFor(ctx, p)
	if err != nil {
		return err
	}
	_, err = s.o.Store.Change(ctx, id, func(e *Event) error {
		var elements []fact.Element
		if !there.All() || !mayRemove(p, e) { // its right may depend on the elements' administrators
			ids := concerned(e)
			if err := s.fetch(ctx, there.lookup, ids); err != nil {
				return err
			}
			elements = sequence.Map(ids, func(id int64) fact.Element { return there.elements[id] })
		}
		regardless := mayRemove(p, e, elements...)
		if !regardless {
			if err := s.mustEdit(ctx, p, e); err != nil {
				return err
			}
		}
		return remove(e, there, regardless)
	})
	return err
}

// concerned are the elements whose administrators may delete a commitment: its own, and the group of the request
// that it was allocated to, as they may delete that request with it.
func (e *Event) concerned(commitmentID int64) []int64 {
	c := e.Commitment(commitmentID)
	if c == nil { // another call was first
		return nil
	}
	elements := []int64{c.ElementID}
	if r := e.Request(c.RequestID); r != nil {
		elements = append(elements, r.ElementID)
	}
	return elements
}
