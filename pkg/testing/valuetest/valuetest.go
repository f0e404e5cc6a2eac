// Package valuetest compares values with those that a test wants.
package valuetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Equal fails the test with the difference (-want +got), if there is one.
func Equal(t testing.TB, want, got any, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Error(diff)
	}
}
