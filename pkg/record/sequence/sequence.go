// Package sequence makes slices and maps of slices.
package sequence

import (
	"cmp"
	"slices"
)

// Map returns the results of applying of to each item, in order. The result is never nil.
func Map[T, U any](items []T, of func(T) U) []U {
	made := make([]U, len(items))
	for i, item := range items {
		made[i] = of(item)
	}
	return made
}

// By returns the items by a unique key.
func By[K comparable, T any](items []T, key func(T) K) map[K]T {
	found := make(map[K]T, len(items))
	for _, item := range items {
		found[key(item)] = item
	}
	return found
}

// Page returns the first items of a list that was read one beyond the limit, and the key after which the next page
// begins, zero after the last page. More says that there are others than the items.
func Page[T, K any](items []T, limit int, more bool, key func(T) K) (page []T, next K) {
	page = items[:min(len(items), limit)]
	if n := len(page); n > 0 && (more || n < len(items)) {
		next = key(page[n-1])
	}
	return page, next
}

// Distinct sorts values in place, and returns each once.
func Distinct[T cmp.Ordered](values []T) []T {
	slices.Sort(values)
	return slices.Compact(values)
}
