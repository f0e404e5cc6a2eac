package hostile_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// maker makes values that a schema allows, mostly with known ids and texts.
type maker struct {
	*document
	known *known
	rng   *rand.Rand
}

// maxNesting bounds how deep values are made.
const maxNesting = 8

// value makes a value of a schema for the field or parameter of that name.
func (m maker) value(schema any, name string, nesting int) any {
	s := m.follow(schema)
	if s == nil || nesting > maxNesting {
		return "x"
	}
	if v, ok := s["const"]; ok {
		return v
	}
	if list, ok := s["enum"].([]any); ok {
		return list[m.rng.IntN(len(list))]
	}
	if v, ok := m.knownValue(name); ok && s["properties"] == nil && s["allOf"] == nil {
		return v
	}
	for _, several := range []string{"anyOf", "oneOf"} {
		if list, ok := s[several].([]any); ok && s["properties"] == nil && s["type"] != "object" {
			return m.value(list[m.rng.IntN(len(list))], name, nesting+1)
		}
	}
	switch m.typeOf(s) {
	case "object":
		return m.object(s, nesting)
	case "array":
		return m.array(s, name, nesting)
	case "integer", "number":
		return m.number(s)
	case "boolean":
		return m.rng.IntN(2) == 0
	case "null":
		return nil
	}
	return m.text(s, name)
}

// typeOf returns one of the types of a schema.
func (m maker) typeOf(s node) string {
	switch t := s["type"].(type) {
	case string:
		return t
	case []any:
		if one := fmt.Sprint(t[m.rng.IntN(len(t))]); one != "null" || m.rng.IntN(4) == 0 {
			return one
		}
		return fmt.Sprint(t[0])
	}
	if s["properties"] != nil || s["allOf"] != nil {
		return "object"
	}
	return "string"
}

// object makes an object with the required fields, and each other field half of the time.
func (m maker) object(s node, nesting int) node {
	made := node{}
	all, _ := s["allOf"].([]any)
	for _, part := range all {
		if o, ok := m.value(m.asObject(part), "", nesting+1).(node); ok {
			for key, v := range o {
				made[key] = v
			}
		}
	}
	for _, several := range []string{"anyOf", "oneOf"} {
		if list, ok := s[several].([]any); ok {
			part := m.follow(list[m.rng.IntN(len(list))])
			required, _ := part["required"].([]any)
			for _, key := range required {
				if properties, ok := s["properties"].(node); ok && properties[fmt.Sprint(key)] != nil {
					made[fmt.Sprint(key)] = m.value(properties[fmt.Sprint(key)], fmt.Sprint(key), nesting+1)
				}
			}
		}
	}
	required, _ := s["required"].([]any)
	properties, _ := s["properties"].(node)
	for _, key := range sorted(properties) {
		if slices.Contains(required, any(key)) || m.rng.IntN(2) == 0 {
			made[key] = m.value(properties[key], key, nesting+1)
		}
	}
	return made
}

// asObject returns a schema of an object, which need not name its type.
func (m maker) asObject(part any) node {
	s := node{"type": "object"}
	for key, v := range m.follow(part) {
		s[key] = v
	}
	return s
}

func (m maker) array(s node, name string, nesting int) []any {
	list := []any{}
	for range m.rng.IntN(4) {
		list = append(list, m.value(s["items"], name, nesting+1))
	}
	if least, _ := s["minItems"].(float64); len(list) < int(least) {
		list = append(list, m.value(s["items"], name, nesting+1))
	}
	return list
}

func (m maker) number(s node) any {
	least, hasLeast := s["minimum"].(float64)
	most, hasMost := s["maximum"].(float64)
	if !hasLeast {
		least = -10
	}
	if !hasMost {
		most = least + 1000
	}
	if m.rng.IntN(8) == 0 {
		return []any{least, most, least - 1, most + 1}[m.rng.IntN(4)]
	}
	return int64(least) + m.rng.Int64N(max(1, int64(most-least)))
}

// strings are texts that fields of most patterns and formats take, one or the other.
var texts = []string{
	"", " ", "a", "Cricket away", "2019-04-10", "2019-04-10 09:00", "2019-04-10T09:00:00+01:00", "2026-02-29",
	"2024-02-29", "2019-03-31 01:30", "2019-10-27 01:30", "24:00", "2019-04-10 24:00", "1/4/2019 9:05", "0001-01-01",
	"9999-12-31", "1970-01-01", "2199-12-31", "requested", "requested,noted", "confirmed, rejected", "outstanding",
	"staff,locations", "true", "false", "1", "17", "0", "x@school.example", "Staff:17", "Group:9A", "Property:1/3",
	"Event:12", "User", "2b6b1d0a-5f0e-4a7a-9f0e-0f6c1b7a3d55", "https://hooks.school.invalid/belfry",
	"commitment.requested", "*a* [b](c)\n\n> d", "Ünïcödé 🚌 \u202e", "a\u0000b", "<script>alert(1)</script>", "%_.*",
	`{"$gt":""}`, "../../etc/passwd", "a' OR '1'='1", "2019-04-10T09:00:00.123456789Z", "2019-04-10 09:00:60",
	"Fixture", "1,2,3", "1554901200.5.31", "\t\n",
}

func (m maker) text(s node, name string) string {
	candidates := texts
	if given, ok := s["pattern"].(string); ok {
		if pattern, err := regexp.Compile(given); err == nil {
			candidates = slices.DeleteFunc(slices.Clone(texts), func(t string) bool { return !pattern.MatchString(t) })
		}
	}
	if s["format"] == "date" || strings.HasSuffix(name, "_date") || strings.HasSuffix(name, "_day") {
		candidates = []string{"2019-04-10", "2019-04-11", "2024-02-29", "2019-12-31"}
	}
	if len(candidates) == 0 || m.rng.IntN(20) == 0 {
		return strings.Repeat(texts[m.rng.IntN(len(texts))]+"x", 1+m.rng.IntN(300))
	}
	return candidates[m.rng.IntN(len(candidates))]
}

func sorted(n node) []string {
	keys := make([]string, 0, len(n))
	for key := range n {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
