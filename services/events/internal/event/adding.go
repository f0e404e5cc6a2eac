package event

import (
	"fmt"
	"slices"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// Submitted is one entry of the elements that a client sends.
type Submitted struct {
	Text string // the value as submitted
	ID   int64  // 0: it is no id
}

// Failure is an entry that could not be added (contract 2.8). With neither Commitment nor Request there is no such element.
type Failure struct {
	Index      int // in the submitted elements, from 0
	Submitted  Submitted
	Commitment *Commitment // the commitment that would have been
	Request    *Request    // the request that would have been
	Allocated  int         // of that request
	Errors     problem.Fields
}

// ids are what a change may number its new commitments and requests with. They are taken before the change, as the change does no I/O.
type ids struct {
	commitments, requests []int64
}

// add adds the submitted elements in their order (contract 4.2, rules 2 to 9). An ordinary element becomes a commitment, a resource group
// a request whose quantity grows with each repetition. An element that exists is added whether it is current or not: past events have to
// stay correctable; one that is booked is refused. Facts must hold every submitted element that exists, and new an id for each that may be
// added.
func (e *Event) add(p principal.Principal, submitted []Submitted, facts map[int64]fact.Element, new ids, booked map[int64]bool) (failures []Failure) {
	committed := e.committed()
	for i, s := range submitted {
		fact, exists := facts[s.ID]
		switch {
		case !exists:
			failures = append(failures, Failure{Index: i, Submitted: s})
		case fact.Resource:
			if refused, why := e.ask(fact.ID, &new); why != nil {
				failures = append(failures, Failure{Index: i, Submitted: s, Request: &refused, Allocated: e.Allocated(refused.ID), Errors: why})
			}
		default:
			c := Commitment{ElementID: fact.ID, Status: statusFor(p, fact), AddedBy: e.Actor}
			if why := e.refuse(committed[fact.ID], booked[fact.ID]); why != nil {
				failures = append(failures, Failure{Index: i, Submitted: s, Commitment: &c, Errors: why})
				continue
			}
			c.ID, new.commitments = new.commitments[0], new.commitments[1:]
			e.Commitments = append(e.Commitments, c)
			committed[fact.ID] = true
		}
	}
	return failures
}

// committed are the elements that the event has commitments to.
func (e *Event) committed() map[int64]bool {
	committed := make(map[int64]bool, len(e.Commitments))
	for _, c := range e.Commitments {
		committed[c.ElementID] = true
	}
	return committed
}

// refuse says why an element can't come onto the event, nil when it can.
func (e *Event) refuse(taken, booked bool) problem.Fields {
	switch {
	case taken:
		return problem.Fields{"element_id": {"has already been taken"}}
	case booked:
		return problem.Fields{"element_id": {"is already booked"}}
	case len(e.Commitments)+len(e.Requests) >= maxElements:
		return problem.Fields{"element_id": {fmt.Sprintf("is one too many: an event has at most %d", maxElements)}}
	}
	return nil
}

// ask asks for one more item of a resource group. When it may not, it returns the request that would have been, and why.
func (e *Event) ask(group int64, new *ids) (Request, problem.Fields) {
	i := slices.IndexFunc(e.Requests, func(r Request) bool { return r.ElementID == group })
	if i < 0 {
		r := Request{ElementID: group, Quantity: 1, AddedBy: e.Actor}
		if why := e.refuse(false, false); why != nil {
			return r, why
		}
		r.ID, new.requests = new.requests[0], new.requests[1:]
		e.Requests = append(e.Requests, r)
		return r, nil
	}
	r := e.Requests[i]
	r.Quantity++
	if why := e.checkQuantity(r.ID, r.Quantity); why != nil {
		return r, why
	}
	e.Requests[i] = r
	return r, nil
}

// checkQuantity says what is wrong with a quantity for the request of that id, nil when nothing is.
func (e *Event) checkQuantity(id int64, quantity int) problem.Fields {
	switch allocated := e.Allocated(id); {
	case quantity < 1:
		return problem.Fields{"quantity": {"must be at least 1"}}
	case quantity > maxQuantity:
		return problem.Fields{"quantity": {fmt.Sprintf("must be at most %d", maxQuantity)}}
	case quantity < allocated:
		return problem.Fields{"quantity": {fmt.Sprintf("must be at least %d, the number allocated", allocated)}}
	}
	return nil
}

// elementsOf returns the ids of the submitted elements, each once.
func elementsOf(submitted []Submitted) []int64 {
	var distinct []int64
	seen := map[int64]bool{}
	for _, s := range submitted {
		if s.ID != 0 && !seen[s.ID] {
			seen[s.ID] = true
			distinct = append(distinct, s.ID)
		}
	}
	return distinct
}
