package note

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// Page returns notes of all events for administrators, in order of id and without HTML: at most limit with an id above
// after, fewer when they are large, and the id after which the next page begins, 0 after the last page.
func (s *Service) Page(ctx context.Context, after int64, limit int) (page []Note, next int64, err error) {
	page, more, err := s.Store.ListAll(ctx, after, limit+1)
	page, next = sequence.Page(page, limit, more, func(n Note) int64 { return n.ID })
	if err == nil {
		err = s.titled(ctx, page)
	}
	return page, next, err
}
