package load

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestErased_WhoDecidedOrAskedIsNamed has the users whom only a row of commitments.csv names.
func TestErased_WhoDecidedOrAskedIsNamed(t *testing.T) {
	t.Parallel()
	erased := erasedKeys{"User:gone": true}
	for name, decision := range map[string]bundle.Decision{
		"decided": {Element: "Location:G7", DecidedBy: "gone"}, "asked": {Element: "Location:G7", AskedBy: "gone"},
	} {
		row := bundle.EventRecord{Decisions: []bundle.Decision{{Element: "Location:G8"}, decision}}
		valuetest.Same(t, erased.namedBy(row), true, name)
	}
}
