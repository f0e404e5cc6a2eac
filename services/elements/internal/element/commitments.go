package element

import (
	"context"
	"strings"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Include says what a list of commitments shows of each event besides (contract 4.1 rule 9).
type Include struct{ Staff, Locations bool }

// Commitment is a commitment in the list of an element's.
type Commitment struct {
	fact.Commitment
	Group     *Element // through which the element is committed, which several may share; nil: it is committed itself
	Staff     *string  // of the event, nil when not included: initials, separated by commas
	Locations *string  // of the event, nil when not included: short names or names, separated by commas
}

// ListCommitments returns the commitments of an element, of every status, to the events that touch the days: its own,
// and those of its groups where the event is on a day of the membership (contract 4.1 rules 7 and 8). A Missing problem
// when there is no such element.
func (s *Service) ListCommitments(
	ctx context.Context, id int64, days wiretime.Days, include Include,
) ([]Commitment, error) {
	if _, err := s.Get(ctx, id); err != nil {
		return nil, err
	}
	reaches, err := s.reaches(ctx, []int64{id}, days)
	if err != nil {
		return nil, err
	}
	q := fact.CommitmentsQuestion{Reaches: reaches[0], Involved: include.Staff || include.Locations}
	facts, err := s.events.Commitments(ctx, q)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, f := range facts {
		if f.ElementID != id {
			ids = append(ids, f.ElementID)
		}
		ids = append(ids, f.Involved...)
	}
	elements, err := s.find(ctx, ids)
	if err != nil {
		return nil, err
	}
	commitments := make([]Commitment, len(facts))
	for i, f := range facts {
		commitments[i] = newCommitment(f, id, elements, include)
	}
	return commitments, nil
}

// newCommitment makes a commitment of the element with that id of the fact; elements are those that the fact names.
func newCommitment(f fact.Commitment, id int64, elements map[int64]*Element, include Include) Commitment {
	c := Commitment{Commitment: f}
	if include.Staff {
		c.Staff = new(shortTexts(f.Involved, elements, form.Staff))
	}
	if include.Locations {
		c.Locations = new(shortTexts(f.Involved, elements, form.Location))
	}
	if f.ElementID != id {
		c.Group = elements[f.ElementID]
	}
	return c
}

// shortTexts joins the short texts of those of the elements that are of the type, in the order of ids; "" when none is.
func shortTexts(ids []int64, elements map[int64]*Element, entityType string) string {
	var texts []string
	for _, id := range ids {
		if e := elements[id]; e != nil && e.EntityType == entityType {
			texts = append(texts, e.ShortText())
		}
	}
	return strings.Join(texts, ",")
}

// ListRequests returns the requests for a resource group by the events that touch the days; a MethodNotAllowed problem
// for any other element (decisions part 3), a Missing problem when there is none.
func (s *Service) ListRequests(ctx context.Context, id int64, days wiretime.Days) ([]form.Request, error) {
	e, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if !e.IsResourceGroup() {
		return nil, problem.New(problem.MethodNotAllowed, "only a resource group has requests")
	}
	return s.events.Requests(ctx, fact.RequestsQuestion{ElementID: id, Days: days})
}
