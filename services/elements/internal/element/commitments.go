package element

import (
	"context"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Include says what a list of commitments or requests also shows: staff and locations of each event (contract 4.1 rule
// 9), its category and whether that is busy, and who asked for each entry and decided on it, when and why.
type Include struct{ Staff, Locations, Category, Busy, Decisions bool }

// Commitment is a commitment in an element's list.
type Commitment struct {
	fact.Commitment
	Group *Element // through which the element is committed, which several may share; nil: it is committed itself

	Staff, Locations *string // of the event; nil: not included
}

// ListCommitments returns the commitments of an element, of every status, to the events that touch the days: its own,
// and those of its groups where the event is on a day of the membership (contract 4.1 rules 7 and 8). Entries that p
// does not see are left out. A Missing problem when there is no such element, Forbidden when p does not see it on any
// of the days.
func (s *Service) ListCommitments(
	ctx context.Context, p principal.Principal, id int64, days wiretime.Days, include Include,
) ([]Commitment, error) {
	e, v, err := s.getSeen(ctx, p, id, days)
	if err != nil {
		return nil, err
	}
	s.recordRead(ctx, v.ElementID, audit.ReadCommitments, e)
	reaches, err := s.reaches(ctx, []int64{id}, days)
	if err != nil {
		return nil, err
	}
	facts, err := s.commitmentsOf(ctx, v, v.within(e, reaches[0]), include, e)
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
	return sequence.Map(facts, func(f fact.Commitment) Commitment {
		return newCommitment(f, id, elements, include, v)
	}), err
}

// commitmentsOf asks for the commitments of the elements reached, as far as the viewer of these elements sees them.
func (s *Service) commitmentsOf(
	ctx context.Context, v sight, reaches []fact.Reach, include Include, elements ...Element,
) ([]fact.Commitment, error) {
	q := fact.CommitmentsQuestion{
		Reaches: reaches, Involved: include.Staff || include.Locations, Category: include.Category,
		Busy: include.Busy, Decisions: include.Decisions,
	}
	var err error
	if q.Sight, err = s.asked(ctx, v, elements...); err != nil {
		return nil, err
	}
	if include.Decisions {
		ids := sequence.Map(reaches, func(r fact.Reach) int64 { return r.ElementID })
		if q.Administers, err = s.decidedBy(ctx, v, ids...); err != nil {
			return nil, err
		}
	}
	return s.Events.Commitments(ctx, q)
}

// decidedBy returns those of the elements on which the viewer decides, in order of id.
func (s *Service) decidedBy(ctx context.Context, v sight, ids ...int64) ([]int64, error) {
	elements, err := s.find(ctx, ids)
	if err != nil {
		return nil, err
	}
	var decided []int64
	for id, e := range elements {
		if slices.Contains(e.Administrators, v.UserID) {
			decided = append(decided, id)
		}
	}
	if len(v.AdminOf) > 0 {
		controls, err := s.Control(ctx, fact.ControlQuestion{IDs: ids, AdminOf: v.AdminOf})
		if err != nil {
			return nil, err
		}
		for _, c := range controls {
			if c.Decides {
				decided = append(decided, c.ElementID)
			}
		}
	}
	slices.Sort(decided)
	return decided, nil
}

// newCommitment makes a commitment of the element with that id from the fact; elements are those that the fact names.
func newCommitment(f fact.Commitment, id int64, elements map[int64]*Element, include Include, v sight) Commitment {
	c := Commitment{Commitment: f}
	c.Staff, c.Locations = include.texts(f.Involved, elements, v)
	if f.ElementID != id {
		c.Group = elements[f.ElementID]
	}
	return c
}

// texts are the staff and the locations of an event with these elements; nil where they are not included.
func (i Include) texts(involved []int64, elements map[int64]*Element, v sight) (staff, locations *string) {
	if i.Staff {
		staff = new(shortTexts(involved, elements, form.Staff, v))
	}
	if i.Locations {
		locations = new(shortTexts(involved, elements, form.Location, v))
	}
	return staff, locations
}

// shortTexts joins the short texts of those of the elements that are of the type and may be named, in the order of ids;
// "" when none is.
func shortTexts(ids []int64, elements map[int64]*Element, entityType string, v sight) string {
	var texts []string
	for _, id := range ids {
		if e := elements[id]; e != nil && e.EntityType == entityType && v.names(e) {
			texts = append(texts, e.ShortText())
		}
	}
	return strings.Join(texts, ",")
}

// ListRequests returns the requests for a resource group by the events that touch the days; a MethodNotAllowed problem
// for any other element (decisions part 3). Otherwise as ListCommitments.
func (s *Service) ListRequests(
	ctx context.Context, p principal.Principal, id int64, days wiretime.Days, include Include,
) ([]form.Request, error) {
	e, v, err := s.getSeen(ctx, p, id, days)
	if err != nil {
		return nil, err
	}
	if !e.IsResourceGroup() {
		return nil, problem.New(problem.MethodNotAllowed, "only a resource group has requests")
	}
	q := fact.RequestsQuestion{
		ElementID: id, Days: days, Involved: include.Staff || include.Locations, Category: include.Category,
		Busy: include.Busy, Decisions: include.Decisions,
	}
	if q.Sight, err = s.asked(ctx, v, e); err != nil {
		return nil, err
	}
	if include.Decisions {
		decided, err := s.decidedBy(ctx, v, id)
		if err != nil {
			return nil, err
		}
		q.Administers = len(decided) > 0
	}
	facts, err := s.Events.Requests(ctx, q)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, f := range facts {
		ids = append(ids, f.Involved...)
	}
	elements, err := s.find(ctx, ids)
	return sequence.Map(facts, func(f fact.Request) form.Request {
		f.Event.Staff, f.Event.Locations = include.texts(f.Involved, elements, v)
		return f.Request
	}), err
}
