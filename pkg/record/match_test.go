package record_test

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

func TestDecisionsPart1_IfMatchLetsOnlyTheVersionsItNamesPass(t *testing.T) {
	for name, test := range map[string]struct {
		match  record.Match
		passes bool
	}{
		"nothing demanded": {record.Match{}, true},
		"that version":     {record.Versions(2, 3), true},
		"another":          {record.Versions(2, 4), false},
		"tags of others":   {record.Versions(), false},
	} {
		err := test.match.Check(3)
		if (err == nil) != test.passes || (err != nil && !problem.Is(err, problem.PreconditionFailed)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
