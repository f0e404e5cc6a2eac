package hostile_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// node is an object of the document, with its references.
type node = map[string]any

// operation is one call that the document describes.
type operation struct {
	method, path string // such as PATCH /api/events/{id}
	parameters   []node
	media        string // of the body; "" when there is none
	body         node   // its schema
	example      any    // of the body; nil when there is none
}

func (o operation) String() string { return o.method + " " + o.path }

// document is an OpenAPI document.
type document struct {
	root       node
	operations []operation
}

func readDocument(text []byte) (*document, error) {
	d := &document{}
	if err := json.Unmarshal(text, &d.root); err != nil {
		return nil, err
	}
	paths, _ := d.root["paths"].(node)
	for path, item := range paths {
		item, _ := item.(node)
		for method, described := range item {
			if method == "parameters" {
				continue
			}
			o := operation{method: strings.ToUpper(method), path: path}
			described, _ := described.(node)
			for _, list := range []any{item["parameters"], described["parameters"]} {
				list, _ := list.([]any)
				for _, p := range list {
					o.parameters = append(o.parameters, d.follow(p))
				}
			}
			if body := d.follow(described["requestBody"]); body != nil {
				content, _ := body["content"].(node)
				for media, one := range content {
					one, _ := one.(node)
					o.media, o.body, o.example = media, d.follow(one["schema"]), one["example"]
				}
			}
			d.operations = append(d.operations, o)
		}
	}
	slices.SortFunc(d.operations, func(a, b operation) int { return strings.Compare(a.String(), b.String()) })
	if len(d.operations) == 0 {
		return nil, fmt.Errorf("the document has no operations")
	}
	return d, nil
}

// follow returns the object that value is or refers to, or nil.
func (d *document) follow(value any) node {
	for {
		n, _ := value.(node)
		to, refers := n["$ref"].(string)
		if !refers {
			return n
		}
		value = d.root
		for step := range strings.SplitSeq(strings.TrimPrefix(to, "#/"), "/") {
			n, _ := value.(node)
			value = n[step]
		}
	}
}
