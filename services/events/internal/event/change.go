package event

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Change changes the basic fields given (contract 4.2 rule 10). Missing; Forbidden without edit rights, and for a
// privileged category without privileged; PreconditionFailed at another version; Invalid when the fields are not right.
// When the event is re-timed, its decided commitments to controlled elements return to requested. A dry run writes
// nothing.
func (s *Service) Change(
	ctx context.Context, p principal.Principal, id int64, f Fields, match record.Match, dryRun bool,
) (View, error) {
	l := newLookupBy(p)
	e, err := s.decide(ctx, id, dryRun, func(e *Event) error {
		if err := s.mustEdit(ctx, p, e); err != nil {
			return err
		}
		if err := s.resolve(ctx, p, l, f, e.CategoryID, e.elementIDs(), nil, e.OwnerID); err != nil {
			return err
		}
		if err := match.Check(e.Version); err != nil {
			return err
		}
		before := *e
		if faults := f.apply(e, s.zone, l, false); len(faults) > 0 {
			return record.Invalid(*e, faults)
		}
		if !e.Span.Equal(before.Span) {
			e.reconsider(p, l.elements)
		}
		return unchangedIf(!e.changedAlone(before))
	})
	if err != nil {
		return View{}, record.Missing(err, Record, id)
	}
	return s.shown(ctx, p, l, e, nil)
}
