package bundle_test

import (
	"path/filepath"
	"testing"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
)

// A template is a bundle without faults and without rows, with every file that is read.
func TestATemplateIsAnEmptyBundle(t *testing.T) {
	zone := timetest.London(t)
	for _, name := range []string{"school", "school.xlsx"} {
		path := filepath.Join(t.TempDir(), name)
		errortest.None(t, bundle.WriteTemplate(path))
		b, err := bundle.Open(path, bundle.Options{Zone: zone})
		errortest.None(t, err, name)
		for _, kind := range bundle.Files() {
			if !b.Has(kind) || b.Count(kind) != 0 {
				t.Errorf("%s: %s is there: %v, with %d rows", name, kind, b.Has(kind), b.Count(kind))
			}
		}
		errortest.Some(t, bundle.WriteTemplate(path), "%s is written over", name)
	}
}
