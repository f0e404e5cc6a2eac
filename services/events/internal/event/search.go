package event

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/needle"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

const (
	// leastText and mostText bound the text of a search, in characters.
	leastText, mostText = needle.Gram, 200

	// narrowest is the shortest window: all events that start in it are read, however many.
	narrowest = 15 * time.Minute
	// widening bounds how many times longer the next window may be.
	widening = 8
	// LongestWindow is longer than the years in which there can be events.
	LongestWindow = 250 * 366 * 24 * time.Hour
	// mostReads bounds how often the store is asked for one page. The rest is on a later page.
	mostReads = 40
	// spareReads are read beyond what a page needs, for events that turn out not to meet the search.
	spareReads = 10
)

// AnyDays are the days of a search without dates.
var AnyDays = wiretime.Days{First: wiretime.FirstDay, Last: wiretime.LastDay}

// Search says which events are wanted. All conditions must hold; a zero field is ignored.
type Search struct {
	Text       string        // a part of the body
	Days       wiretime.Days // that the event touches; AnyDays: any
	CategoryID int64
	ElementID  int64 // with a commitment, itself or through a group on that day
	OwnerID    int64
	Status     Status // of one of the event's commitments
}

// Wanted is a search in the form in which a store runs it.
type Wanted struct {
	Needle     needle.Needle
	CategoryID int64
	OwnerID    int64
	Status     Status
	Reaches    []fact.Reach // one of which the event touches by a commitment; nil: any event
	Seen       *Seen        // nil: all that there is, and all of it
	Told       *Told        // nil: whatever it is
}

// Seen describes the events that a viewer may see: those that touch a reach by a commitment, those with a firm
// commitment to a public property, those of the user, and those of the categories that touch their days.
type Seen struct {
	Reaches    []fact.Reach
	Public     []int64
	OwnerID    int64
	Categories []SeenCategory
	FirmAlone  bool // other commitments are not shown
}

// SeenCategory is a school-wide category with the days on which its events are seen.
type SeenCategory struct {
	ID   int64
	Days []wiretime.Days
}

// Told describes the events that a viewer may know: those outside these categories, which are confidential or hidden
// from the viewer, those of the user, and those that one of the viewer's persons organises or that commit one.
type Told struct {
	Except  []int64
	OwnerID int64
	Persons []int64
}

// FoundPlace is a place in a search's result, in order of start, end and id. The zero FoundPlace is before the first
// and after the last.
type FoundPlace struct {
	Starts, Ends time.Time
	EventID      int64
	// Window is roughly the time that a page covers, with which the next page begins. It depends only on what is seen.
	Window time.Duration
}

// IsZero says whether it is the zero FoundPlace.
func (p FoundPlace) IsZero() bool { return p == FoundPlace{} }

// PlaceFound returns the place of an event.
func PlaceFound(e *Event, window time.Duration) FoundPlace {
	return FoundPlace{e.Span.Starts, e.Span.Ends, e.ID, window}
}

// before says whether the event comes after the place.
func (p FoundPlace) before(e *Event) bool {
	return cmp.Or(p.Starts.Compare(e.Span.Starts), p.Ends.Compare(e.Span.Ends), cmp.Compare(p.EventID, e.ID)) < 0
}

// Search returns a page of the events that meet the search and that p sees, in order of start, end and id, and the
// place that the next page comes after. A page may have fewer than limit, or none although a later one has some, where
// many visible titles have the parts of the text but not the text. Events that p does not see change nothing. A
// Malformed problem for a search by nothing, a Missing one for an element that does not exist, Forbidden for one that p
// does not see.
func (s *Service) Search(
	ctx context.Context, p principal.Principal, q Search, after FoundPlace, limit int,
) ([]Event, FoundPlace, error) {
	if err := q.check(); err != nil {
		return nil, FoundPlace{}, err
	}
	v, err := s.SightOf(ctx, p)
	if err != nil {
		return nil, FoundPlace{}, err
	}
	q.Days = wiretime.Days{
		First: max(q.Days.First, wiretime.FirstEventDay), Last: min(q.Days.Last, wiretime.LastEventDay),
	}
	if q.Days.First > q.Days.Last {
		return nil, FoundPlace{}, nil // no event has such days
	}
	w := walk{Service: s, sight: v, days: q.Days, after: after, limit: limit, wanted: Wanted{
		Needle: needle.New(q.Text), CategoryID: q.CategoryID, OwnerID: q.OwnerID, Status: q.Status,
	}}
	if err := s.narrow(ctx, v, &w.wanted); err != nil {
		return nil, FoundPlace{}, err
	}
	if q.ElementID != 0 {
		if err := s.mustFind(ctx, v, q.ElementID); err != nil {
			return nil, FoundPlace{}, err
		}
		asked := fact.ReachesQuestion{IDs: []int64{q.ElementID}, Days: q.Days}
		reached, err := s.o.Elements.Reaches(ctx, asked.By(v.Sight))
		if err != nil {
			return nil, FoundPlace{}, err
		}
		if len(reached) == 0 {
			return nil, FoundPlace{}, problem.Missing("Element", q.ElementID)
		}
		if reached[0].Hidden {
			return nil, FoundPlace{}, forbidden()
		}
		w.wanted.Reaches = v.within(reached[0])
		w.reached = daysOf(w.wanted.Reaches)
	}
	if q.OwnerID != 0 && q.OwnerID != v.UserID && !v.All() { // the others are not shown who owns what they see
		return nil, FoundPlace{}, nil
	}
	return w.page(ctx)
}

