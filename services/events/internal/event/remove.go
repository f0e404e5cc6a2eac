package event

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/ifmatch"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// Delete deletes an event with its commitments and requests; its notes follow by message (contract 4.2 rule 11). Forbidden without edit
// rights on it, PreconditionFailed at another version. One read and one write.
func (s *Service) Delete(ctx context.Context, p principal.Principal, id int64, match ifmatch.Match) error {
	return s.store.Delete(ctx, id, func(e *Event) error {
		if !mayEdit(p, e) {
			return forbidden()
		}
		return match.Check(e.Version)
	})
}

// DeleteCommitment takes a commitment off its event. A missing one is Malformed with the exception body (contract 4.2 rule 12 and 7.2), not
// NotFound as everywhere else. Two reads and one write; elements is asked only when neither the event's owner nor its organiser acts.
func (s *Service) DeleteCommitment(ctx context.Context, p principal.Principal, id int64) error {
	missing := &problem.Error{Kind: problem.Malformed, Record: "Commitment", ID: strconv.FormatInt(id, 10)}
	e, err := s.store.OfCommitment(ctx, id)
	if problem.Is(err, problem.NotFound) {
		return missing
	}
	if err != nil {
		return err
	}
	elements, err := s.administered(ctx, p, &e, e.concerned(id)...)
	if err != nil {
		return err
	}
	_, err = s.store.Change(ctx, e.ID, func(e *Event) (bool, error) {
		if e.Commitment(id) == nil {
			return false, missing
		}
		if !mayRemove(p, e, elements...) {
			return false, forbidden()
		}
		e.removeCommitment(id)
		return true, nil
	})
	if problem.Is(err, problem.NotFound) { // the event went meanwhile
		return missing
	}
	return err
}

// gone names the record that was asked for when its event went meanwhile.
func gone(err error, record string, id int64) error {
	if problem.Is(err, problem.NotFound) {
		return problem.Missing(record, id)
	}
	return err
}

// DeleteRequest takes a request off its event, with its allocations. Round trips as for DeleteCommitment; NotFound when it is missing.
func (s *Service) DeleteRequest(ctx context.Context, p principal.Principal, id int64) error {
	e, err := s.store.OfRequest(ctx, id)
	if err != nil {
		return err
	}
	elements, err := s.administered(ctx, p, &e, e.Request(id).ElementID)
	if err != nil {
		return err
	}
	_, err = s.store.Change(ctx, e.ID, func(e *Event) (bool, error) {
		if e.Request(id) == nil {
			return false, problem.Missing("Request", id)
		}
		if !mayRemove(p, e, elements...) {
			return false, forbidden()
		}
		e.removeRequest(id)
		return true, nil
	})
	return gone(err, "Request", id)
}

// concerned are the elements whose administrators may delete a commitment: its own, and the group of the request that it was allocated to, as
// they may delete that request with it.
func (e *Event) concerned(commitmentID int64) []int64 {
	c := e.Commitment(commitmentID)
	elements := []int64{c.ElementID}
	if r := e.Request(c.RequestID); r != nil {
		elements = append(elements, r.ElementID)
	}
	return elements
}

// administered returns the facts of the elements when p's right may depend on their administrators, and none otherwise.
func (s *Service) administered(ctx context.Context, p principal.Principal, e *Event, elements ...int64) ([]fact.Element, error) {
	if mayRemove(p, e) {
		return nil, nil
	}
	k := newKnown()
	err := s.learn(ctx, k, elements)
	return slices.Collect(maps.Values(k.elements)), err
}
