package event

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/record"
)

// Get returns an event for showing, with its owner and its elements. Missing.
func (s *Service) Get(ctx context.Context, id int64) (View, error) {
	e, err := s.store.Get(ctx, id)
	if err != nil {
		return View{}, record.Missing(err, Record, id)
	}
	l := newLookup()
	if err := s.fetch(ctx, l, e.elementIDs(), e.OwnerID); err != nil {
		return View{}, err
	}
	return s.view(e, l)
}

// Find returns those of the events that exist, by id and by import key, in no order.
func (s *Service) Find(ctx context.Context, ids []int64, keys []string) ([]Event, error) {
	return s.store.Find(ctx, ids, keys)
}
