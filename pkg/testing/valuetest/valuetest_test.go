package valuetest_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// recorder is a test that keeps what it is told.
type recorder struct{ text string }

func (*recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) { r.text = fmt.Sprintf(format, args...) }

func (r *recorder) Fatal(args ...any) { r.text = "ended: " + fmt.Sprint(args...) }

func TestEachCheckFailsForWhatIsNotWanted(t *testing.T) {
	away := errors.New("away")
	list := []string{"a"}
	for _, c := range []struct {
		want      string
		bad, good func(*recorder)
	}{
		{"n: got 1, want 2",
			func(r *recorder) { valuetest.Same(r, 1, 2, "n") }, func(r *recorder) { valuetest.Same(r, 2, 2) }},
		{`ended: row 7: got "a", want "b"`,
			func(r *recorder) { valuetest.MustSame(r, "a", "b", "row %d", 7) },
			func(r *recorder) { valuetest.MustSame(r, "a", "a") }},
		{"50% of 7",
			func(r *recorder) { valuetest.Holds(r, false, "50% of 7") },
			func(r *recorder) { valuetest.Holds(r, true, "not so") }},
		{"ended: row 7: off",
			func(r *recorder) { valuetest.MustHold(r, false, "row %d: off", 7) },
			func(r *recorder) { valuetest.MustHold(r, true, "not so") }},
		{`got ["a"], want []`,
			func(r *recorder) { valuetest.List(r, list, nil) }, func(r *recorder) { valuetest.List(r, list[:0], nil) }},
		{`got 1, want 0: ["a"]`,
			func(r *recorder) { valuetest.Len(r, list, 0) }, func(r *recorder) { valuetest.Len(r, list, 1) }},
		{"\"c\" is not in\nab",
			func(r *recorder) { valuetest.Has(r, "ab", "c") }, func(r *recorder) { valuetest.Has(r, "ab", "b") }},
		{"\"b\" is in\nab",
			func(r *recorder) { valuetest.Lacks(r, "ab", "b") }, func(r *recorder) { valuetest.Lacks(r, "ab", "c") }},
		{"ended: away", func(r *recorder) { errortest.None(r, away) }, func(r *recorder) { errortest.None(r, nil) }},
		{"50%: away",
			func(r *recorder) { errortest.Report(r, away, "50%") }, func(r *recorder) { errortest.Report(r, nil) }},
		{"no error", func(r *recorder) { errortest.Some(r, nil) }, func(r *recorder) { errortest.Some(r, away) }},
		{"got error <nil>, want away",
			func(r *recorder) { errortest.Is(r, nil, away) },
			func(r *recorder) { errortest.Is(r, fmt.Errorf("wrapped: %w", away), away) }},
		{`got error away, want one that says "c"`,
			func(r *recorder) { errortest.Says(r, away, "c") }, func(r *recorder) { errortest.Says(r, away, "way") }},
	} {
		var bad, good recorder
		c.bad(&bad)
		valuetest.Same(t, bad.text, c.want)
		c.good(&good)
		valuetest.Same(t, good.text, "", "it fails")
	}
}
