package event

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Bounds of an event's idempotency records, and of the failures of all of them together; the oldest are dropped first.
// A client that got no answer repeats its request within minutes.
const (
	maxIdempotencyRecords  = 50
	maxIdempotencyFailures = 2 * MaxSubmitted
)

// IdempotencyRecord says that a create, add or allocation with an Idempotency-Key was done. It is stored by the
// same write, so that a retry after a crash finds it, does nothing, and answers with the event as it is then and
// the failures as they were. The tags name its fields as they are stored.
type IdempotencyRecord struct {
	Key      string    `bson:"key"`  // the ID of the request's idempotency.Key
	Body     string    `bson:"body"` // likewise
	At       time.Time `bson:"at"`
	Failures []Failure `bson:"failures,omitempty"`
}

// remember adds the record of a request, if it has a key.
func (e *Event) remember(k idempotency.Key, failures []Failure) {
	if !k.Given() {
		return
	}
	e.IdempotencyRecords = append(
		e.IdempotencyRecords, IdempotencyRecord{Key: k.ID, Body: k.Body, At: time.Now().UTC(), Failures: failures},
	)
	kept := 0
	for _, r := range e.IdempotencyRecords {
		kept += len(r.Failures)
	}
	for len(e.IdempotencyRecords) > maxIdempotencyRecords || kept > maxIdempotencyFailures {
		kept -= len(e.IdempotencyRecords[0].Failures)
		e.IdempotencyRecords = e.IdempotencyRecords[1:]
	}
}

// recordOf returns the record of the request with that key, nil when there is none.
func (e *Event) recordOf(k idempotency.Key) *IdempotencyRecord {
	i := slices.IndexFunc(e.IdempotencyRecords, func(r IdempotencyRecord) bool { return k.Given() && r.Key == k.ID })
	if i < 0 {
		return nil
	}
	return &e.IdempotencyRecords[i]
}

// repeated says whether a request has been done already, and with which failures. Conflict when its key was sent with
// another body.
func (e *Event) repeated(submission Submission) (failures []Failure, done bool, err error) {
	r := e.recordOf(submission.IdempotencyKey)
	if r == nil {
		return nil, false, nil
	}
	if err := submission.IdempotencyKey.Repeats(idempotency.Key{ID: r.Key, Body: r.Body}); err != nil {
		return nil, false, err
	}
	for _, f := range r.Failures {
		f.Submitted = submission.Elements[f.Index]
		failures = append(failures, f)
	}
	return failures, true, nil
}

// findCreated finds the event that a create with that key has made already, and shows it as replay does.
func (s *Service) findCreated(
	ctx context.Context, p principal.Principal, submission Submission,
) (_ View, found bool, err error) {
	if !submission.IdempotencyKey.Given() {
		return View{}, false, nil
	}
	e, err := s.o.Store.GetByIdempotencyKey(ctx, submission.IdempotencyKey.ID)
	if errors.Is(err, record.ErrNotFound) {
		return View{}, false, nil
	}
	if err != nil {
		return View{}, false, err
	}
	if _, _, err := e.repeated(submission); err != nil {
		return View{}, false, err
	}
	l := newLookupFor(s.Reader(p))
	sight, err := s.sightIn(ctx, p, l)
	if err == nil {
		err = s.mustSee(ctx, sight, &e)
	}
	if problem.Is(err, problem.Forbidden) { // another owns it since
		err = idempotency.Lost(err)
	}
	if err != nil {
		return View{}, false, err
	}
	return s.replay(ctx, p, l, e, submission)
}

// replay answers a request that was done before with the event as it is now and, if asked for, the current clashes of
// the elements that it added. Conflict when its key was sent with another body.
func (s *Service) replay(
	ctx context.Context, p principal.Principal, l *lookup, e Event, submission Submission,
) (v View, done bool, err error) {
	failures, done, err := e.repeated(submission)
	if err != nil || !done {
		return View{}, false, err
	}
	if err := s.fetch(ctx, l, append(e.elementIDs(), submission.IDs...), submission.people(&e)...); err != nil {
		return View{}, false, err
	}
	var clashes []Clash
	if submission.Clashes == ReportClashes {
		before := e
		before.Commitments = nil // so that what was added counts as added
		var elements []Submitted
		for i, element := range submission.Elements {
			if !slices.ContainsFunc(failures, func(f Failure) bool { return f.Index == i }) {
				elements = append(elements, element)
			}
		}
		added := NewSubmission(elements)
		added.Clashes, added.allocates = ReportClashes, submission.allocates
		clashes, err = s.o.Clashes.Report(ctx, added.addition(before, l, s.Reader(p)), e, e.Commitments)
		if err != nil {
			return View{}, false, err
		}
	}
	v, err = s.shown(ctx, p, l, e, failures, clashes)
	return v, true, err
}

// Answered is what an earlier answer showed.
type Answered struct {
	Events   map[int64]bool // by id, whether it said what the event is
	Elements map[int64]bool
}

// StillTells returns Forbidden when p may no longer be shown what an answer showed: an event that p does not see or may
// not know, or an element that p is shown on none of them. Deleted events may be shown again to users who see
// everything.
func (s *Service) StillTells(ctx context.Context, p principal.Principal, told Answered) error {
	v, err := s.SightOf(ctx, p)
	if err != nil {
		return err
	}
	found, err := s.o.Store.Find(ctx, slices.Collect(maps.Keys(told.Events)), nil)
	if err != nil {
		return err
	}
	if len(found) < len(told.Events) && !v.All() {
		return forbidden()
	}
	seen, err := s.show(ctx, v, slices.Clone(found))
	if err != nil {
		return err
	}
	if slices.ContainsFunc(seen, func(e Event) bool { return told.Events[e.ID] && e.Redacted }) {
		return forbidden()
	}
	if v.All() || len(seen) == len(found) && len(told.Elements) == 0 {
		return nil
	}
	left := maps.Clone(told.Elements)
	for _, e := range found { // one that is not seen may be seen to decide on an entry of it
		shown, err := s.Show(ctx, p, e)
		if err != nil {
			return err
		}
		if told.Events[e.ID] && shown.Redacted {
			return forbidden()
		}
		for _, id := range shown.elementIDs() {
			delete(left, id)
		}
	}
	if len(left) > 0 {
		return forbidden()
	}
	return nil
}
