// Package clash finds the events that book an element at the same time, and keeps exact bookings exact: when an
// addition refuses clashes, its elements are reserved while it is decided and written (decisions part 5;
// docs/decisions/0010). It implements event.Clashes.
package clash

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// Events is what is asked of the store of events; see event.Store.
type Events interface {
	FindTouching(ctx context.Context, reaches []fact.Reach, whole bool) ([]event.Event, error)
	Fence(ctx context.Context, id int64) error
}

// Categories is what is asked of the use cases of categories.
type Categories interface {
	Busy(ctx context.Context, ids []int64) (map[int64]bool, error)
}

// Elements is what is asked of the elements service.
type Elements interface {
	Reaches(ctx context.Context, q fact.ReachesQuestion) ([]fact.ElementReaches, error)
}

// Options of a Service; all are needed.
type Options struct {
	Events       Events
	Reservations Reservations
	Categories   Categories
	Elements     Elements
	Zone         wiretime.Zone
}

// Service finds and refuses clashes. It is safe for concurrent use.
type Service struct{ o Options }

// New returns the service.
func New(o Options) *Service { return &Service{o} }

// canClash says whether an element that is committed directly can be in only one event at a time. Properties and
// subjects are labels that any number of events may share, and a resource group gets requests. An allocated element can
// clash whatever its type.
func canClash(element fact.Element) bool {
	return !element.Resource && element.EntityType != form.Property && element.EntityType != form.Subject
}

// Common returns the days on which two events go on at the same time, and false when they never do, as of
// wiretime.Overlaps.
func Common(zone wiretime.Zone, a, b *event.Event) (wiretime.Days, bool) {
	if !wiretime.Overlaps(a.Span.Starts, a.Span.Ends, b.Span.Starts, b.Span.Ends) {
		return wiretime.Days{}, false
	}
	starts, ends := a.Span.Starts, a.Span.Ends
	if b.Span.Starts.After(starts) {
		starts = b.Span.Starts
	}
	if b.Span.Ends.Before(ends) {
		ends = b.Span.Ends
	}
	return zone.Days(starts, ends), true
}

// overlap says whether two events overlap on one of the days.
func (s *Service) overlap(a, b *event.Event, days []wiretime.Days) bool {
	common, ok := Common(s.o.Zone, a, b)
	return ok && slices.ContainsFunc(days, common.Overlaps)
}
