package event

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// Draft is an event that was checked as Create checks one, and is not stored: the pattern of a series' events.
type Draft struct {
	Event    Event // without ids, those of its commitments and requests among them
	Category category.Category
	Elements map[int64]fact.Element // by id: those submitted that exist
	Failures []Failure
}

// Draft checks what Create would make; its errors are those of Create.
func (s *Service) Draft(
	ctx context.Context, p principal.Principal, f Fields, submission Submission,
) (Draft, error) {
	if !p.Permissions.CanAddEvents {
		return Draft{}, forbidden()
	}
	e, l, err := s.checkNew(ctx, p, f, submission)
	if err != nil {
		return Draft{}, err
	}
	none, err := s.newIDs(record.DryRun(ctx), l, submission, 0) // zero
	if err != nil {
		return Draft{}, err
	}
	given := l.given()
	failures := e.addElements(p, submission.Elements, given, none, nil)
	return Draft{Event: e, Category: *l.category, Elements: given, Failures: failures}, nil
}

// Facts returns the elements that the drafted event commits, as clashes need them.
func (d Draft) Facts() []fact.Element {
	return sequence.Map(d.Event.Commitments, func(c Commitment) fact.Element { return d.Elements[c.ElementID] })
}

// At is the drafted event at another time, as another event: with that id, and those of its commitments and requests.
func (e Event) At(id int64, span wiretime.Span, commitments, requests []int64) Event {
	e.ID, e.Span = id, span
	e.Commitments = append([]Commitment(nil), e.Commitments...)
	for i := range e.Commitments {
		e.Commitments[i].ID = commitments[i]
	}
	e.Requests = append([]Request(nil), e.Requests...)
	for i := range e.Requests {
		e.Requests[i].ID = requests[i]
	}
	return e
}

// Facts returns those of the elements that exist, by id, as they are for p. An id may be given more than once.
func (s *Service) Facts(
	ctx context.Context, p principal.Principal, ids []int64,
) (map[int64]fact.Element, error) {
	l := newLookupBy(p)
	err := s.fetch(ctx, l, ids)
	return l.elements, err
}
