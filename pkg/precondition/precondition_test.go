package precondition_test

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/precondition"
	"github.com/belfry-schools/belfry/pkg/problem"
)

func TestDecisionsPart1_IfMatchLetsOnlyTheVersionsItNamesPass(t *testing.T) {
	for name, test := range map[string]struct {
		match  precondition.Match
		passes bool
	}{
		"nothing demanded": {precondition.Match{}, true},
		"that version":     {precondition.Versions(2, 3), true},
		"another":          {precondition.Versions(2, 4), false},
		"tags of others":   {precondition.Versions(), false},
	} {
		if err := test.match.Check(3); (err == nil) != test.passes || (err != nil && !problem.Is(err, problem.PreconditionFailed)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
