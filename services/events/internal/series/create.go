package series

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// The API's names of a request's fields, as errors name them.
const (
	repeatField    = "repeat"
	ruleField      = "repeat.rule"
	exceptField    = "repeat.except"
	duringField    = "repeat.during"
	notDuringField = "repeat.not_during"
)

// ErrTaken says that a series was not stored because another has its idempotency key.
var ErrTaken = errors.New("another series has the idempotency key")

// Request is how an event is to be repeated.
type Request struct {
	Repeat

	Faults problem.Fields // what could not be read, by the field's name; never nil
}

// View is a series for showing.
type View struct {
	Series
	Events   []event.Event          // of Get: as they are now
	Elements map[int64]fact.Element // by id: those submitted
	Clashes  [][]event.Clash        // of Create: of each of the plan; nil: not asked for
}

// Create makes the events that a rule gives, each as event.Service.Create would, and says which were left out. It
// returns the errors of that call; Invalid also when the request describes no series; Conflict when an element was
// booked while the series was made. In the end all events are stored, or none: see Service.Run. Requests with the same
// idempotency key make one series.
func (s *Service) Create(
	ctx context.Context, p principal.Principal, f event.Fields, submission event.Submission, q Request,
) (View, error) {
	if !p.Permissions.CanAddEvents {
		return View{}, problem.New(problem.Forbidden, "")
	}
	v, found, err := s.findCreated(ctx, p, submission)
	if err == nil && !found {
		v, err = s.createNew(ctx, p, f, submission, q)
	}
	if err != nil {
		return View{}, s.o.Events.Refusal(ctx, p, err)
	}
	return s.trim(ctx, p, v)
}

// createNew is Create for a request that has made no series yet.
func (s *Service) createNew(
	ctx context.Context, p principal.Principal, f event.Fields, submission event.Submission, q Request,
) (View, error) {
	draft, err := s.o.Events.Draft(ctx, p, f, submission)
	if err != nil {
		return View{}, err
	}
	made, err := s.plan(ctx, p, draft, q)
	if err != nil {
		return View{}, err
	}
	made.Key = submission.IdempotencyKey
	v := View{Series: made, Elements: draft.Elements}
	several := s.several(p, made, draft.Category.Busy, draft.Facts())
	if !record.IsDryRun(ctx) {
		return s.write(ctx, v, several)
	}
	clashes := make([][]event.Clash, len(made.Plan))
	if made.Repeat.Clashes != event.AllowClashes {
		if clashes, err = s.o.Clashes.Each(ctx, several); err != nil {
			return View{}, err
		}
	}
	return v, v.resolve(clashes)
}

// several are the events of a series for which clashes are found: none unless the category is busy.
func (s *Service) several(p principal.Principal, of Series, busy bool, elements []fact.Element) event.Several {
	several := event.Several{
		Events: of.events(), Skips: of.Repeat.Clashes == event.SkipClashes, Reader: s.reader(p, of.Repeat.Clashes),
	}
	if busy {
		several.Elements = elements
	}
	return several
}

// write gives a planned series its ids, and stores and makes it.
func (s *Service) write(ctx context.Context, v View, several event.Several) (View, error) {
	if err := s.number(ctx, &v.Series); err != nil {
		return View{}, err
	}
	several.Events = v.events()
	begin := func(clashes [][]event.Clash) error {
		if err := v.resolve(clashes); err != nil {
			return err
		}
		err := s.o.Store.Insert(ctx, v.Series)
		if errors.Is(err, ErrTaken) { // the same request is being handled elsewhere
			err = idempotency.InProgress()
		}
		if err == nil {
			failures := v.Failures // with what was submitted, which is not stored
			v.Series, err = s.make(ctx, v.Series)
			v.Failures = failures
		}
		return err
	}
	var err error
	if v.Repeat.Clashes.Exact() {
		err = s.o.Clashes.BookEach(ctx, several, begin)
	} else {
		err = begin(make([][]event.Clash, len(several.Events)))
	}
	if err != nil {
		return View{}, err
	}
	if v.Repeat.Clashes == event.ReportClashes {
		several.Events = v.events()
		v.Clashes, err = s.o.Clashes.Each(ctx, several)
	}
	return v, err
}

// checkCalendars adds the faults of calendars to the request's. Forbidden for a category that p may not know or, in
// During, may not use.
func (s *Service) checkCalendars(ctx context.Context, p principal.Principal, q Request) error {
	check := func(
		field string, c Calendar, get func(context.Context, principal.Principal, int64) (category.Category, error),
	) error {
		of, err := get(ctx, p, c.CategoryID)
		switch {
		case err == nil && of.Confidential && c.Body != "" && !p.Permissions.Admin:
			q.Faults.Add(field, "can't select events of a confidential category by title")
		case problem.Is(err, problem.NotFound):
			q.Faults.Add(field, problem.MustExist)
		default:
			return err
		}
		return nil
	}
	if q.During != nil {
		if err := check(duringField, *q.During, s.o.Categories.Get); err != nil {
			return err
		}
	}
	if len(q.NotDuring) > maxCalendars {
		q.Faults.Add(notDuringField, problem.TooMany(maxCalendars))
		return nil
	}
	for _, c := range q.NotDuring {
		if err := check(notDuringField, c, s.o.Categories.GetToAvoid); err != nil {
			return err
		}
	}
	return nil
}

