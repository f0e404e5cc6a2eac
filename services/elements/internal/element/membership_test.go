package element

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// days lists those of the probed days that are in the set: some inside, and the outermost.
func days(runs []wiretime.Days) []wiretime.Day {
	var in []wiretime.Day
	for _, day := range probes() {
		if slices.ContainsFunc(runs, func(s wiretime.Days) bool { return s.Has(day) }) {
			in = append(in, day)
		}
	}
	return in
}

func probes() []wiretime.Day {
	probes := []wiretime.Day{wiretime.FirstDay, wiretime.FirstDay + 1, wiretime.LastDay - 1, wiretime.LastDay}
	for day := wiretime.Day(-2); day <= lastDay+2; day++ {
		probes = append(probes, day)
	}
	return probes
}

func TestDecisionsPart3_MergingKeepsTheDays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := drawDays(t, "spans")
		merged := wiretime.MergeDays(runs)
		valuetest.MustHold(t, slices.Equal(days(merged), days(runs)), "%v became %v", runs, merged)
		for i := 1; i < len(merged); i++ {
			if int64(merged[i].First) <= int64(merged[i-1].Last)+1 {
				t.Fatalf("%v and %v of %v are one", merged[i-1], merged[i], runs)
			}
		}
	})
}

func TestDecisionsPart3_IntersectingAndEndingOfDays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := wiretime.MergeDays(drawDays(t, "a")), wiretime.MergeDays(drawDays(t, "b"))
		var both []wiretime.Day
		for _, day := range days(a) {
			if slices.Contains(days(b), day) {
				both = append(both, day)
			}
		}
		if got := days(wiretime.IntersectDays(a, b)); !slices.Equal(got, both) {
			t.Fatalf("%v and %v meet on %v, not %v", a, b, got, both)
		}
		from := wiretime.Day(rapid.IntRange(-1, lastDay+1).Draw(t, "from"))
		left := slices.DeleteFunc(days(a), func(day wiretime.Day) bool { return day >= from })
		if got := days(daysBefore(a, from)); !slices.Equal(got, left) {
			t.Fatalf("of %v are left before %d %v, not %v", a, from, got, left)
		}
	})
}