// InCategory returns the events of a category, in no order, that start from one time on and before another, that p sees
// and that are not confidential to p; the caller decides whether p may use the category. A Malformed problem when they
// are too many to be read at once.
func (s *Service) InCategory(
	ctx context.Context, p principal.Principal, categoryID int64, from, to time.Time,
) ([]Event, error) {
	v, err := s.SightOf(ctx, p)
	if err != nil {
		return nil, err
	}
	v.Privileged = true // a series may keep away from a category that its maker can't use
	wanted := Wanted{CategoryID: categoryID}
	if err := s.narrow(ctx, v, &wanted); err != nil {
		return nil, err
	}
	found, _, err := s.o.Store.FindStarting(ctx, wanted, from, to, 0)
	if err != nil {
		return nil, err
	}
	found, err = s.show(ctx, v, found)
	return slices.DeleteFunc(found, func(e Event) bool { return e.Redacted }), err
}

// check returns a Malformed problem for a search without a condition, or with a text that means nothing.
func (q Search) check() error {
	if q.Text == "" {
		if q == (Search{Days: AnyDays}) {
			return problem.New(problem.Malformed, "a filter or a text is needed")
		}
		return nil
	}
	switch n := needle.New(q.Text).Length(); {
	case n < leastText:
		return problem.New(problem.Malformed, "text has fewer than %d characters", leastText)
	case n > mostText:
		return problem.New(problem.Malformed, "text has more than %d characters", mostText)
	}
	if strings.ContainsFunc(q.Text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return nil
	}
	return problem.New(problem.Malformed, "text has neither a letter nor a digit")
}

// walk collects a page, one time window after another. A store returns events that start within a window, up to a
// limit, but can't return the first of them without reading all. So a window is narrowed until it holds no more than a
// page needs, and widened where it holds few. The reads depend on the page, not on the history.
type walk struct {
	*Service
	sight   Sight
	wanted  Wanted
	days    wiretime.Days
	reached map[int64][]wiretime.Days // by element; nil: all
	after   FoundPlace
	limit   int

	found  []Event
	window time.Duration // the next one
	// The window up to crowded held too many events; some of them start at these instants.
	crowded time.Time
	some    []time.Time
}

func (w *walk) page(ctx context.Context) ([]Event, FoundPlace, error) {
	from, to := w.o.Zone.Bounds(w.days)
	if w.days.First > wiretime.FirstEventDay && w.after.Starts.Before(from) {
		going, err := w.o.Store.FindGoingOn(ctx, w.wanted, w.days.First)
		if err != nil {
			return nil, FoundPlace{}, err
		}
		going = slices.DeleteFunc(going, func(e Event) bool { return !e.Span.Starts.Before(from) })
		if going, err = w.shown(ctx, going); err != nil {
			return nil, FoundPlace{}, err
		}
		w.add(going)
	}
	if from.Before(w.after.Starts) {
		from = w.after.Starts
	}
	w.window = w.first(from, to)
	for reads := 0; from.Before(to) && len(w.found) <= w.limit; reads++ {
		if reads == mostReads {
			// The page ends at a time, not at an event: none ends before it starts.
			return w.found, FoundPlace{Starts: from, Ends: from.Add(-time.Second), Window: w.window}, nil
		}
		until := w.until(from, to)
		whole, err := w.read(ctx, from, until)
		if err != nil {
			return nil, FoundPlace{}, err
		}
		if whole {
			from = until
		}
	}
	if len(w.found) <= w.limit {
		return w.found, FoundPlace{}, nil
	}
	window := w.found[w.limit].Span.Starts.Sub(w.found[0].Span.Starts)
	w.found = w.found[:w.limit]
	return w.found, PlaceFound(&w.found[w.limit-1], max(window, narrowest)), nil
}

// read reads the events that start within a window, and says whether these were all. It sets the next window.
func (w *walk) read(ctx context.Context, from, until time.Time) (whole bool, err error) {
	length, needed := until.Sub(from), w.limit+1-len(w.found)
	most := needed + needed/2 + spareReads
	if length <= narrowest {
		most = 0
	}
	found, more, err := w.find(ctx, from, until, most)
	if err != nil {
		return false, err
	}
	if more {
		w.crowd(until, found)
		w.window = w.narrower(from, 4)
		return false, nil
	}
	w.add(found)
	w.window = wider(length, w.limit+1-len(w.found), len(found))
	return true, nil
}

