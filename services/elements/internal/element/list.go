package element

import (
	"context"
	"slices"
)

// Filter chooses elements for a list; zero fields choose all.
type Filter struct {
	EntityType string
	Current    *bool
	Key        string
	After      int64 // only elements with a greater id
	Limit      int
}

// List returns a page of elements in order of id, and the id after which the next page begins, 0 after the last page.
func (s *Service) List(ctx context.Context, f Filter) (page []Element, next int64, err error) {
	limit := f.Limit
	f.Limit++
	page, err = s.store.List(ctx, f)
	if err == nil && len(page) > limit {
		page = page[:limit]
		next = page[limit-1].ID
	}
	return page, next, err
}

// pageOf returns a page of ids, which are in order, and the id after which the next page begins, 0 after the last page.
func pageOf(ids []int64, after int64, limit int) (page []int64, next int64) {
	from, found := slices.BinarySearch(ids, after)
	if found {
		from++
	}
	page = ids[from:]
	if len(page) > limit {
		page = page[:limit]
		next = page[limit-1]
	}
	return page, next
}
