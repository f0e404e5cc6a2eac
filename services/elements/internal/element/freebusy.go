package element

import (
	"context"
	"time"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

const (
	// MaxFreeBusy bounds the elements of one question for free time.
	MaxFreeBusy = 50
	// MaxDays bounds the days of one question for free or busy time, or for several timetables.
	MaxDays = 92
)

// FreeBusy is an element with the times at which it is busy, in order; none overlaps or adjoins another.
type FreeBusy struct {
	Element Element
	Busy    []Interval
}

// FreeBusy returns when each of the elements is busy within the days, in their order, and when none of them is for at
// least that long. An element is busy during an event of a busy category to which it, or a group that it belongs to on
// that day, is committed; rejected commitments are ignored, and so are those of the event except, if not 0. A Missing
// problem names the first element that does not exist; Forbidden when p does not see all of them.
func (s *Service) FreeBusy(
	ctx context.Context, p principal.Principal, ids []int64, days wiretime.Days, least time.Duration, except int64,
) (all []FreeBusy, free []Interval, err error) {
	of, v, err := s.poolFor(ctx, p, Whose{IDs: ids}, days)
	if err != nil {
		return nil, nil, err
	}
	s.recordRead(ctx, v.ElementID, audit.ReadFreeBusy, of.elements...)
	byElement, err := s.busy(ctx, v, of, fact.BusyQuestion{Except: except})
	if err != nil {
		return nil, nil, err
	}
	var busy []Interval
	for n, e := range of.elements {
		times := mergeIntervals(busyIntervals(s.Zone, of.reaches[n], byElement))
		all, busy = append(all, FreeBusy{e, times}), append(busy, times...)
	}
	from, to := s.Zone.Bounds(days)
	return all, gaps(mergeIntervals(busy), Interval{from, to}, least), nil
}

// busy returns when the reached elements are busy, by id, as far as the viewer sees their events and the question
// includes them.
func (s *Service) busy(ctx context.Context, v sight, of pool, q fact.BusyQuestion) (map[int64][]Interval, error) {
	q.Reaches = union(of.reaches)
	var err error
	if q.Sight, err = s.asked(ctx, v, of.elements...); err != nil {
		return nil, err
	}
	facts, err := s.Events.Busy(ctx, q)
	busy := map[int64][]Interval{}
	for _, f := range facts {
		busy[f.ElementID] = append(busy[f.ElementID], Interval{f.Starts, f.Ends})
	}
	return busy, err
}
