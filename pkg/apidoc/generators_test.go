package apidoc_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/belfry-schools/belfry/pkg/apidoc"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func parsed(t *testing.T) document {
	t.Helper()
	text := apidoc.Document()
	var d document
	errortest.None(t, json.Unmarshal(text, &d))
	return d
}

// TestDocument_NothingInItStopsAGenerator holds what oapi-codegen 2.8.2, Spectral 6.16.3 with its rules spectral:oas,
// and Redocly 2.77.0 complained of once. The end-to-end test of the README's walk generates a client and uses it.
func TestDocument_NothingInItStopsAGenerator(t *testing.T) {
	d := parsed(t)
	for _, fault := range stops("", map[string]any(d)) {
		t.Error(fault)
	}
	if contact, ok := d.resolve(d["info"])["contact"]; !ok || contact == nil {
		t.Error("info has no contact")
	}
	owner := map[string]string{} // sections by a component's name
	for section, all := range d.resolve(d["components"]) {
		if section != "schemas" && section != "responses" && section != "parameters" {
			continue
		}
		for name := range d.resolve(all) {
			valuetest.Same(t, owner[name], "", "%s is among %s and %s", name, owner[name], section)
			owner[name] = section
		}
	}
	for path, item := range d.resolve(d["paths"]) {
		for method, operation := range d.resolve(item) {
			if o, ok := operation.(map[string]any); ok && (o["summary"] == nil || o["description"] == nil) {
				t.Errorf("%s %s lacks a summary or a description", method, path)
			}
		}
	}
}

// stops returns the schemas that no generator has a type for: those of two types beside null, and lists without items.
func stops(at string, part any) (faults []string) {
	walk(at, part, func(at string, p map[string]any) {
		types, _ := p["type"].([]any)
		if len(slices.DeleteFunc(slices.Clone(types), func(one any) bool { return one == "null" })) > 1 {
			faults = append(faults, fmt.Sprintf("%s has the types %v: use anyOf", at, types))
		}
		if (p["type"] == "array" || slices.Contains(types, any("array"))) && p["items"] == nil {
			faults = append(faults, at+" is a list of nothing")
		}
	})
	return faults
}

// TestDocument_AnIdInARequestHasOneSchema: so that generators make one type for all ids that a client sends.
func TestDocument_AnIdInARequestHasOneSchema(t *testing.T) {
	d := parsed(t)
	schemas := d.resolve(d.resolve(d["components"])["schemas"])
	found := idPatterns("", map[string]any(d))
	valuetest.List(t, found, []string{"/components/schemas/GivenId/anyOf/1"}, "an id's pattern is at")
	given, reference := "#/components/schemas/GivenId", "#/components/schemas/GivenReference"
	parts, _ := d.resolve(schemas["GivenReference"])["anyOf"].([]any)
	if len(parts) != 2 || !reflect.DeepEqual(parts[0], map[string]any{"$ref": given}) {
		t.Errorf("%s is not made of %s: %v", reference, given, parts)
	}
	lists, _ := d.resolve(schemas["GivenElements"])["anyOf"].([]any)
	if len(lists) == 0 || !reflect.DeepEqual(d.resolve(lists[0])["items"], map[string]any{"$ref": given}) {
		t.Errorf("the elements of an event are not a list of %s: %v", given, lists)
	}
	for _, at := range inlineReferences("", map[string]any(d), given) {
		if at != "/components/schemas/GivenReference" && at != "/components/schemas/GivenElements" {
			t.Errorf("%s has an id among others: use %s", at, reference)
		}
	}
}

// idPatterns returns the schemas whose pattern takes the digits of an id, and neither 0 nor a word.
func idPatterns(at string, part any) (found []string) {
	walk(at, part, func(at string, schema map[string]any) {
		text, _ := schema["pattern"].(string)
		if pattern, err := regexp.Compile(text); err == nil && text != "" && pattern.MatchString("7") &&
			pattern.MatchString("12") && !pattern.MatchString("0") && !pattern.MatchString("own") {
			found = append(found, at)
		}
	})
	return found
}

// inlineReferences returns the schemas that take one that is named, or something else.
func inlineReferences(at string, part any, name string) (found []string) {
	walk(at, part, func(at string, schema map[string]any) {
		for _, key := range []string{"anyOf", "oneOf"} {
			parts, _ := schema[key].([]any)
			for _, one := range parts {
				if object, _ := one.(map[string]any); object["$ref"] == name {
					found = append(found, at)
				}
			}
		}
	})
	return found
}

// walk shows each object of a part of the document, in order, but for what is in examples.
func walk(at string, part any, show func(at string, object map[string]any)) {
	switch p := part.(type) {
	case []any:
		for i, one := range p {
			walk(fmt.Sprintf("%s/%d", at, i), one, show)
		}
	case map[string]any:
		show(at, p)
		for _, key := range slices.Sorted(maps.Keys(p)) {
			if key != "example" && key != "examples" {
				walk(at+"/"+key, p[key], show)
			}
		}
	}
}

func TestDocument_WhatStopsAGeneratorIsFound(t *testing.T) {
	for _, schema := range []string{
		`{"a": {"type": ["integer", "string"]}}`, `{"a": [{"type": "array"}]}`, `{"a": {"type": ["array", "null"]}}`,
	} {
		var part any
		errortest.None(t, json.Unmarshal([]byte(schema), &part))
		valuetest.Len(t, stops("", part), 1, schema)
	}
}

// TestDocument_AnExampleIsAnsweredByItsOwn compares the example of each request with that of its success: a field that
// both have, has one value. So the example of an answer belongs to the operation that it stands at.
func TestDocument_AnExampleIsAnsweredByItsOwn(t *testing.T) {
	d, compared := parsed(t), 0
	for path, item := range d.resolve(d["paths"]) {
		for method, value := range d.resolve(item) {
			operation, ok := value.(map[string]any)
			if !ok {
				continue
			}
			asked := d.example(operation["requestBody"])
			for code, answer := range d.resolve(operation["responses"]) {
				if code >= "300" || asked == nil {
					continue
				}
				n, faults := differing("", asked, d.example(answer))
				compared += n
				for _, fault := range faults {
					t.Errorf("%s %s: %s", method, path, fault)
				}
			}
		}
	}
	valuetest.Holds(t, compared >= 10, "only %d fields were compared", compared)
}

// example returns the example of a body, or that of its schema.
func (d document) example(body any) any {
	for _, content := range d.resolve(d.resolve(body)["content"]) {
		media := d.resolve(content)
		if example, ok := media["example"]; ok {
			return example
		}
		if examples, _ := d.resolve(media["schema"])["examples"].([]any); len(examples) > 0 {
			return examples[0]
		}
	}
	return nil
}

// differing compares the fields that two examples share, and counts them.
func differing(at string, asked, answered any) (compared int, faults []string) {
	a, isObject := asked.(map[string]any)
	b, both := answered.(map[string]any)
	if isObject && both {
		for key, value := range a {
			if other, has := b[key]; has {
				n, more := differing(at+"."+key, value, other)
				compared, faults = compared+n, append(faults, more...)
			}
		}
		return compared, faults
	}
	_, list := asked.([]any)
	if isObject || both || list || asked == nil || answered == nil {
		return 0, nil
	}
	if fmt.Sprint(asked) != fmt.Sprint(answered) {
		faults = append(faults, fmt.Sprintf("%s is asked as %v and answered as %v", at, asked, answered))
	}
	return 1, faults
}
