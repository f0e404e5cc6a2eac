package neighbour

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
)

// What events answers.
var (
	Commitments = Question[fact.CommitmentsQuestion, []fact.Commitment]{
		Path: "/internal/commitments", Field: "commitments", Large: true,
	}
	Requests = Question[fact.RequestsQuestion, []fact.Request]{
		Path: "/internal/requests", Field: "requests", Large: true,
	}
	Summaries = Question[fact.SummariesQuestion, []fact.Event]{
		Path: "/internal/events/summaries", Field: "events",
		Nothing: func(q fact.SummariesQuestion) bool { return len(q.IDs)+len(q.Keys) == 0 },
	}
	Living = Question[fact.LivingQuestion, []int64]{
		Path: "/internal/events/living", Field: "event_ids",
		Nothing: func(q fact.LivingQuestion) bool { return len(q.IDs) == 0 },
	}
	Busy     = Question[fact.BusyQuestion, []fact.Busy]{Path: "/internal/events/busy", Field: "busy", Large: true}
	Calendar = Question[fact.CalendarQuestion, []fact.CalendarEvent]{
		Path: "/internal/events/calendar", Field: "events", Large: true,
	}
)

// Events asks the events service.
type Events struct{ peer *peer }

// NewEvents returns the client of the service whose internal listener is at base.
func NewEvents(t *Transport, base string) *Events { return &Events{t.peer("events", base)} }

// Commitments returns the commitments in the order of decisions part 3: event start, event end, commitment id.
func (e *Events) Commitments(ctx context.Context, q fact.CommitmentsQuestion) ([]fact.Commitment, error) {
	return ask(ctx, e.peer, Commitments, q)
}

// Requests returns the requests without element, in the order of Commitments.
func (e *Events) Requests(ctx context.Context, q fact.RequestsQuestion) ([]fact.Request, error) {
	return ask(ctx, e.peer, Requests, q)
}

// Summaries returns the events asked for that exist, in no order.
func (e *Events) Summaries(ctx context.Context, q fact.SummariesQuestion) ([]fact.Event, error) {
	return ask(ctx, e.peer, Summaries, q)
}

// Living returns the ids of the events asked for that exist, in no order.
func (e *Events) Living(ctx context.Context, q fact.LivingQuestion) ([]int64, error) {
	return ask(ctx, e.peer, Living, q)
}

// Busy returns the times of the events of a busy category that touch a day of a reach and have a commitment of its
// element that was not rejected. They are in the order of Commitments, and may overlap.
func (e *Events) Busy(ctx context.Context, q fact.BusyQuestion) ([]fact.Busy, error) {
	return ask(ctx, e.peer, Busy, q)
}

// Calendar returns the events that touch a day of a reach and have an uncontrolled or confirmed commitment of its
// element, each once, in order of start, end and id.
func (e *Events) Calendar(ctx context.Context, q fact.CalendarQuestion) ([]fact.CalendarEvent, error) {
	return ask(ctx, e.peer, Calendar, q)
}

// EraseEvents is what events does to erase a person.
var EraseEvents = erasureQuestion("/internal/erase/events")

// Erase does the next step of an erasure. It may be repeated.
func (e *Events) Erase(ctx context.Context, q fact.ErasureQuestion) (fact.ErasureStep, error) {
	return ask(ctx, e.peer, EraseEvents, q)
}
