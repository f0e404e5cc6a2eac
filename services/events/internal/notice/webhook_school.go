package notice

import (
	"context"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/principal/authority"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// Which webhooks an administrator may administer is decided here, whatever the call: an admin all, who administers
// schools those of these schools, and of schools that belong to them. So is which entries a webhook of a school is told
// of: those of elements that belong to the school on the day on which the notice is spread.

// mustAdminister returns Forbidden unless p administers the webhooks of the school; 0: those of none, as an admin does.
func (s *Service) mustAdminister(ctx context.Context, p principal.Principal, school int64) error {
	if p.Permissions.Admin {
		return nil
	}
	own, err := authority.Administered(ctx, p, []int64{school}, s.Elements)
	if err == nil && len(own) == 0 {
		err = problem.New(problem.Forbidden, "")
	}
	return err
}

// mustHold is mustAdminister for the webhook of that id; Missing when there is none, which is not checked for an admin.
func (s *Service) mustHold(ctx context.Context, p principal.Principal, id int64) error {
	if p.Permissions.Admin {
		return nil
	}
	_, err := s.GetWebhook(ctx, p, id)
	return err
}

// schoolOfNew returns the school of a webhook that p makes; 0: none, which an admin may. Faults of the fields say that
// it must be named, or is not a school; Forbidden when it is not p's.
func (s *Service) schoolOfNew(ctx context.Context, p principal.Principal, f WebhookFields) (int64, error) {
	named := form.OrZero(f.SchoolID)
	if p.Permissions.Admin {
		return named, s.checkSchool(ctx, named, f.Faults)
	}
	if named != 0 {
		return named, s.mustAdminister(ctx, p, named)
	}
	own, err := authority.Schools(ctx, p.AdminOf, s.Elements.Facts)
	if err != nil {
		return 0, err
	}
	return authority.Only(own, "school_id", f.Faults)
}

// checkSchool adds a fault when the element (0: none) is not a school.
func (s *Service) checkSchool(ctx context.Context, id int64, faults problem.Fields) error {
	if id == 0 {
		return nil
	}
	found, err := s.Elements.Facts(ctx, fact.ElementsQuestion{IDs: []int64{id}})
	switch {
	case err != nil:
	case len(found) == 0:
		faults.Add("school_id", problem.MustExist)
	case !found[0].School:
		faults.Add("school_id", problem.NotASchool)
	}
	return err
}

// schoolsOf returns the schools that have one of the webhooks.
func schoolsOf(hooks []Webhook) []int64 {
	var schools []int64
	for _, hook := range hooks {
		if hook.SchoolID != 0 {
			schools = append(schools, hook.SchoolID)
		}
	}
	return schools
}

// schoolsTold returns the entries of a notice that each of the schools gets. One question serves all schools. A group
// that is no longer a school, as the facts say, gets none.
func (s *Service) schoolsTold(
	ctx context.Context, n Notice, schools []int64, facts map[int64]fact.Element,
) (map[int64][]event.Entry, error) {
	told := map[int64][]event.Entry{}
	if len(schools) == 0 {
		return told, nil
	}
	today := s.Zone.DayOf(time.Now())
	reaches, err := s.Elements.Reaches(ctx, fact.ReachesQuestion{
		IDs: n.elementIDs(), Days: wiretime.Days{First: today, Last: today},
	})
	if err != nil {
		return nil, err
	}
	belongs := map[[2]int64]bool{} // of an element to a school
	for _, of := range reaches {
		for _, r := range of.Reaches {
			belongs[[2]int64{of.ElementID, r.ElementID}] = true
		}
	}
	for _, school := range sequence.Distinct(slices.Clone(schools)) {
		for _, e := range n.Entries {
			belong := belongs[[2]int64{e.ElementID, school}] || belongs[[2]int64{e.GroupID, school}]
			if facts[school].School && belong {
				told[school] = append(told[school], e)
			}
		}
	}
	return told, nil
}
