package event

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// ChangeQuantity sets the quantity of a request (decisions, part 5). Missing, also where it does not exist for p;
// Forbidden unless p administers the group, or has edit rights on the event, sees it and may know it; Invalid when the
// quantity is missing, unreadable or not allowed.
func (s *Service) ChangeQuantity(
	ctx context.Context, p principal.Principal, id int64, quantity *int, unreadable problem.Fields,
) (v ItemView[Request], err error) {
	e, err := s.o.Store.GetByRequest(ctx, id)
	if err != nil {
		return v, record.Missing(err, RequestRecord, id)
	}
	there, err := s.entriesFor(ctx, p)
	if err != nil {
		return v, err
	}
	elementID := e.Request(id).ElementID
	if err := s.fetch(ctx, there.lookup, []int64{elementID}); err != nil {
		return v, err
	}
	element := there.elements[elementID]
	e, err = s.o.Store.Change(ctx, e.ID, func(e *Event) error {
		r := e.Request(id)
		if r == nil {
			return record.ErrNotFound
		}
		if !mayChangeQuantity(p, e, element) {
			if err := s.mustEdit(ctx, p, e); err != nil {
				return err
			}
		}
		if !there.request(e, *r) {
			return record.ErrNotFound
		}
		faults, wanted := unreadable, *r
		switch {
		case len(faults) > 0:
		case quantity == nil:
			faults = problem.Fields{"quantity": {problem.Blank}}
		default:
			wanted.Quantity = *quantity
			faults = e.checkQuantity(id, *quantity)
		}
		if len(faults) > 0 {
			return record.Invalid(viewOf(e, &wanted, element), faults)
		}
		same := *r == wanted
		*r = wanted
		return unchangedIf(same)
	})
	if err != nil {
		return v, record.Missing(err, RequestRecord, id)
	}
	return viewOf(&e, e.Request(id), element), nil
}
