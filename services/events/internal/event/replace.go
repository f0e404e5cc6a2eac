package event

import (
	"context"
	"fmt"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Replacement is a request to replace elements of an event by others.
type Replacement struct {
	Submission         // those to add
	Replaced   []int64 // the element that each of them replaces
}

// Replace replaces elements of an event in one write; p needs the rights to delete the old and to add the new ones.
// Missing; Forbidden without edit rights on it, PreconditionFailed at another version; a ClashError; Invalid when an
// element is not on the event or the other can't be added. Where clashes are skipped, an element whose replacement is
// booked stays, as a failure. A request with an idempotency key replaces once, however often it is sent; Conflict when
// the key belongs to another request.
func (s *Service) Replace(ctx context.Context, p principal.Principal, id int64, r Replacement) (View, error) {
	replace := func(e *Event, l *lookup, new IDs, booked Booked) ([]Failure, error) {
		v, err := s.sightIn(ctx, p, l)
		if err != nil {
			return nil, err
		}
		there := func(element int64) bool { return entries{v, l}.element(e, element) }
		return e.replace(p, r, l.given(), there, new, booked)
	}
	v, err := untilCurrent(func() (View, error) { return s.extendOnce(ctx, p, id, r.Submission, replace) })
	return v, record.Missing(s.Refusal(ctx, p, err), Record, id)
}

// names says whether an event commits or requests an element.
func (e *Event) names(element int64) bool {
	return slices.ContainsFunc(e.Commitments, func(c Commitment) bool { return c.ElementID == element }) ||
		slices.ContainsFunc(e.Requests, func(r Request) bool { return r.ElementID == element })
}

// takeOut removes an element from the event: its commitment, and its request with the allocations.
func (e *Event) takeOut(element int64) {
	for _, r := range slices.Clone(e.Requests) {
		if r.ElementID == element {
			e.removeRequest(r.ID)
		}
	}
	e.Commitments = slices.DeleteFunc(e.Commitments, func(c Commitment) bool { return c.ElementID == element })
}

// replace makes the replacements whose elements are not booked, and returns the others as failures. Invalid, and the
// event must not be stored, when one is wrong. There says which elements of the event exist for the user. Facts and new
// are as for addElements.
func (e *Event) replace(
	p principal.Principal, r Replacement, facts map[int64]fact.Element, there func(element int64) bool, new IDs,
	booked Booked,
) (failures []Failure, err error) {
	faults := problem.Fields{}
	var in []Submitted
	var at []int // the place of each in the request
	for i, with := range r.Elements {
		of, exists := facts[with.ID]
		switch {
		case !there(r.Replaced[i]):
			faults.Add(replaceField(i, "element"), "is not on the event")
		case slices.Contains(r.Replaced[:i], r.Replaced[i]):
			faults.Add(replaceField(i, "element"), "is replaced twice")
		case !exists, e.names(with.ID) && !there(with.ID):
			faults.Add(replaceField(i, "with"), problem.MustExist)
		case e.names(with.ID):
			faults.Add(replaceField(i, "with"), problem.Taken)
		case booked.Has(with.ID):
			failures = append(failures, Failure{
				Index: i, Submitted: with, Status: statusFor(p, of), Errors: e.checkElement(false, true),
			})
		default:
			in, at = append(in, with), append(at, i)
		}
	}
	if err := problem.InvalidFields(faults); err != nil {
		return nil, err
	}
	for _, i := range at {
		e.takeOut(r.Replaced[i])
	}
	for _, f := range e.addElements(p, in, facts, new, nil) {
		for _, messages := range f.Errors {
			faults[replaceField(at[f.Index], "with")] = messages
		}
	}
	return failures, problem.InvalidFields(faults)
}

// replaceField is what errors call a field of a replacement.
func replaceField(i int, name string) string { return fmt.Sprintf("replace[%d].%s", i, name) }
