package rights

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/apidoc"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestTable_EveryRouteHasARow holds the table against the interface's document, which each service's test of routes
// holds against what it serves.
func TestTable_EveryRouteHasARow(t *testing.T) {
	rows, err := Table()
	errortest.None(t, err)
	document := apidoc.Document()
	differences, err := Differences(rows, document)
	errortest.None(t, err)
	for _, d := range differences {
		t.Error(d)
	}
}

func TestDifferences_BothWays(t *testing.T) {
	rows, err := parse("GET /a | any | 200\nGET /a | its own | 200\nGET /b | any | 200")
	errortest.None(t, err)
	got, err := Differences(rows, []byte(`{"paths":{"/a":{"parameters":[],"get":{},"put":{}}}}`))
	errortest.None(t, err)
	want := []string{"GET /b has a row, but is not served", "PUT /a has no row"}
	valuetest.List(t, got, want)
}

func TestTable_RefusesWhatItCannotRead(t *testing.T) {
	for _, line := range []string{
		"GET /a | any", "GET /a | any | 200, robot 403", "GET /a | any | 200 403", "GET /a | any | 700",
		"GET /a | any | 200,", "GET /a | any | 200\nGET /a | any | 200",
	} {
		rows, err := parse(line)
		errortest.Some(t, err, "%q gives %v", line, rows)
	}
}

func TestPage_HasEveryRow(t *testing.T) {
	rows, err := parse("# A title. And more\nGET /a | any | 403, admin 200\nGET /a | its own | 200+, none 200-")
	errortest.None(t, err)
	page := Page(rows)
	for _, want := range []string{
		"\n## A title\n\nAnd more\n\n| call |",
		"| `GET /a` | any | 401 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 401 |",
		"| `GET /a` | its own | 200- | 200+ |",
	} {
		valuetest.Has(t, page, want)
	}
}
