package follow

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// While one log has more than could be moved, the list goes as far as all logs are known. An empty answer would say
// that there is nothing more, so there is none, nor a token of now.
func TestClients_ChangesAreListedAsFarAsAllLogsAreKnown(t *testing.T) {
	events, notes := newPages(), newPages()
	s := New(Options{Events: events.read, Elements: newPages().read, Notes: notes.read, Secret: "x"})
	begun, err := s.Now(t.Context(), staff)
	errortest.None(t, err)
	moved := events.add(2)
	later := notes.add(1)
	notes.all[1].Changes[0].At = time.Now().Add(time.Hour)
	events.more = true
	found, place, err := s.List(t.Context(), staff, begun, 100)
	if err != nil || len(found) != 2 || found[0].ID != moved[0] || found[1].ID != moved[1] || place == begun {
		t.Fatalf("%+v, %v", found, err)
	}
	refused := func(what string, err error) {
		t.Helper()
		if !problem.Is(err, problem.Unavailable) || problem.As(err).RetryAfter != time.Second {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, _, err = s.List(t.Context(), staff, place, 100)
	refused("at the end of what has moved", err)
	_, err = s.Now(t.Context(), staff)
	refused("without a token", err)
	errortest.Report(t, errortest.Of(s.Enter(t.Context(), staff, s.Token(place))), "a stream that begins meanwhile")
	events.more = false
	rest := events.add(1)
	found, place, err = s.List(t.Context(), staff, place, 100)
	if err != nil || len(found) != 2 || found[0].ID != rest[0] || found[1].ID != later[0] {
		t.Fatalf("%+v, %v", found, err)
	}
	if found, end, err := s.List(t.Context(), staff, place, 100); err != nil || len(found) > 0 || end != place {
		t.Errorf("%+v, %v", found, err)
	}
}

// Notes that the viewer may not see, by their audience or because their event is confidential, change nothing in the
// pages of the others: neither how many a page has, nor how many pages there are, nor the token at the end.
func TestDecisionsPart9_ChangesThatAreHiddenMoveNoPage(t *testing.T) {
	hidden := func(log *pages, n int) {
		for i := range n {
			log.add(1)
			item := &log.all[len(log.all)-1].Changes[0]
			item.Kind, item.EventID = change.Note, 7 // which is confidential
			item.After = &change.Audience{Staff: i%2 == 0}
		}
	}
	read := func(limit, before, between, after int) (pages []string) {
		events, notes := newPages(), newPages()
		s := New(Options{
			Events: events.read, Elements: newPages().read, Notes: notes.read, Secret: "x",
			Redacted: func(_ context.Context, _ []int64, _ fact.Sight) (map[int64]bool, error) {
				return map[int64]bool{7: true}, nil
			},
		})
		place, err := s.Now(t.Context(), staff)
		errortest.None(t, err)
		hidden(notes, before)
		events.add(3)
		hidden(notes, between)
		events.add(2)
		hidden(notes, after)
		for {
			found, next, err := s.List(t.Context(), staff, place, limit)
			errortest.None(t, err)
			page := fmt.Sprint(next == place)
			for _, item := range found {
				page += " " + item.ID
			}
			if pages = append(pages, page); next == place {
				return pages
			}
			place = next
		}
	}
	for _, limit := range []int{1, 2, 3, 5, 100} {
		twin := read(limit, 0, 0, 0)
		for _, n := range []int{1, limit, 2*limit + 1, MaxListed + 1} {
			for _, got := range [][]string{read(limit, n, 0, 0), read(limit, 0, n, 0), read(limit, 0, 0, n)} {
				valuetest.List(t, got, twin, "limit %d, %d hidden; without them %q", limit, n, twin)
			}
		}
	}
}

// A stream continues with what waited once it has moved.
func TestClients_StreamsTellWhatWaitedWhenItHasMoved(t *testing.T) {
	log, h, f := following(t)
	log.more = true
	if err := h.Step(t.Context()); !problem.Is(err, problem.Unavailable) {
		t.Errorf("the hub begins, though it is not known where: %v", err)
	}
	want := log.add(3)
	got := readAll(t, f, 3)
	if found, err := f.Read(t.Context(), staff); err != nil || len(found) > 0 {
		t.Fatal(found, err)
	}
	log.more = false
	want = append(want, log.add(2)...)
	errortest.None(t, h.Step(t.Context()))
	if got = append(got, readAll(t, f, 2)...); !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
}
