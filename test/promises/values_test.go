package promises_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

func TestReleases_TheChartsValuesKeepTheirNamesAndTypes(t *testing.T) {
	var s schema
	errortest.None(t, json.Unmarshal([]byte(checkout.Read(t, "charts/belfry/values.schema.json")), &s))
	lines := slices.Sorted(maps.Keys(s.values("", s)))
	if len(lines) < 200 {
		t.Fatalf("only %q", lines)
	}
	mustKeep(t, "values", lines)
}

// schema is a part of the schema of the values, and the whole of it.
type schema map[string]any

// values returns a line for each value below one that has that name, with a type that it may have, or a word. The value
// within a list, or within an object of any names, is called [].
func (s schema) values(name string, part any) map[string]bool {
	lines := map[string]bool{}
	more := func(name string, part any) { maps.Copy(lines, s.values(name, part)) }
	p, isObject := part.(map[string]any)
	if whole, ok := part.(schema); ok {
		p, isObject = whole, true
	}
	if !isObject {
		return lines
	}
	if reference, ok := p["$ref"].(string); ok {
		definitions, _ := s["definitions"].(map[string]any)
		more(name, definitions[strings.TrimPrefix(reference, "#/definitions/")])
	}
	types, isList := p["type"].([]any)
	if !isList && p["type"] != nil {
		types = []any{p["type"]}
	}
	for _, one := range types {
		lines[fmt.Sprintf("%s: %s", name, one)] = true
	}
	words, _ := p["enum"].([]any)
	if word, ok := p["const"]; ok {
		words = append(words, word)
	}
	for _, word := range words {
		lines[fmt.Sprintf("%s: is %v", name, word)] = true
	}
	properties, _ := p["properties"].(map[string]any)
	for key, property := range properties {
		more(strings.TrimPrefix(name+"."+key, "."), property)
	}
	for _, key := range []string{"items", "additionalProperties"} {
		more(name+"[]", p[key])
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		parts, _ := p[key].([]any)
		for _, one := range parts {
			more(name, one)
		}
	}
	return lines
}
