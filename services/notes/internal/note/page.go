package note

import "context"

// Page returns notes of all events for administrators, in order of id and without HTML: at most limit with an id above
// after, fewer when they are large, and the id after which the next page begins, 0 after the last page.
func (s *Service) Page(ctx context.Context, after int64, limit int) (page []Note, next int64, err error) {
	page, more, err := s.Store.ListAll(ctx, after, limit+1)
	if len(page) > limit {
		page, more = page[:limit], true
	}
	if more && len(page) > 0 {
		next = page[len(page)-1].ID
	}
	if err == nil {
		err = s.titled(ctx, page)
	}
	return page, next, err
}
