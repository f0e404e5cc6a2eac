package apidoctest

import (
	"encoding/json"
	"fmt"
)

// Examples compiles every schema of a document's bodies and components. It returns the errors of their examples by
// place; nil for a valid example.
func Examples(document []byte) (map[string]error, error) {
	var tree map[string]any
	if err := json.Unmarshal(document, &tree); err != nil {
		return nil, err
	}
	s, err := newSchemas(document)
	if err != nil {
		return nil, err
	}
	found := map[string]error{}
	return found, s.walk(tree, "", found)
}

// walk visits everything with a schema, and the schemas of the components.
func (s schemas) walk(value any, at string, found map[string]error) error {
	switch v := value.(type) {
	case map[string]any:
		if _, has := v["schema"]; has {
			if _, err := s.at(at + pointer("schema")); err != nil {
				return err
			}
			if example, has := v["example"]; has {
				found[at] = s.checkValue(at+pointer("schema"), example)
			}
		}
		if at == pointer("components", "schemas") {
			return s.components(v, at, found)
		}
		for key, inner := range v {
			if err := s.walk(inner, at+pointer(key), found); err != nil {
				return err
			}
		}
	case []any:
		for i, inner := range v {
			if err := s.walk(inner, at+pointer(fmt.Sprint(i)), found); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s schemas) components(all map[string]any, at string, found map[string]error) error {
	for name, value := range all {
		place := at + pointer(name)
		if _, err := s.at(place); err != nil {
			return err
		}
		component, _ := value.(map[string]any)
		examples, _ := component["examples"].([]any)
		for i, example := range examples {
			found[place+pointer("examples", fmt.Sprint(i))] = s.checkValue(place, example)
		}
	}
	return nil
}

func (s schemas) checkValue(pointer string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return s.check(pointer, text)
}
