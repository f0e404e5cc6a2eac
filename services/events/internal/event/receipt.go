package event

import (
	"context"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/idempotency"
)

// An event remembers at most so many receipts, and of all of them together so many failures; the oldest go first. What they are for, a
// client that did not hear an answer, happens within minutes.
const (
	maxReceipts        = 50
	maxReceiptFailures = 2 * MaxSubmitted
)

// Receipt says that a create or add with an Idempotency-Key was done. It is stored by the same write, so that a retry after a crash finds
// it, does nothing, and answers with the event as it is then and the failures as they were.
type Receipt struct {
	Key      idempotency.Key
	At       time.Time
	Failures []Failure // without Submitted, which a retry brings along
}

// sign leaves a receipt for a request, if it has a ticket.
func (e *Event) sign(t idempotency.Key, failures []Failure) {
	if !t.Given() {
		return
	}
	e.Receipts = append(e.Receipts, Receipt{Key: t, At: time.Now().UTC(), Failures: failures})
	kept := 0
	for _, r := range e.Receipts {
		kept += len(r.Failures)
	}
	for len(e.Receipts) > maxReceipts || kept > maxReceiptFailures {
		kept -= len(e.Receipts[0].Failures)
		e.Receipts = e.Receipts[1:]
	}
}

// receipt returns what was left for the request with that ticket, nil when there is none.
func (e *Event) receipt(t idempotency.Key) *Receipt {
	i := slices.IndexFunc(e.Receipts, func(r Receipt) bool { return t.Given() && r.Key.ID == t.ID })
	if i < 0 {
		return nil
	}
	return &e.Receipts[i]
}

// done says whether a request has been done already, and with which failures. Conflict when its key came with another body.
func (e *Event) done(submission Submission) (failures []Failure, done bool, err error) {
	r := e.receipt(submission.IdempotencyKey)
	if r == nil {
		return nil, false, nil
	}
	if err := submission.IdempotencyKey.Repeats(r.Key); err != nil {
		return nil, false, err
	}
	for _, f := range r.Failures {
		f.Submitted = submission.Elements[f.Index]
		failures = append(failures, f)
	}
	return failures, true, nil
}

// made finds the event that a create with that ticket has made already: one read, and what replay costs.
func (s *Service) made(ctx context.Context, submission Submission) (_ View, failures []Failure, found bool, err error) {
	if !submission.IdempotencyKey.Given() {
		return View{}, nil, false, nil
	}
	e, found, err := s.store.GetByIdempotencyKey(ctx, submission.IdempotencyKey.ID)
	if err != nil || !found {
		return View{}, nil, false, err
	}
	if failures, _, err = e.done(submission); err != nil {
		return View{}, nil, false, err
	}
	v, err := s.replay(ctx, e, submission, failures)
	return v, failures, true, err
}

// replay shows the event as it is to a request that was done before, with the clashes that there are now of what it added. One question to
// elements; two more and two reads when clashes are asked for.
func (s *Service) replay(ctx context.Context, e Event, submission Submission, failures []Failure) (View, error) {
	k := newKnown()
	if err := s.learn(ctx, k, append(e.elementIDs(), elementsOf(submission.Elements)...)); err != nil {
		return View{}, err
	}
	v, err := s.view(e, k)
	if err != nil || submission.Clashes != ReportClashes {
		return v, err
	}
	before := e
	before.Commitments = nil // so that what was added is watched
	added := Submission{Clashes: ReportClashes}
	for i, element := range submission.Elements {
		if !slices.ContainsFunc(failures, func(f Failure) bool { return f.Index == i }) {
			added.Elements = append(added.Elements, element)
		}
	}
	w, err := s.watch(ctx, &before, nil, k, added)
	if err == nil {
		v.Clashes, err = s.report(ctx, w, v, e.Commitments)
	}
	return v, err
}

// ForgetReceipts removes the receipts of before a time.
func (s *Service) ForgetReceipts(ctx context.Context, before time.Time) error {
	return s.store.ForgetReceipts(ctx, before)
}
