package apidoctest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/apidoc"
	"github.com/belfry-schools/belfry/pkg/web"
)

// deepest bounds how deep fields lie in a body.
const deepest = 6

// sameVocabulary fails the test unless the document has, of each of the routes, exactly those parameters of the query
// and fields of a JSON body that the route takes. So a request that is as the document says is never told that
// something in it is unknown.
func sameVocabulary(t testing.TB, routes []web.Route) {
	t.Helper()
	text, err := apidoc.Document()
	if err != nil {
		t.Fatal(err)
	}
	var d tree
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	for _, r := range routes {
		item := d.at(d, "paths", braced(r.Path))
		operation := d.at(item, strings.ToLower(r.Method))
		query, fields := map[string]bool{}, map[string]bool{}
		for _, holder := range []tree{item, operation} {
			list, _ := holder["parameters"].([]any)
			for _, one := range list {
				if p := d.resolve(one); p["in"] == "query" {
					query[p["name"].(string)] = true
				}
			}
		}
		d.fields(d.at(operation, "requestBody", "content", web.JSON, "schema"), "", 0, fields)
		same(t, r, "parameters", r.Query, query)
		same(t, r, "fields", r.Fields, fields)
	}
}

func same(t testing.TB, r web.Route, what, taken string, documented map[string]bool) {
	t.Helper()
	got := map[string]bool{}
	for name := range strings.FieldsSeq(taken) {
		got[name] = true
	}
	if !maps.Equal(got, documented) {
		t.Errorf("%s %s: the route takes the %s\n  %q, the document has\n  %q", r.Method, r.Path, what,
			strings.Join(slices.Sorted(maps.Keys(got)), " "), strings.Join(slices.Sorted(maps.Keys(documented)), " "))
	}
}

// tree is an object of the document.
type tree map[string]any

// resolve follows a reference.
func (d tree) resolve(value any) tree {
	object := asTree(value)
	for object != nil {
		reference, ok := object["$ref"].(string)
		if !ok {
			return object
		}
		object = d
		for step := range strings.SplitSeq(strings.TrimPrefix(reference, "#/"), "/") {
			object = asTree(object[step])
		}
	}
	return object
}

func asTree(value any) tree {
	if object, ok := value.(tree); ok {
		return object
	}
	object, _ := value.(map[string]any)
	return object
}

// at is what lies at the end of those steps.
func (d tree) at(from tree, steps ...string) tree {
	for _, step := range steps {
		from = d.resolve(from[step])
	}
	return from
}

// fields adds the paths of those fields of a schema that have none themselves.
func (d tree) fields(value any, path string, depth int, found map[string]bool) {
	schema := d.resolve(value)
	if schema == nil || depth > deepest {
		return
	}
	for _, way := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := schema[way].([]any)
		for _, one := range list {
			d.fields(one, path, depth+1, found)
		}
	}
	d.fields(schema["items"], path, depth+1, found)
	for name, one := range asTree(schema["properties"]) {
		inner := map[string]bool{}
		d.fields(one, path+name+".", depth+1, inner)
		if len(inner) == 0 {
			inner[path+name] = true
		}
		maps.Copy(found, inner)
	}
}
