package event

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// empty is a store without events.
type empty struct{ Store }

func (empty) Get(context.Context, int64) (Event, error) { return Event{}, record.ErrNotFound }
func (empty) GetByCommitment(context.Context, int64) (Event, error) {
	return Event{}, record.ErrNotFound
}
func (empty) GetByRequest(context.Context, int64) (Event, error) { return Event{}, record.ErrNotFound }
func (empty) Change(context.Context, int64, func(*Event) error) (Event, error) {
	return Event{}, record.ErrNotFound
}
func (empty) Delete(context.Context, int64, func(*Event) error) error {
	return record.ErrNotFound
}

// unwritten is a notes service without notes.
type unwritten struct{ Notes }

func (unwritten) OfEvent(context.Context, fact.NotesOfEventQuestion) (json.RawMessage, error) {
	return json.RawMessage("[]"), nil
}

func TestAMissingRecordIsNamedAsItWasAddressed(t *testing.T) {
	ctx, s := t.Context(), New(Options{Store: empty{}, Notes: unwritten{}})
	p := principal.Principal{UserID: ann, Permissions: principal.All()}
	first := func(_ any, err error) error { return err }
	for name, c := range map[string]struct {
		err    error
		record string
		kind   problem.Kind
	}{
		"get": {first(s.Get(ctx, p, 7)), "Event", problem.NotFound},
		"change": {
			first(s.Change(ctx, p, 7, Fields{}, record.Match{}, AllowClashes)), "Event", problem.NotFound,
		},
		"delete":            {s.Delete(ctx, p, 7, record.Match{}, nil), "Event", problem.NotFound},
		"add":               {first(s.Add(ctx, p, 7, Submission{})), "Event", problem.NotFound},
		"replace":           {first(s.Replace(ctx, p, 7, Replacement{})), "Event", problem.NotFound},
		"remove an element": {s.DeleteElement(ctx, p, 7, 8, record.Match{}), "Event", problem.NotFound},
		"notes":             {first(s.Notes(ctx, p, 7)), "Event", problem.NotFound},
		"add a note":        {first(s.AddNote(ctx, p, fact.NewNote{EventID: 7})), "Event", problem.NotFound},
		"decide":            {first(s.Decide(ctx, p, 7, Decision{Status: Confirmed})), "Commitment", problem.NotFound},
		"delete commitment": {s.DeleteCommitment(ctx, p, 7), "Commitment", problem.Malformed},
		"allocate":          {first(s.Allocate(ctx, p, 7, Submission{})), "Request", problem.NotFound},
		"change quantity":   {first(s.ChangeQuantity(ctx, p, 7, nil, nil)), "Request", problem.NotFound},
		"delete request":    {s.DeleteRequest(ctx, p, 7), "Request", problem.NotFound},
	} {
		if p := problem.As(c.err); p == nil || p.Kind != c.kind || p.Record != c.record || p.ID != "7" {
			t.Errorf("%s: %v", name, c.err)
		}
	}
}

// overtaken is a store with one event, onto which another user puts an element before each change of it.
type overtaken struct {
	Store
	e     Event
	added int64
}

func (s overtaken) Get(context.Context, int64) (Event, error) { return s.e, nil }
func (s overtaken) Change(_ context.Context, _ int64, change func(*Event) error) (Event, error) {
	s.e.Commitments = []Commitment{{ID: 1, ElementID: s.added, Status: Uncontrolled}}
	err := change(&s.e)
	return s.e, ignoring(err)
}
func (overtaken) NewIDs(_ context.Context, events, commitments, requests int) (IDs, error) {
	return IDs{make([]int64, events), make([]int64, commitments), make([]int64, requests)}, nil
}

func ignoring(err error) error {
	if errors.Is(err, record.ErrUnchanged) {
		return nil
	}
	return err
}

// allPupils is an elements service that has every element, each a pupil.
type allPupils struct{ Elements }

func (allPupils) Facts(_ context.Context, q fact.ElementsQuestion) (facts []fact.Element, err error) {
	for _, id := range q.IDs {
		if id != fact.District {
			facts = append(facts, fact.Element{Element: form.Element{ID: id, EntityType: form.Pupil}})
		}
	}
	return facts, nil
}
func (allPupils) Surroundings(context.Context, fact.SurroundingsQuestion) (fact.Surroundings, error) {
	return fact.Surroundings{}, nil
}

// unbooked finds no clashes.
type unbooked struct{ Clashes }

func (unbooked) Book(_ context.Context, _ Addition, write WriteAddition) (Event, []Clash, error) {
	e, _, err := write(nil)
	return e, nil, err
}

// categoryless has no categories.
type categoryless struct{ Categories }

func (categoryless) Find(context.Context, []int64, []string) ([]category.Category, error) {
	return nil, nil
}

// The add was stored, and then answered 500.
func TestAnAddOfAHiddenElementThatAnotherAddsMeanwhileIsAnswered(t *testing.T) {
	s := New(Options{
		Store: overtaken{e: Event{ID: 7, OwnerID: viewer}, added: mate}, Elements: allPupils{}, Clashes: unbooked{},
		Categories: categoryless{}, Sights: principal.Sights{Pupils: principal.SeesOwn},
	})
	p := principal.Principal{UserID: viewer, Kind: principal.Pupil}
	v, err := s.Add(t.Context(), p, 7, NewSubmission([]Submitted{{ID: mate}}))
	if err != nil || len(v.Commitments) != 0 || len(v.Failures) != 1 || v.Failures[0].Status != "" {
		t.Errorf("%+v: %v", v, err)
	}
}
