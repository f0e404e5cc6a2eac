package event

import (
	"fmt"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// Failure is an entry that could not be added (contract 2.8). Without Status and Quantity the element does not exist.
// The tags name its fields as they are stored.
type Failure struct {
	Index     int            `bson:"index"`               // in the submitted elements, from 0
	Submitted Submitted      `bson:"-"`                   // a retry has it again
	Status    Status         `bson:"status,omitempty"`    // of the commitment that would have been
	Quantity  int            `bson:"quantity,omitempty"`  // of the request that would have been
	Allocated int            `bson:"allocated,omitempty"` // to that request
	Errors    problem.Fields `bson:"errors,omitempty"`
}

// IDs are for the records that a change makes, each kind in rising order. They are taken before the change, which may
// run many times.
type IDs struct {
	Events, Commitments, Requests []int64
}

// addElements adds the submitted elements in their order (contract 4.2, rules 2 to 9). An ordinary element becomes a
// commitment, a resource group a request whose quantity grows with each repetition. An element that exists is added
// whether it is current or not: past events have to stay correctable. A booked element is refused, as is a group that
// is on the event from before it was switched between resource group and ordinary group. Facts must have every
// submitted element that exists, and new an id for each that may be added.
func (e *Event) addElements(
	p principal.Principal, submitted []Submitted, facts map[int64]fact.Element, new IDs, booked Booked,
) (failures []Failure) {
	committed := e.committed()
	for i, s := range submitted {
		fact, exists := facts[s.ID]
		switch {
		case !exists:
			failures = append(failures, Failure{Index: i, Submitted: s})
		case fact.Resource && !committed[fact.ID]:
			if refused, faults := e.addRequest(fact.ID, &new); faults != nil {
				failures = append(failures, Failure{
					Index: i, Submitted: s, Quantity: refused.Quantity, Allocated: e.Allocated(refused.ID),
					Errors: faults,
				})
			}
		default:
			c := Commitment{ElementID: fact.ID, Status: statusFor(p, fact), AddedBy: e.Actor}
			if faults := e.checkElement(e.names(fact.ID), booked.Has(fact.ID)); faults != nil {
				failures = append(failures, Failure{Index: i, Submitted: s, Status: c.Status, Errors: faults})
				continue
			}
			c.ID, new.Commitments = new.Commitments[0], new.Commitments[1:]
			e.Commitments = append(e.Commitments, c)
			committed[fact.ID] = true
		}
	}
	return failures
}

// checkElement says why an element can't be added to the event; nil when it can.
func (e *Event) checkElement(taken, booked bool) problem.Fields {
	switch {
	case taken:
		return problem.Fields{"element_id": {problem.Taken}}
	case booked:
		return problem.Fields{"element_id": {"is already booked"}}
	case len(e.Commitments)+len(e.Requests) >= maxElements:
		return problem.Fields{"element_id": {fmt.Sprintf("is one too many: an event has at most %d", maxElements)}}
	}
	return nil
}

// addRequest requests one more item of a resource group. If that is not allowed, it returns the request as it would
// have been, and why.
func (e *Event) addRequest(group int64, new *IDs) (Request, problem.Fields) {
	i := slices.IndexFunc(e.Requests, func(r Request) bool { return r.ElementID == group })
	if i < 0 {
		r := Request{ElementID: group, Quantity: 1, AddedBy: e.Actor}
		if faults := e.checkElement(false, false); faults != nil {
			return r, faults
		}
		r.ID, new.Requests = new.Requests[0], new.Requests[1:]
		e.Requests = append(e.Requests, r)
		return r, nil
	}
	r := e.Requests[i]
	r.Quantity++
	if faults := e.checkQuantity(r.ID, r.Quantity); faults != nil {
		return r, faults
	}
	e.Requests[i] = r
	return r, nil
}

// checkQuantity returns the faults of a quantity for the request of that id; nil when there are none.
func (e *Event) checkQuantity(id int64, quantity int) problem.Fields {
	switch allocated := e.Allocated(id); {
	case quantity < 1:
		return problem.Fields{"quantity": {problem.AtLeast(1)}}
	case quantity > maxQuantity:
		return problem.Fields{"quantity": {problem.AtMost(maxQuantity)}}
	case quantity < allocated:
		return problem.Fields{"quantity": {fmt.Sprintf("must be at least %d, the number allocated", allocated)}}
	}
	return nil
}

// replaceElements makes the wanted elements, at most MaxSubmitted, the elements of the event. Commitments and requests
// whose elements stay keep their ids and statuses; a request gets the number of its repetitions as its quantity, but
// not less than is allocated. Allocations are removed only with their request. The rest is added as by addElements.
func (e *Event) replaceElements(
	p principal.Principal, wanted []Submitted, facts map[int64]fact.Element, new IDs,
) []Failure {
	times := map[int64]int{}
	for _, s := range wanted {
		times[s.ID]++
	}
	for _, r := range slices.Clone(e.Requests) {
		if times[r.ElementID] == 0 {
			e.removeRequest(r.ID)
		}
	}
	e.Commitments = slices.DeleteFunc(e.Commitments, func(c Commitment) bool {
		return c.RequestID == 0 && times[c.ElementID] == 0
	})
	var missing []Submitted // those that the event lacks, and those that are too many
	for _, s := range wanted {
		if !e.keep(s.ID, times) {
			missing = append(missing, s)
		}
	}
	return e.addElements(p, missing, facts, new, nil)
}

// keep keeps an element if the event has it, and says whether it does. A request takes its quantity from all
// repetitions at once; a commitment takes one.
func (e *Event) keep(element int64, times map[int64]int) bool {
	if i := slices.IndexFunc(e.Requests, func(r Request) bool { return r.ElementID == element }); i >= 0 {
		e.Requests[i].Quantity = max(times[element], e.Allocated(e.Requests[i].ID))
		return true
	}
	if times[element] > 0 &&
		slices.ContainsFunc(e.Commitments, func(c Commitment) bool { return c.ElementID == element }) {
		times[element] = 0
		return true
	}
	return false
}
