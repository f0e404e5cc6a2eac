package ifmatch_test

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/ifmatch"
	"github.com/belfry-schools/belfry/pkg/problem"
)

func TestDecisionsPart1_IfMatchLetsOnlyTheVersionsItNamesPass(t *testing.T) {
	for name, test := range map[string]struct {
		match  ifmatch.Match
		passes bool
	}{
		"nothing demanded": {ifmatch.Match{}, true},
		"that version":     {ifmatch.Versions(2, 3), true},
		"another":          {ifmatch.Versions(2, 4), false},
		"tags of others":   {ifmatch.Versions(), false},
	} {
		if err := test.match.Check(3); (err == nil) != test.passes || (err != nil && !problem.Is(err, problem.PreconditionFailed)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
