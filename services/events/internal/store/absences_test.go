package store

import (
	"slices"
	"testing"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

func TestAbsences_EventsAreFoundByCategoryAndStart(t *testing.T) {
	_, s := open(t)
	at := func(id, category int64, starts, ends string) event.Event {
		return event.Event{ID: id, CategoryID: category, Span: span(starts, ends)}
	}
	insert(t, s,
		at(1, 1, "2026-09-06T23:00:00Z", "2026-09-07T01:00:00Z"),
		at(2, 1, "2026-09-07T00:00:00Z", "2026-09-07T00:00:00Z"),
		at(3, 2, "2026-09-07T09:00:00Z", "2026-09-07T10:00:00Z"),
		at(4, 3, "2026-09-07T09:00:00Z", "2026-09-07T10:00:00Z"),
		at(5, 2, "2026-09-07T23:59:59Z", "2026-09-09T10:00:00Z"),
		at(6, 2, "2026-09-08T00:00:00Z", "2026-09-08T10:00:00Z"),
		at(7, 2, "2026-09-07T09:00:00Z", "2026-09-07T10:00:00Z"))
	errortest.None(t, s.Delete(t.Context(), 7, func(*event.Event) error { return nil }))
	day := span("2026-09-07T00:00:00Z", "2026-09-08T00:00:00Z")
	for name, c := range map[string]struct{ categories, want []int64 }{"two": {[]int64{1, 2}, []int64{2, 3, 5}},
		"none": {nil, nil}, "unused": {[]int64{9}, nil}} {
		found, err := s.FindInCategories(t.Context(), c.categories, day.Starts, day.Ends)
		got := sequence.Map(found, func(e event.Event) int64 { return e.ID })
		if slices.Sort(got); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
}
