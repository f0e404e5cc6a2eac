package event

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// Decision is what a request says about a commitment.
type Decision struct {
	Status Status
	Reason string
	Faults problem.Fields // of fields that could not be read
}

// Decide moves a commitment to another status. Only a user who decides on its element may (decisions, parts 5, 9).
// Missing; Conflict when the status can't become that one, Invalid when it is not a status or a field is unreadable.
func (s *Service) Decide(
	ctx context.Context, p principal.Principal, id int64, d Decision,
) (v ItemView[Commitment], err error) {
	e, err := s.o.Store.GetByCommitment(ctx, id)
	if err != nil {
		return v, record.Missing(err, CommitmentRecord, id)
	}
	l := newLookupBy(p)
	elementID := e.Commitment(id).ElementID
	if err := s.fetch(ctx, l, []int64{elementID}); err != nil {
		return v, err
	}
	element := l.elements[elementID]
	if !element.DecidedBy(p) {
		return v, forbidden()
	}
	e, err = s.o.Store.Change(ctx, e.ID, func(e *Event) error {
		c := e.Commitment(id)
		if c == nil {
			return record.ErrNotFound
		}
		faults := d.check()
		reasons := []string{d.Reason}
		for _, other := range e.Commitments {
			if other.ID != id {
				reasons = append(reasons, other.Reason)
			}
		}
		if !fit(reasons) {
			faults.Add("reason", longReasons)
		}
		if len(faults) > 0 {
			shown := *e
			if err := s.redact(ctx, p, slices.Values([]*Event{&shown})); err != nil {
				return err
			}
			return record.Invalid(viewOf(&shown, c, element), faults)
		}
		if !slices.Contains(c.Status.decisions(), d.Status) {
			return problem.New(problem.Conflict, "a commitment that is %s can't become %s", c.Status, d.Status)
		}
		c.Status, c.Reason = d.Status, d.Reason
		c.DecidedBy, c.DecidedAt = p.UserID, time.Now().UTC().Truncate(time.Second)
		return nil
	})
	if err != nil {
		return v, record.Missing(err, CommitmentRecord, id)
	}
	err = s.redact(ctx, p, slices.Values([]*Event{&e}))
	return viewOf(&e, e.Commitment(id), element), err
}

const longReasons = "is too long: the reasons of one event have at most 1048576 bytes"

// fit says whether these reasons fit into one event.
func fit(reasons []string) bool {
	size := 0
	for _, r := range reasons {
		text, _ := json.Marshal(r) // texts always encode
		size += len(text)
	}
	return size <= maxReasons
}

// check says what is wrong with a decision in itself, unreadable fields included.
func (d Decision) check() problem.Fields {
	faults := maps.Clone(d.Faults)
	switch {
	case faults["status"] != nil:
	case d.Status == "":
		faults.Add("status", problem.Blank)
	case !d.Status.Valid():
		faults.Add("status", problem.NotIncluded)
	}
	problem.Text{Most: maxReason, Lines: true}.Check(faults, "reason", d.Reason)
	return faults
}

// controls asks elements for the effect of elements' schools.
type controls interface {
	Control(ctx context.Context, q fact.ControlQuestion) ([]fact.Control, error)
}

// Deciders returns the users who decide on each of the elements (decisions, parts 5 and 9): its administrators or,
// where it has none, those of its schools. It asks no neighbour while all have administrators.
func Deciders(ctx context.Context, elements controls, users Users, of []fact.Element) (map[int64][]int64, error) {
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

// waiting returns the elements with an entry in the event that awaits a decision or an allocation.
func (v *View) waiting() (of []fact.Element) {
	for _, c := range v.Commitments {
		if c.Status.waits() {
			of = append(of, v.Elements[c.ElementID])
		}
	}
	for _, r := range v.Requests {
		if v.Allocated(r.ID) < r.Quantity {
			of = append(of, v.Elements[r.ElementID])
		}
	}
	return of
}
