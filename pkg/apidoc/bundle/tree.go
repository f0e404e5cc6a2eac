package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// object is a mapping whose keys keep their order.
type object []member

type member struct {
	key   string
	value any // object, []any, or a scalar
}

// parse reads YAML as a tree of objects, lists and scalars. Where a mapping has a key itself and by a merge key (<<),
// its own value counts.
func parse(text []byte) (object, error) {
	var mapping yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(text, &mapping, yaml.UseOrderedMap()); err != nil {
		return nil, err
	}
	tree, _ := plain(mapping).(object)
	return tree, nil
}

func plain(value any) any {
	switch v := value.(type) {
	case yaml.MapSlice:
		o := object{}
		for _, item := range v {
			o.set(fmt.Sprint(item.Key), plain(item.Value))
		}
		return o
	case []any:
		return sequence.Map(v, plain)
	default:
		return value
	}
}

func (o object) index(key string) int {
	return slices.IndexFunc(o, func(m member) bool { return m.key == key })
}

func (o object) has(key string) bool { return o.index(key) >= 0 }

// get returns the value of a key, nil when there is none.
func (o object) get(key string) any {
	if i := o.index(key); i >= 0 {
		return o[i].value
	}
	return nil
}

// set sets the value of a key, in its old place if it has one.
func (o *object) set(key string, value any) {
	if i := o.index(key); i >= 0 {
		(*o)[i].value = value
	} else {
		*o = append(*o, member{key, value})
	}
}

func (o object) mapping(key string) object { inner, _ := o.get(key).(object); return inner }
func (o object) list(key string) []any     { inner, _ := o.get(key).([]any); return inner }
func (o object) text(key string) string    { inner, _ := o.get(key).(string); return inner }

// follow returns what a reference points to, in the same document.
func (o object) follow(reference string) (object, error) {
	path, local := strings.CutPrefix(reference, "#/")
	if !local {
		return nil, fmt.Errorf("%s is not in the document", reference)
	}
	at := o
	for step := range strings.SplitSeq(path, "/") {
		if at = at.mapping(step); at == nil {
			return nil, fmt.Errorf("%s is not there", reference)
		}
	}
	return at, nil
}

// resolve returns a value, or what it refers to in the document.
func (o object) resolve(value any) object {
	at, _ := value.(object)
	for at.has("$ref") {
		at, _ = o.follow(at.text("$ref")) // merge has checked it
	}
	return at
}

// encode writes JSON with the keys in their order.
func encode(value any) []byte {
	var indented bytes.Buffer
	if err := json.Indent(&indented, []byte(asJSON.line(value)), "", "  "); err != nil {
		panic(err) // what asJSON writes is JSON
	}
	return indented.Bytes()
}
