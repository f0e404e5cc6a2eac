package note

import (
	"context"
	"errors"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Create makes a note and returns it without parent (contract 4.3, rule 1). The caller has checked that the event
// exists and that the author may add notes; Missing, of the event, when it is deleted meanwhile. A record.InvalidError
// of the View, whose id is 0. A request with an idempotency key makes one note, however often it is sent; a repeat gets
// the current note. Conflict when the key belongs to another request.
func (s *Service) Create(ctx context.Context, asked fact.NewNote) (View, error) {
	n := fresh(asked.EventID, asked.AuthorID)
	n.IdempotencyKey = asked.IdempotencyKey
	e := Edit{asked.Contents, asked.VisibleGuest, asked.VisibleStaff, asked.VisiblePupil, asked.Faults}
	faults := e.apply(&n)
	owners, err := s.owners(ctx, []Note{n}) // before the write, so that nothing is stored when identity does not answer
	if err != nil {
		return View{}, err
	}
	owner := owners[n.OwnerID]
	created, found, err := s.created(ctx, asked.IdempotencyKey)
	if err != nil {
		return View{}, err
	}
	if found {
		return s.view(created, owner, nil)
	}
	if len(faults) > 0 {
		return View{}, invalid(n, owner, nil, faults)
	}
	if err := s.render(&n); err != nil {
		return View{}, err
	}
	stored, err := s.insert(ctx, n)
	if errors.Is(err, ErrFull) {
		return View{}, invalid(n, owner, nil, tooMuch())
	}
	if err != nil {
		return View{}, record.Missing(err, "Event", n.EventID)
	}
	return s.view(stored, owner, nil)
}

// created returns the note that the request with that key has created already, if it has.
func (s *Service) created(ctx context.Context, k idempotency.Key) (n Note, found bool, err error) {
	if !k.Given() {
		return Note{}, false, nil
	}
	n, err = s.Store.GetByIdempotencyKey(ctx, k.ID)
	if errors.Is(err, record.ErrNotFound) {
		return Note{}, false, nil
	}
	if err == nil {
		err = k.Repeats(n.IdempotencyKey)
	}
	return n, true, err
}
