package promises_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oasdiff/oasdiff/checker"
	"github.com/oasdiff/oasdiff/diff"
	"github.com/oasdiff/oasdiff/load"

	"github.com/belfry-schools/belfry/pkg/apidoc"
	"github.com/belfry-schools/belfry/pkg/service/release"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestReleases_TheInterfaceKeepsWhatItHas compares the document with those of the releases of the same major version,
// testdata/VERSION.json. With UPDATE=1 it writes that of the release that is being prepared, where there is none.
func TestReleases_TheInterfaceKeepsWhatItHas(t *testing.T) {
	document := apidoc.Document()
	file := filepath.Join("testdata", release.Version()+".json")
	if _, err := os.Stat(file); os.IsNotExist(err) && os.Getenv("UPDATE") != "" {
		errortest.None(t, os.WriteFile(file, document, 0o600))
	}
	released, err := filepath.Glob(filepath.Join("testdata", major()+".*.json"))
	if err != nil || len(released) == 0 {
		t.Fatalf("no document of version %s is kept: UPDATE=1 writes it: %v", major(), err)
	}
	for _, name := range released {
		text, err := os.ReadFile(name)
		errortest.None(t, err)
		for _, fault := range broken(t, text, document) {
			t.Errorf("%s: %s", name, fault)
		}
	}
}

// faults are what oasdiff doesn't mind, and we do: nothing goes, nor when it was called deprecated before. A generated
// client has operations by their ids.
var faults = func() map[string]checker.Level {
	levels := map[string]checker.Level{}
	for _, id := range []string{
		checker.APIOperationIdRemovedId, checker.APIPathRemovedWithDeprecationId, checker.APIRemovedWithDeprecationId,
		checker.OptionalResponseHeaderRemovedId, checker.RequestParameterDefaultValueChangedId,
		checker.RequestParameterRemovedWithDeprecationId, checker.RequestPropertyDefaultValueChangedId,
		checker.RequestPropertyRemovedWithDeprecationId, checker.ResponseNonSuccessStatusRemovedId,
		checker.ResponseOptionalPropertyRemovedId, checker.ResponseRequiredPropertyRemovedWithDeprecationId,
	} {
		levels[id] = checker.ERR
	}
	return levels
}()

// broken returns what a client of one document has to mind in another one: what is an error or a warning for oasdiff,
// such as a field of a request that is gone, and what is among the faults.
func broken(t *testing.T, before, after []byte) (found []string) {
	t.Helper()
	withoutTexts := diff.NewConfig(diff.WithExcludeElements([]string{diff.ExcludeDescriptionOption}))
	compared, sources, err := diff.GetWithOperationsSourcesMap(withoutTexts, read(t, before), read(t, after))
	errortest.None(t, err)
	config := checker.NewConfig(checker.GetAllChecks(), checker.WithSeverityLevels(faults))
	for _, change := range checker.CheckBackwardCompatibility(config, compared, sources) {
		if change.GetLevel() >= checker.WARN {
			found = append(found, change.GetOperation()+" "+change.GetPath()+": "+change.GetId()+": "+
				change.GetUncolorizedText(checker.NewDefaultLocalizer()))
		}
	}
	return found
}

func read(t *testing.T, document []byte) *load.SpecInfo {
	t.Helper()
	parsed, err := openapi3.NewLoader().LoadFromData(document)
	errortest.None(t, err)
	return &load.SpecInfo{Spec: parsed, Version: parsed.Info.Version}
}

// TestReleases_WhatBreaksAClientIsFound takes something away from a document, or adds it. More breaks no client.
func TestReleases_WhatBreaksAClientIsFound(t *testing.T) {
	const before = `{"openapi": "3.1.0", "info": {"title": "a", "version": "1"}, "paths": {"/a": {"post": {
		"parameters": [{"name": "page", "in": "query", "schema": {"type": "integer"}}],
		"requestBody": {"content": {"application/json": {"schema": {"type": "object",
			"properties": {"name": {"type": "string"}, "kind": {"enum": ["x", "y"]}}}}}},
		"operationId": "do", "responses": {
			"200": {"description": "b", "headers": {"ETag": {"schema": {"type": "string"}}},
				"content": {"application/json": {"schema": {"type": "object", "required": ["id"],
				"properties": {"id": {"type": "integer"}, "of": {"type": ["string", "null"]}}}}}},
			"404": {"description": "c"}}}}}}`
	for name, c := range map[string]struct {
		old, changed string
		breaks       bool
	}{
		"nothing":                    {"", "", false},
		"a path":                     {`"/a"`, `"/b"`, true},
		"a method":                   {`"post"`, `"put"`, true},
		"its name":                   {`"do"`, `"make"`, true},
		"a parameter":                {`"page"`, `"site"`, true},
		"a parameter's type":         {`{"type": "integer"}}],`, `{"type": "boolean"}}],`, true},
		"a field of a request":       {`"name": {"type": "string"}, `, ``, true},
		"the type of it":             {`"name": {"type": "string"}`, `"name": {"type": "boolean"}`, true},
		"a word of it":               {`["x", "y"]`, `["x"]`, true},
		"a field that is needed":     {`"properties": {"name"`, `"required": ["name"], "properties": {"name"`, true},
		"a header":                   {`"ETag"`, `"Date"`, true},
		"a status":                   {`"404"`, `"403"`, true},
		"a property of an answer":    {`, "of": {"type": ["string", "null"]}`, ``, true},
		"one that it always has":     {`"required": ["id"],`, ``, true},
		"the type of one":            {`{"id": {"type": "integer"}`, `{"id": {"type": "string"}`, true},
		"one may be null":            {`{"id": {"type": "integer"}`, `{"id": {"type": ["integer", "null"]}`, true},
		"more parameters":            {`[{"name": "page"`, `[{"name": "b", "in": "query"}, {"name": "page"`, false},
		"more fields of a request":   {`{"name": {`, `{"more": {}, "name": {`, false},
		"more words":                 {`["x", "y"]`, `["x", "y", "z"]`, false},
		"more answers":               {`"404"`, `"418": {"description": "d"}, "404"`, false},
		"more properties of answers": {`{"id"`, `{"more": {"type": "string"}, "id"`, false},
	} {
		after := []byte(strings.Replace(before, c.old, c.changed, 1))
		if c.breaks && bytes.Equal(after, []byte(before)) {
			t.Fatalf("%s: nothing is changed", name)
		}
		found := broken(t, []byte(before), after)
		valuetest.Same(t, len(found) > 0, c.breaks, "%s: %q", name, found)
	}
}
