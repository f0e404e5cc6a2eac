package series

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// withdrawn is the store of a series that another process has withdrawn, and of its events.
type withdrawn struct {
	Store
	m *memory
}

func (withdrawn) Change(context.Context, int64, func(*Series) error) (Series, error) {
	return Series{}, record.ErrNotFound
}

func (s withdrawn) InsertEvents(_ context.Context, events []event.Event) ([]int, error) {
	for _, e := range events {
		s.m.events[e.ID] = e
	}
	return nil, nil
}

// A process that made the series so late that another had withdrawn it left its events.
func TestASeriesThatIsMadeLateAfterItsWithdrawalLeavesNoEvent(t *testing.T) {
	m := &memory{events: map[int64]event.Event{}}
	s := New(Options{Store: withdrawn{m: m}, EventStore: single{m: m}})
	_, err := s.make(t.Context(), Series{ID: 1, State: Planned, Plan: []Occurrence{{EventID: 11}, {EventID: 12}}})
	if !problem.Is(err, problem.Conflict) || len(m.events) > 0 {
		t.Errorf("%v, left %v", err, slices.Collect(maps.Keys(m.events)))
	}
}
