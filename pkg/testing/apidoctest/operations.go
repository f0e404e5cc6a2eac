package apidoctest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/goccy/go-yaml"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/belfry-schools/belfry/pkg/apidoc"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/web"
)

// english formats the errors.
var english = message.NewPrinter(language.English)

// SameOperations fails the test unless a service's file in pkg/apidoc lists exactly the methods and paths of its public
// routes.
func SameOperations(t testing.TB, service string, routes []web.Route) {
	t.Helper()
	root := checkout.Folder(t)
	file := filepath.Join(root, "pkg", "apidoc", service+".yaml")
	text, err := os.ReadFile(file)
	errortest.None(t, err)
	var document struct {
		Paths map[string]map[string]any `yaml:"paths"`
	}
	errortest.None(t, yaml.Unmarshal(text, &document))
	var documented, served []string
	for path, item := range document.Paths {
		for method := range item {
			if method != "parameters" {
				documented = append(documented, strings.ToUpper(method)+" "+path)
			}
		}
	}
	if service == "identity" { // every service serves it; the document has it once
		routes = append(routes, web.Healthz())
	}
	for _, r := range routes {
		served = append(served, r.Method+" "+braced(r.Path))
	}
	for _, one := range served {
		if !slices.Contains(documented, one) {
			t.Errorf("%s is served, but not in %s", one, file)
		}
	}
	for _, one := range documented {
		if !slices.Contains(served, one) {
			t.Errorf("%s is in %s, but not served", one, file)
		}
	}
}

// Operations returns the operations of the document that is served by method and path, such as "GET /api/events/{id}".
func Operations(t testing.TB) map[string]*openapi3.Operation {
	t.Helper()
	document, err := openapi3.NewLoader().LoadFromData(apidoc.Document())
	errortest.None(t, err)
	operations := map[string]*openapi3.Operation{}
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			operations[method+" "+path] = operation
		}
	}
	return operations
}

// RequestFields returns the names of the fields of an operation's request body in a media type, sorted: those of the
// object in it where part is the name of one.
func RequestFields(t testing.TB, operation *openapi3.Operation, media, part string) []string {
	t.Helper()
	if operation == nil || operation.RequestBody == nil || operation.RequestBody.Value.Content[media] == nil {
		t.Fatalf("the document has no such request as %s", media)
	}
	schema := operation.RequestBody.Value.Content[media].Schema
	if part != "" {
		schema = schema.Value.Properties[part]
	}
	fields := slices.Collect(maps.Keys(schema.Value.Properties))
	for _, one := range schema.Value.AllOf {
		fields = slices.AppendSeq(fields, maps.Keys(one.Value.Properties))
	}
	return slices.Sorted(slices.Values(fields))
}

// braced returns a route's path in OpenAPI's notation: {id} for :id.
func braced(path string) string {
	steps := strings.Split(path, "/")
	for i, step := range steps {
		if name, variable := strings.CutPrefix(step, ":"); variable {
			steps[i] = "{" + name + "}"
		}
	}
	return strings.Join(steps, "/")
}
