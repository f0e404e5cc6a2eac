package apidoc_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/belfry-schools/belfry/pkg/apidoc"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// strict is the metaschema of JSON Schema 2020-12 for schemas that have no other key. It holds for the schemas within a
// schema too, by the dynamic anchor. OpenAPI 3.1 adds the key example.
const strict = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"$id": "belfry:strict",
	"$dynamicAnchor": "meta",
	"$ref": "https://json-schema.org/draft/2020-12/schema",
	"properties": {"example": true},
	"unevaluatedProperties": false
}`

func strictSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := jsonschema.UnmarshalJSON(strings.NewReader(strict))
	errortest.None(t, err)
	compiler := jsonschema.NewCompiler()
	errortest.None(t, compiler.AddResource("belfry:strict", text))
	schema, err := compiler.Compile("belfry:strict")
	errortest.None(t, err)
	return schema
}

// strayKeys returns what is wrong with a part of an OpenAPI document: schemas with keys that they do not know, and
// keys without a value, which are what YAML makes of a text that is cut at its comma.
func strayKeys(schema *jsonschema.Schema, path string, part any) (faults []string, schemas int) {
	add := func(path string, part any) {
		more, n := strayKeys(schema, path, part)
		faults, schemas = append(faults, more...), schemas+n
	}
	switch p := part.(type) {
	case []any:
		for i, one := range p {
			add(fmt.Sprintf("%s/%d", path, i), one)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(p)) {
			at := path + "/" + key
			switch {
			case key == "example" || key == "examples":
			case key == "schema" || path == "/components/schemas":
				schemas++
				if err := schema.Validate(p[key]); err != nil {
					faults = append(faults, at+": "+err.Error())
				}
			case p[key] == nil:
				faults = append(faults, at+" has no value")
			default:
				add(at, p[key])
			}
		}
	}
	return faults, schemas
}

func TestDocument_NoSchemaHasAKeyThatItDoesNotKnow(t *testing.T) {
	text := apidoc.Document()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	errortest.None(t, err)
	faults, schemas := strayKeys(strictSchema(t), "", document)
	for _, fault := range faults {
		t.Error(fault)
	}
	valuetest.Holds(t, schemas >= 100, "%d schemas were found", schemas)
}

func TestDocument_AStrayKeyIsFound(t *testing.T) {
	schema := strictSchema(t)
	for _, part := range []string{
		`{"components":{"schemas":{"A":{"type":"object","properties":{"b":{"$ref":"#/c","description":"Cut","at":null}}}}}}`,
		`{"paths":{"/a":{"get":{"parameters":[{"name":"b","schema":{"type":"string","titel":"Typed"}}]}}}}`,
		`{"paths":{"/a":{"get":{"parameters":[{"name":"b","description":"Cut","at its comma.":null}]}}}}`,
	} {
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(part))
		errortest.None(t, err)
		faults, _ := strayKeys(schema, "", document)
		valuetest.Len(t, faults, 1, part)
	}
}
