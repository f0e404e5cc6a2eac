package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// componentsFile is how the services' files refer to the shared parts.
const componentsFile = "components.yaml"

// part is a service's file.
type part struct {
	service string
	text    []byte
}

// merge makes one document of the frame and the services' paths and components. An answer or a parameter that has the
// name of a schema gets another. It is an error when two files have the same path, component or operationId, when a
// reference leads nowhere, or when an operation does not have exactly one tag of the frame.
func merge(frame []byte, parts []part) (object, error) {
	document, err := parse(frame)
	if err != nil {
		return nil, fmt.Errorf("components.yaml: %w", err)
	}
	paths, components := document.mapping("paths"), document.mapping("components")
	for _, p := range parts {
		own, err := parse(p.text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.service, err)
		}
		if err := adopt(&paths, own.mapping("paths")); err != nil {
			return nil, fmt.Errorf("%s: %w", p.service, err)
		}
		for _, section := range own.mapping("components") {
			all := components.mapping(section.key)
			added, _ := section.value.(object)
			if err := adopt(&all, added); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", p.service, section.key, err)
			}
			components.set(section.key, all)
		}
	}
	sortAnswers(paths)
	document.set("paths", paths)
	document.set("components", components)
	document, _ = withPermissions(local(document)).(object)
	document = apart(document)
	var faults []error
	referring(document, func(reference string) string {
		_, err := document.follow(reference)
		faults = append(faults, err)
		return reference
	})
	return document, errors.Join(append(faults, checkOperations(document))...)
}

func adopt(all *object, added object) error {
	for _, m := range added {
		if all.has(m.key) {
			return fmt.Errorf("%s is there already", m.key)
		}
		*all = append(*all, m)
	}
	return nil
}

// local rewrites references to the frame as references within the document.
func local(value any) any {
	return referring(value, func(reference string) string { return strings.TrimPrefix(reference, componentsFile) })
}

// referring returns a tree with each reference in it rewritten.
func referring(value any, rewritten func(reference string) string) any {
	switch v := value.(type) {
	case object:
		changed := make(object, len(v))
		for i, m := range v {
			if reference, ok := m.value.(string); ok && m.key == "$ref" {
				m.value = rewritten(reference)
			} else {
				m.value = referring(m.value, rewritten)
			}
			changed[i] = m
		}
		return changed
	case []any:
		return sequence.Map(v, func(v any) any { return referring(v, rewritten) })
	default:
		return value
	}
}

// sections are those of the components whose names generators of clients put into one space with the schemas', and what
// a name there gets where a schema has it too.
var sections = map[string]string{"responses": "Reply", "parameters": "Parameter"}

// apart renames answers and parameters that have the name of a schema, since generators make a type of each.
func apart(document object) object {
	components := document.mapping("components")
	schemas, renamed := components.mapping("schemas"), map[string]string{}
	for section, suffix := range sections {
		all := components.mapping(section)
		for i, m := range all {
			if schemas.has(m.key) {
				place := "#/components/" + section + "/" + m.key
				renamed[place] = place + suffix
				all[i].key += suffix
			}
		}
	}
	document, _ = referring(document, func(reference string) string {
		return cmp.Or(renamed[reference], reference)
	}).(object)
	return document
}

// sortAnswers sorts the answers of each operation by their codes.
func sortAnswers(paths object) {
	for _, path := range paths {
		item, _ := path.value.(object)
		for _, m := range item {
			if operation, ok := m.value.(object); ok {
				answers := operation.mapping("responses")
				slices.SortFunc(answers, func(a, b member) int { return strings.Compare(a.key, b.key) })
			}
		}
	}
}

func checkOperations(document object) error {
	var faults []error
	known, seen := map[string]bool{}, map[string]bool{}
	for _, tag := range document.list("tags") {
		if o, ok := tag.(object); ok {
			known[o.text("name")] = true
		}
	}
	for _, o := range operations(document) {
		id := o.text("operationId")
		if id == "" || seen[id] {
			faults = append(faults, fmt.Errorf("%s %s: its operationId %q is missing or taken", o.method, o.path, id))
		}
		seen[id] = true
		if len(o.list("tags")) != 1 || !known[fmt.Sprint(o.list("tags")[0])] {
			faults = append(faults, fmt.Errorf("%s %s: needs one tag of the frame", o.method, o.path))
		}
	}
	return errors.Join(faults...)
}

// operation is one of a document, with where it is.
type operation struct {
	object
	method, path string
	item         object // of its path
}

// operations lists all operations in the order of the document.
func operations(document object) []operation {
	var all []operation
	for _, path := range document.mapping("paths") {
		item, _ := path.value.(object)
		for _, m := range item {
			if o, ok := m.value.(object); ok && m.key != "parameters" {
				all = append(all, operation{o, strings.ToUpper(m.key), path.key, item})
			}
		}
	}
	return all
}
