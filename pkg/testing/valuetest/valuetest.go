// Package valuetest compares values with those that a test wants.
//
// What a check is about comes last, where its line does not say so: a text, or a format and its arguments.
package valuetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// Equal fails the test with the difference (-want +got), if there is one.
func Equal(t errortest.TB, want, got any, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("%s", diff)
	}
}

// Same fails the test unless got == want.
func Same[T comparable](t errortest.TB, got, want T, what ...any) {
	t.Helper()
	if got != want {
		t.Errorf("%s", difference(got, want, what))
	}
}

// MustSame ends the test unless got == want.
func MustSame[T comparable](t errortest.TB, got, want T, what ...any) {
	t.Helper()
	if got != want {
		t.Fatal(difference(got, want, what))
	}
}

// Holds fails the test with the message, a text or a format and its arguments, unless it holds.
func Holds(t errortest.TB, holds bool, message ...any) {
	t.Helper()
	if !holds {
		t.Errorf("%s", strings.TrimSuffix(errortest.About(message), ": "))
	}
}

// MustHold ends the test with the message unless it holds.
func MustHold(t errortest.TB, holds bool, message ...any) {
	t.Helper()
	if !holds {
		t.Fatal(strings.TrimSuffix(errortest.About(message), ": "))
	}
}

// List fails the test unless both have the same items in the same order. An empty list is the same as none.
func List[S ~[]E, E comparable](t errortest.TB, got, want S, what ...any) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s", difference(got, want, what))
	}
}

// Len fails the test, and shows the items, unless there are as many as wanted.
func Len[S ~[]E, E any](t errortest.TB, got S, want int, what ...any) {
	t.Helper()
	if len(got) != want {
		t.Errorf("%sgot %d, want %d: %s", errortest.About(what), len(got), want, shown(got))
	}
}

// Has fails the test unless part is in text.
func Has(t errortest.TB, text, part string, what ...any) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%s%q is not in\n%s", errortest.About(what), part, text)
	}
}

// Lacks fails the test if part is in text.
func Lacks(t errortest.TB, text, part string, what ...any) {
	t.Helper()
	if strings.Contains(text, part) {
		t.Errorf("%s%q is in\n%s", errortest.About(what), part, text)
	}
}

func difference(got, want any, what []any) string {
	about := errortest.About(what)
	if text, ok := want.(string); ok && strings.Contains(text, "\n") {
		return about + "(-want +got)\n" + cmp.Diff(want, got)
	}
	return fmt.Sprintf("%sgot %s, want %s", about, shown(got), shown(want))
}

// shown writes texts in quotes, so that their ends are seen.
func shown(value any) string {
	switch value.(type) {
	case string, []string:
		return fmt.Sprintf("%q", value)
	default:
		return fmt.Sprintf("%+v", value)
	}
}
