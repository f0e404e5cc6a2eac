package bundle

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestColumns_AreExplained: each column of each file has a meaning, in the order of the columns.
func TestColumns_AreExplained(t *testing.T) {
	found, want := map[Kind][]string{}, map[Kind][]string{}
	for _, e := range explanations {
		valuetest.Holds(t, e.meaning != "" && (e.column == "") == (e.empty == ""), "%+v", e)
		switch e.column {
		case "":
		case "*permissions*":
			found[e.kind] = append(found[e.kind], principal.PermissionNames()...)
		default:
			found[e.kind] = append(found[e.kind], e.column)
		}
	}
	for _, kind := range Files() {
		want[kind] = kind.Columns()
	}
	valuetest.Equal(t, want, found)
}
