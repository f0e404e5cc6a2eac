package apidoc_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// document finds what the parts of the OpenAPI document refer to.
type document map[string]any

func (d document) resolve(part any) map[string]any {
	object, _ := part.(map[string]any)
	for {
		reference, ok := object["$ref"].(string)
		if !ok {
			return object
		}
		object = d
		for step := range strings.SplitSeq(strings.TrimPrefix(reference, "#/"), "/") {
			object, _ = object[step].(map[string]any)
		}
	}
}

// listed says whether a part of an answer may have any number of items, and whether it has a next page.
func (d document) listed(part any, seen map[string]bool) (list, pages bool) {
	if object, ok := part.(map[string]any); ok {
		if reference, ok := object["$ref"].(string); ok {
			if seen[reference] {
				return false, false
			}
			seen[reference] = true
		}
	}
	switch schema := part.(type) {
	case []any:
		for _, one := range schema {
			l, p := d.listed(one, seen)
			list, pages = list || l, pages || p
		}
	case map[string]any:
		resolved := d.resolve(schema)
		if resolved["type"] == "array" {
			list = true
		}
		for name, one := range resolved {
			if name == "example" || name == "examples" || name == "description" {
				continue
			}
			l, p := d.listed(one, seen)
			list, pages = list || l, pages || p || name == "next"
		}
	}
	return list, pages
}

// TestHardToBreak_Row02_EveryListHasABound compares docs/listings.md with the document: each route with a list in its
// answer has a row, and what the row says of it is in the document.
func TestHardToBreak_Row02_EveryListHasABound(t *testing.T) {
	d := parsed(t)
	root := checkout.Folder(t)
	page, err := os.ReadFile(filepath.Join(root, "docs", "listings.md"))
	errortest.None(t, err)
	rows := map[string]string{} // the bound, by path
	for _, row := range regexp.MustCompile("(?m)^\\| `GET ([^`]+)` \\| (pages|refused|few)[ |]").
		FindAllStringSubmatch(string(page), -1) {
		rows[row[1]] = row[2]
	}
	paths, _ := d["paths"].(map[string]any)
	for path, item := range paths {
		get := d.resolve(item)["get"]
		if get == nil {
			continue
		}
		responses := d.resolve(d.resolve(get)["responses"])
		list, pages := d.listed(d.resolve(responses["200"])["content"], map[string]bool{})
		calendar := strings.Contains(path, "ics") || strings.Contains(path, "ical")
		bound, hasRow := rows[path]
		delete(rows, path)
		switch {
		case !list && !calendar:
			if hasRow {
				t.Errorf("GET %s has no list, and a row", path)
			}
		case !hasRow:
			t.Errorf("GET %s has a list, and no row", path)
		case (bound == "pages") != pages && bound != "few":
			t.Errorf("GET %s: the row says %s; the document says pages: %t", path, bound, pages)
		case bound == "refused" && responses["400"] == nil:
			t.Errorf("GET %s: the document has no 400", path)
		}
	}
	for path := range rows {
		t.Errorf("GET %s has a row, and is not in the document", path)
	}
}