// find returns the events that the store finds and the viewer may be shown, up to most (0: any number), and whether
// there are more. It reads others in place of hidden ones.
func (w *walk) find(ctx context.Context, from, until time.Time, most int) (found []Event, more bool, err error) {
	for limit := most; ; limit *= 2 {
		found, more, err = w.o.Store.FindStarting(ctx, w.wanted, from, until, limit)
		if err != nil {
			return nil, false, err
		}
		read := len(found)
		if found, err = w.shown(ctx, found); err != nil {
			return nil, false, err
		}
		if !more || len(found) >= most || read < limit {
			break
		}
	}
	if most > 0 && len(found) >= most {
		return found[:most], true, nil
	}
	return found, more, nil
}

// first is the length of the first window. A school has hundreds of events a day; those that meet a search may be rare.
func (w *walk) first(from, to time.Time) time.Duration {
	all := w.wanted.Needle.Length() == 0 && w.wanted.CategoryID == 0 && w.wanted.OwnerID == 0 &&
		w.wanted.Status == "" && w.wanted.Reaches == nil && w.wanted.Seen == nil
	switch {
	case w.after.Window > 0:
		return max(w.after.Window, narrowest)
	case all:
		const day = 24 * time.Hour
		return day
	}
	return to.Sub(from)
}

// until is the end of the next window.
func (w *walk) until(from, to time.Time) time.Time {
	if to.Sub(from) <= w.window {
		w.window = to.Sub(from)
	}
	if from.Before(w.crowded) && !from.Add(w.window).Before(w.crowded) {
		w.window = w.narrower(from, 2)
	}
	return from.Add(w.window)
}

// crowd records that the window up to an instant held too many events, some of which were read.
func (w *walk) crowd(until time.Time, some []Event) {
	w.crowded, w.some = until, make([]time.Time, len(some))
	for i, e := range some {
		w.some[i] = e.Span.Starts
	}
	slices.SortFunc(w.some, time.Time.Compare)
}

// narrower is the length of the next window from an instant on: the first 1/part of the events that were read start in
// it, and it is at most half of the crowded one.
func (w *walk) narrower(from time.Time, part int) time.Duration {
	length := w.crowded.Sub(from) / 2
	later := slices.DeleteFunc(slices.Clone(w.some), func(at time.Time) bool { return !at.After(from) })
	if len(later) > 0 {
		length = min(length, later[len(later)/part].Sub(from))
	}
	return max(length.Truncate(time.Second), narrowest)
}

// wider is the length of the next window, after one of that length that held that many events, when needed more are
// wanted.
func wider(length time.Duration, needed, held int) time.Duration {
	factor := float64(widening)
	if held > 0 {
		factor = min(float64(needed)/float64(held), widening)
	}
	return time.Duration(min(max(float64(length)*factor, float64(narrowest)), float64(LongestWindow)))
}

// shown returns the events that are seen and that meet the search by what is shown of them. Only their number steers
// the walk.
func (w *walk) shown(ctx context.Context, events []Event) ([]Event, error) {
	events, err := w.show(ctx, w.sight, events)
	return slices.DeleteFunc(events, func(e Event) bool { return !w.tells(&e) }), err
}

// tells says whether the viewer is shown what makes an event meet the search.
func (w *walk) tells(e *Event) bool {
	days := e.Days(w.o.Zone)
	touches := func(c Commitment) bool {
		return slices.ContainsFunc(w.reached[c.ElementID], days.Overlaps) &&
			(!w.sight.firmAlone() || c.Status.firm()) &&
			(w.sight.days[c.ElementID] == nil || w.sight.reaches(c.ElementID, days)) // no group that was left
	}
	has := func(c Commitment) bool { return c.Status == w.wanted.Status && w.sight.counts(c, days) }
	return (!e.Redacted || !w.wanted.tellsWhat()) &&
		(w.wanted.OwnerID == 0 || w.sight.All() || w.sight.owns(e)) &&
		(w.wanted.Status == "" || slices.ContainsFunc(e.Commitments, has)) &&
		(w.reached == nil || slices.ContainsFunc(e.Commitments, touches))
}

// tellsWhat says whether a viewer who finds an event learns what it is.
func (w Wanted) tellsWhat() bool { return w.Needle.Length() > 0 || w.CategoryID != 0 }

// add adds those of the events that meet the search and come after the place, in order.
func (w *walk) add(events []Event) {
	events = slices.DeleteFunc(events, func(e Event) bool { return !w.meets(&e) })
	slices.SortFunc(events, func(a, b Event) int { return a.Compare(&b) })
	w.found = append(w.found, events...)
}

// meets says whether an event meets the search and is not on an earlier page.
func (w *walk) meets(e *Event) bool {
	return w.after.before(e) && e.Days(w.o.Zone).Overlaps(w.days) && w.wanted.Needle.In(e.Body) &&
		(w.wanted.CategoryID == 0 || e.CategoryID == w.wanted.CategoryID) &&
		(w.wanted.OwnerID == 0 || e.OwnerID == w.wanted.OwnerID)
}
