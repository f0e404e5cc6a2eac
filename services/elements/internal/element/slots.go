package element

import (
	"context"
	"time"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// MaxSlotDays bounds the days of one question for slots.
const MaxSlotDays = 14

// Hours are a part of the day by the zone's clock, the same on every day; an open end is that of the day.
type Hours struct{ From, To wiretime.TimeOfDay }

// on returns the hours of one day. A time that the clock skips is that of [wiretime.Zone.At]; a day that it skips has
// none.
func (h Hours) on(zone wiretime.Zone, day wiretime.Day) (i Interval) {
	i.Starts, i.Ends = zone.Bounds(wiretime.Days{First: day, Last: day})
	if h.From.Given() {
		i.Starts = later(i.Starts, zone.At(day, h.From))
	}
	if h.To.Given() {
		i.Ends = earlier(i.Ends, zone.At(day, h.To))
	}
	return i
}

// ListSlots returns when none of the elements is busy for at least that long, within the hours of each of the days, in
// order; none spans two days. Busy times and problems are those of FreeBusy.
func (s *Service) ListSlots(
	ctx context.Context, p principal.Principal, ids []int64, days wiretime.Days, hours Hours, least time.Duration,
	except int64,
) ([]Interval, error) {
	_, free, err := s.FreeBusy(ctx, p, ids, days, least, except)
	return slots(s.Zone, free, days, hours, least), err
}

// slots returns the parts of the free intervals within the hours of each day that have at least that length.
func slots(zone wiretime.Zone, free []Interval, days wiretime.Days, hours Hours, least time.Duration) []Interval {
	var found []Interval
	for day := days.First; day <= days.Last; day++ {
		within := hours.on(zone, day)
		for _, f := range free {
			slot := Interval{later(f.Starts, within.Starts), earlier(f.Ends, within.Ends)}
			if slot.Ends.Sub(slot.Starts) >= least {
				found = append(found, slot)
			}
		}
	}
	return found
}
