// Command schemas writes JSON schemas for kubeconform, one file for each kind of Kubernetes object. They list every
// field that an object may have and refuse all others. Their sources are in the projects' Go modules: the OpenAPI
// document of Kubernetes, and the custom resource definitions of the Gateway API, the Prometheus operator, MongoDB and
// Traefik.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: schemas OUTDIR OPENAPI CRD…")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintf(os.Stderr, "schemas: %v\n", err)
		os.Exit(1)
	}
}

// schema is a JSON or OpenAPI schema, or a part of one.
type schema = map[string]any

// kind is what the objects of one schema are.
type kind struct{ Group, Version, Kind string }

// write makes all schemas in dir.
func write(dir, openAPI string, definitions []string) error {
	text, err := os.ReadFile(openAPI)
	if err != nil {
		return err
	}
	var document struct{ Definitions map[string]schema }
	if err := json.Unmarshal(text, &document); err != nil {
		return fmt.Errorf("%s: %w", openAPI, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	k := kubernetes{document.Definitions}
	for name, definition := range k.definitions {
		// Those of several groups, such as DeleteOptions, are not objects.
		of, _ := definition["x-kubernetes-group-version-kind"].([]any)
		if len(of) != 1 {
			continue
		}
		var is kind
		if err := convert(of[0], &is); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := is.save(dir, k.strict(definition, name)); err != nil {
			return err
		}
	}
	var faults []error
	for _, path := range definitions {
		faults = append(faults, k.custom(dir, path))
	}
	return errors.Join(faults...)
}

// save writes the schema of a kind under the name that kubeconform looks for.
func (is kind) save(dir string, s schema) error {
	group, _, _ := strings.Cut(is.Group, ".")
	version := strings.TrimPrefix(is.Group+"/"+is.Version, "/")
	if properties, ok := s["properties"].(schema); ok {
		properties["apiVersion"] = schema{"type": "string", "enum": []string{version}}
		properties["kind"] = schema{"type": "string", "enum": []string{is.Kind}}
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	name := strings.ToLower(is.Kind) + "-" + strings.TrimPrefix(group+"-"+is.Version, "-") + ".json"
	return os.WriteFile(filepath.Join(dir, name), text, 0o644)
}

// kubernetes are the definitions of its OpenAPI document, by name.
type kubernetes struct{ definitions map[string]schema }

// custom writes the schemas of a custom resource's versions. Its file may hold several documents; those that are not
// definitions are ignored.
func (k kubernetes) custom(dir, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var definition struct {
		Kind string
		Spec struct {
			Group    string
			Names    struct{ Kind string }
			Versions []struct {
				Name   string
				Schema struct {
					OpenAPIV3Schema schema `yaml:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &definition); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if definition.Kind != "CustomResourceDefinition" {
		return nil
	}
	for _, v := range definition.Spec.Versions {
		s := k.strict(v.Schema.OpenAPIV3Schema)
		if properties, ok := s["properties"].(schema); ok {
			const metadata = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
			properties["metadata"] = k.strict(k.definitions[metadata], metadata)
		}
		if err := (kind{definition.Spec.Group, v.Name, definition.Spec.Names.Kind}).save(dir, s); err != nil {
			return err
		}
	}
	return nil
}

// strict copies a schema with its references resolved, closed to fields that it does not list. Within are the names
// of the enclosing definitions: a definition that contains itself, as the schema of a custom resource does, stays
// open there.
func (k kubernetes) strict(s schema, within ...string) schema {
	if name, ok := s["$ref"].(string); ok {
		name = name[strings.LastIndex(name, "/")+1:]
		for _, outer := range within {
			if outer == name {
				return schema{}
			}
		}
		switch name {
		case "io.k8s.apimachinery.pkg.util.intstr.IntOrString":
			return schema{"type": []string{"string", "integer"}}
		case "io.k8s.apimachinery.pkg.api.resource.Quantity":
			return schema{"type": []string{"string", "number"}}
		}
		return k.strict(k.definitions[name], append(within[:len(within):len(within)], name)...)
	}
	if s["format"] == "int-or-string" || s["x-kubernetes-int-or-string"] == true {
		return schema{"type": []string{"string", "integer"}}
	}
	closed := schema{}
	for key, value := range s {
		switch key {
		case "properties":
			properties := schema{}
			for name, p := range object(value) {
				properties[name] = k.strict(object(p), within...)
			}
			closed[key] = properties
		case "items", "not":
			closed[key] = k.strict(object(value), within...)
		case "additionalProperties":
			closed[key] = value
			if inner := object(value); inner != nil {
				closed[key] = k.strict(inner, within...)
			}
		case "type", "required", "enum", "pattern", "minLength", "maxLength", "minimum", "maximum",
			"minItems", "maxItems", "uniqueItems":
			closed[key] = value
		}
	}
	_, open := closed["additionalProperties"]
	if closed["properties"] != nil && !open && s["x-kubernetes-preserve-unknown-fields"] != true {
		closed["additionalProperties"] = false
	}
	return closed
}

// object returns a value that is an object, else nil.
func object(value any) schema {
	s, _ := value.(schema)
	return s
}

// convert reads a decoded value into another type.
func convert(from, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}
