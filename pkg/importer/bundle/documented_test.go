package bundle_test

import (
	"slices"
	"testing"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/testing/apidoctest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestColumns_AreTheFieldsOfTheImports, as the interface's document has them: an export leaves out what is not a
// column.
func TestColumns_AreTheFieldsOfTheImports(t *testing.T) {
	operations := apidoctest.Operations(t)
	for _, kind := range bundle.Kinds() {
		call := operations["POST /api/admin/import/"+string(kind)]
		fields := apidoctest.RequestFields(t, call, "application/x-ndjson", "")
		columns := kind.Columns()
		switch kind {
		case bundle.Memberships: // a record is made of several rows
			continue
		case bundle.Administrators: // the key is made of the other columns
			columns = append(columns, "key")
		case bundle.Events: // these are the rows of commitments.csv
			columns = append(columns, "decisions")
		}
		valuetest.List(t, slices.Sorted(slices.Values(columns)), fields, "columns of %s", kind)
	}
}
