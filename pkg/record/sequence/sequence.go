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

// Distinct sorts values in place, and returns each once.
func Distinct[T cmp.Ordered](values []T) []T {
	slices.Sort(values)
	return slices.Compact(values)
}