// plan returns the requested series, without ids. Invalid when the request describes none.
func (s *Service) plan(ctx context.Context, p principal.Principal, draft event.Draft, q Request) (Series, error) {
	faults := q.Faults
	rule, err := ParseRule(q.Rule)
	if err != nil && faults[ruleField] == nil {
		faults.Add(ruleField, err.Error())
	}
	if len(q.Except) > maxExcept {
		faults.Add(exceptField, problem.TooMany(maxExcept))
	}
	if err := s.checkCalendars(ctx, p, q); err != nil {
		return Series{}, err
	}
	if len(faults) > 0 {
		return Series{}, record.Invalid(draft.Event, faults)
	}
	all, faults := spans(s.o.Zone, rule, draft.Event.Span)
	if faults != nil {
		return Series{}, record.Invalid(draft.Event, faults)
	}
	kept, left, err := s.sift(ctx, p, q.Repeat, all)
	if err != nil {
		return Series{}, err
	}
	if len(kept)*(len(draft.Event.Commitments)+len(draft.Event.Requests)) > maxBookings {
		return Series{}, record.Invalid(draft.Event, problem.Fields{
			"elements": {fmt.Sprintf("are too many: a series has at most %d commitments and requests", maxBookings)},
		})
	}
	made := Series{
		State: Planned, Begun: time.Now().UTC().Truncate(time.Millisecond), Actor: audit.ActorOf(ctx),
		Repeat: q.Repeat, Pattern: draft.Event, LeftOut: left, Failures: draft.Failures,
	}
	made.Repeat.Rule = rule.Text
	for i, o := range kept {
		made.Plan = append(made.Plan, Occurrence{
			Place: i + 1, Span: o.Span, Clock: o.Clock,
			Commitments: make([]int64, len(made.Pattern.Commitments)),
			Requests:    make([]int64, len(made.Pattern.Requests)),
		})
	}
	if len(kept) == 0 {
		return Series{}, made.none()
	}
	return made, nil
}

// none is the refusal of a series without events.
func (s *Series) none() error {
	return record.Invalid(s.Pattern, problem.Fields{repeatField: {"leaves out every occurrence of the rule"}})
}

// number gives a series and everything in it their ids.
func (s *Service) number(ctx context.Context, made *Series) (err error) {
	if made.ID, err = s.o.Store.NewID(ctx); err != nil {
		return err
	}
	n, c, r := len(made.Plan), len(made.Pattern.Commitments), len(made.Pattern.Requests)
	new, err := s.o.EventStore.NewIDs(ctx, n, n*c, n*r)
	if err != nil {
		return err
	}
	for i := range made.Plan {
		o := &made.Plan[i]
		o.EventID, o.Commitments, o.Requests = new.Events[i], new.Commitments[i*c:(i+1)*c], new.Requests[i*r:(i+1)*r]
	}
	return nil
}

// resolve treats the clashes of each planned event as the request asks: a ClashError when they are refused. Invalid
// when no event is left.
func (v *View) resolve(clashes [][]event.Clash) error {
	switch v.Repeat.Clashes {
	case event.RefuseClashes:
		var taken []event.Taken
		for i, found := range clashes {
			if o := v.Plan[i]; len(found) > 0 {
				for n := range found {
					if v.ID != 0 && found[n].Event.SeriesID == v.ID {
						found[n].Event.ID = 0 // it is not stored
					}
				}
				taken = append(taken, event.Taken{Place: o.Place, Span: o.Span, Clashes: found})
			}
		}
		if len(taken) > 0 {
			return event.NewClashError(taken...)
		}
	case event.SkipClashes:
		v.skip(clashes)
		if len(v.Plan) == 0 {
			return v.none()
		}
	case event.ReportClashes:
		v.Clashes = clashes
	case event.AllowClashes:
	}
	return nil
}

// skip leaves out the events that clash.
func (v *View) skip(clashes [][]event.Clash) {
	var kept []Occurrence
	for i, o := range v.Plan {
		if len(clashes[i]) > 0 {
			first := clashes[i][0]
			v.LeftOut = append(v.LeftOut, LeftOut{
				Starts: o.Span.Starts, Reason: Clashes, EventID: first.Event.ID, ElementID: first.Element.ID,
			})
			continue
		}
		o.Place = len(kept) + 1
		kept = append(kept, o)
	}
	v.Plan = kept
	v.order()
}

func (s *Series) order() {
	slices.SortStableFunc(s.LeftOut, func(a, b LeftOut) int { return a.Starts.Compare(b.Starts) })
}
