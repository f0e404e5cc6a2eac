package event

import "context"

// Living returns the ids of those of the events that exist, deleted ones not, in no order. Others delete what belongs
// to an event that is not among them.
func (s *Service) Living(ctx context.Context, ids []int64) ([]int64, error) {
	return s.store.FindLiving(ctx, ids)
}
