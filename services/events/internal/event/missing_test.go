package event

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
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
	added := func(_ View, _ []Failure, err error) error { return err }
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
		"add":               {added(s.Add(ctx, p, 7, Submission{})), "Event", problem.NotFound},
		"replace":           {added(s.Replace(ctx, p, 7, Replacement{})), "Event", problem.NotFound},
		"remove an element": {s.DeleteElement(ctx, p, 7, 8, record.Match{}), "Event", problem.NotFound},
		"notes":             {first(s.Notes(ctx, p, 7)), "Event", problem.NotFound},
		"add a note":        {first(s.AddNote(ctx, p, fact.NewNote{EventID: 7})), "Event", problem.NotFound},
		"decide":            {first(s.Decide(ctx, p, 7, Decision{Status: Confirmed})), "Commitment", problem.NotFound},
		"delete commitment": {s.DeleteCommitment(ctx, p, 7), "Commitment", problem.Malformed},
		"allocate":          {added(s.Allocate(ctx, p, 7, Submission{})), "Request", problem.NotFound},
		"change quantity":   {first(s.ChangeQuantity(ctx, p, 7, nil, nil)), "Request", problem.NotFound},
		"delete request":    {s.DeleteRequest(ctx, p, 7), "Request", problem.NotFound},
	} {
		if p := problem.As(c.err); p == nil || p.Kind != c.kind || p.Record != c.record || p.ID != "7" {
			t.Errorf("%s: %v", name, c.err)
		}
	}
}
