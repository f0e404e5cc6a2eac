// Package sequence makes slices of slices.
package sequence

// Map returns what of makes of each item, in order. The result is never nil.
func Map[T, U any](items []T, of func(T) U) []U {
	made := make([]U, len(items))
	for i, item := range items {
		made[i] = of(item)
	}
	return made
}
