package event

import (
	"context"
	"maps"
	"time"
	"unicode/utf8"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// RequestView is a request with what showing it takes.
type RequestView struct {
	Request
	Allocated int
	Element   fact.Element
}

// CommitmentView is a commitment with what showing it takes.
type CommitmentView struct {
	Commitment
	Element fact.Element
	Event   Event
}

// ChangeQuantity sets the quantity of a request (decisions, part 5). It takes edit rights on the event or administration of the group;
// InvalidError when the quantity is missing, unreadable or not right. Two reads, one question to elements, one write.
func (s *Service) ChangeQuantity(ctx context.Context, p principal.Principal, id int64, quantity *int, unreadable problem.Fields) (RequestView, error) {
	e, err := s.store.OfRequest(ctx, id)
	if err != nil {
		return RequestView{}, err
	}
	k := newKnown()
	elementID := e.Request(id).ElementID
	if err := s.learn(ctx, k, []int64{elementID}); err != nil {
		return RequestView{}, err
	}
	view := RequestView{Element: k.elements[elementID]}
	_, err = s.store.Change(ctx, e.ID, func(e *Event) (bool, error) {
		r := e.Request(id)
		if r == nil {
			return false, problem.Missing("Request", id)
		}
		if !mayAsk(p, e, view.Element) {
			return false, forbidden()
		}
		before := r.Quantity
		view.Request, view.Allocated = *r, e.Allocated(id)
		faults := unreadable
		switch {
		case len(faults) > 0:
		case quantity == nil:
			faults = problem.Fields{"quantity": {blank}}
		default:
			view.Quantity = *quantity
			faults = e.checkQuantity(id, *quantity)
		}
		if len(faults) > 0 {
			return false, record.Invalid(view, faults)
		}
		r.Quantity = view.Quantity
		return r.Quantity != before, nil
	})
	return view, gone(err, "Request", id)
}

// Decide moves a commitment to another status by an administrator of its element, and nobody else (decisions, part 5). Conflict when the
// status can't become that one, InvalidError when it is none or a field is unreadable. Two reads, one question to elements, one write.
func (s *Service) Decide(ctx context.Context, p principal.Principal, id int64, next Status, reason string, unreadable problem.Fields) (CommitmentView, error) {
	e, err := s.store.OfCommitment(ctx, id)
	if err != nil {
		return CommitmentView{}, err
	}
	k := newKnown()
	elementID := e.Commitment(id).ElementID
	if err := s.learn(ctx, k, []int64{elementID}); err != nil {
		return CommitmentView{}, err
	}
	element := k.elements[elementID]
	if !p.Administers(element.Administrators) {
		return CommitmentView{}, forbidden()
	}
	e, err = s.store.Change(ctx, e.ID, func(e *Event) (bool, error) {
		c := e.Commitment(id)
		if c == nil {
			return false, problem.Missing("Commitment", id)
		}
		if faults := checkDecision(next, reason, unreadable); len(faults) > 0 {
			return false, record.Invalid(CommitmentView{*c, element, *e}, faults)
		}
		if !c.Status.MayBecome(next) {
			return false, problem.New(problem.Conflict, "a commitment that is %s can't become %s", c.Status, next)
		}
		c.Status, c.Reason, c.DecidedBy, c.DecidedAt = next, reason, p.UserID, time.Now().UTC().Truncate(time.Second)
		return true, nil
	})
	if err != nil {
		return CommitmentView{}, gone(err, "Commitment", id)
	}
	return CommitmentView{*e.Commitment(id), element, e}, nil
}

// checkDecision says what is wrong with a decision in itself, unreadable fields included.
func checkDecision(next Status, reason string, unreadable problem.Fields) problem.Fields {
	faults := maps.Clone(unreadable)
	switch {
	case faults["status"] != nil:
	case next == "":
		faults.Add("status", blank)
	case !next.Known():
		faults.Add("status", "is not included in the list")
	}
	if utf8.RuneCountInString(reason) > maxReason {
		faults.Add("reason", tooLong(maxReason))
	}
	return faults
}
