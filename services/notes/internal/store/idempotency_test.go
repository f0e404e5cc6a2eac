package store_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

func key(body string) idempotency.Key {
	return idempotency.New(1, "POST /api/events/101/notes", "k", []byte(body))
}

func TestDecisionsPart1_IdempotencyKey_ARequestMakesOneNoteHoweverOftenItComes(t *testing.T) {
	s, _, _ := newService(t)
	contents := "a"
	asked := fact.NewNote{EventID: 101, AuthorID: 1, Contents: &contents, IdempotencyKey: key("a")}
	var wg sync.WaitGroup
	var made atomic.Int64
	for range 8 { // at once: one makes it, the others are told that it is being made, or what was made
		wg.Go(func() {
			n, err := s.Create(t.Context(), asked)
			switch {
			case problem.Is(err, problem.Conflict) && problem.As(err).RetryAfter > 0:
			case err != nil:
				t.Error(err)
			default:
				made.Store(n.ID)
			}
		})
	}
	wg.Wait()
	again, err := s.Create(t.Context(), asked)
	if err != nil || again.ID != made.Load() || again.Contents != "a" || again.Owner == nil {
		t.Errorf("%+v, %v, made %d", again, err, made.Load())
	}
	asked.IdempotencyKey = key("b")
	if _, err := s.Create(t.Context(), asked); !problem.Is(err, problem.Conflict) || problem.As(err).RetryAfter > 0 {
		t.Errorf("another body: %v", err)
	}
	if notes, err := s.Store.List(t.Context(), 101); err != nil || len(notes) != 1 {
		t.Errorf("%+v, %v", notes, err)
	}
}

func TestAnIdempotencyKeySurvivesChangesUntilItIsForgotten(t *testing.T) {
	s, db := open(t)
	n := insert(t, s, note.Note{EventID: 3, OwnerID: 4, IdempotencyKey: key("a")})
	errortest.None(t,
		errortest.Of(s.Change(t.Context(), n.ID,
			func(n *note.Note) error { *n = note.Note{ID: n.ID, OwnerID: 4, Contents: "b"}; return nil })))
	for _, step := range []struct {
		before time.Time
		found  bool
	}{{time.Now().Add(-time.Hour), true}, {time.Now().Add(time.Hour), false}} {
		errortest.None(t, s.ForgetIdempotencyKeys(t.Context(), step.before))
		got, err := s.GetByIdempotencyKey(t.Context(), key("a").ID)
		found := !errors.Is(err, record.ErrNotFound)
		if (found && err != nil) || found != step.found ||
			(found && (got.ID != n.ID || got.IdempotencyKey != key("a"))) {
			t.Errorf("before %v: %+v, %v, %v", step.before, got, found, err)
		}
	}
	if got := load(t, s, n.ID); got.Version != 2 || got.Contents != "b" {
		t.Errorf("forgetting changed the note: %+v", got)
	}
	left, err := db.Collection("notes").CountDocuments(t.Context(),
		bson.D{{Key: "ticket", Value: bson.D{{Key: "$exists", Value: true}}}})
	errortest.None(t, err)
	valuetest.Same(t, left, 0)
	insert(t, s, note.Note{EventID: 3, OwnerID: 4, IdempotencyKey: key("a")})
}

// TestDecisionsPart1_IfMatch_AChangeInBetweenIsNotOverwritten: the note changes after it was read and before it is
// replaced or removed.
func TestDecisionsPart1_IfMatch_AChangeInBetweenIsNotOverwritten(t *testing.T) {
	s, events, _ := newService(t)
	id := create(t, s, 101, "a")
	text := "mine"
	for name, change := range map[string]func(record.Match) error{
		"update": func(m record.Match) error {
			_, err := s.Change(t.Context(), author, id, note.Edit{Contents: &text}, m)
			return err
		},
		"delete": func(m record.Match) error { return s.Delete(t.Context(), author, id, m) },
	} {
		n, err := s.Store.Get(t.Context(), id)
		errortest.None(t, err)
		events.asked = func() { // between the two
			errortest.Report(t,
				errortest.Of(s.Store.Change(t.Context(), id,
					func(n *note.Note) error { n.Contents = "theirs"; return nil })))
		}
		if err := change(record.Versions(n.Version)); !problem.Is(err, problem.PreconditionFailed) {
			t.Errorf("%s: %v", name, err)
		}
		events.asked = nil
		if n, err := s.Store.Get(t.Context(), id); err != nil || n.Contents != "theirs" {
			t.Errorf("%s: %+v, %v", name, n, err)
		}
	}
}
