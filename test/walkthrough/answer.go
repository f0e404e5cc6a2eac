package walkthrough

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// answer is the answer to a call; empty after a difference.
type answer struct {
	servicetest.Answer
	walk    *walk
	request string // method and path
}

// shown returns the body as it is printed: JSON without the escapes of <, > and &.
func (a answer) shown() string {
	if !json.Valid([]byte(a.Body)) {
		return a.Body
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(a.Body)
}

// find returns the value at a path such as "event.commitments.*.status". Names and numbers select from objects and
// lists, * returns a list with the rest of the path applied to each element, and # is the length.
func find(value any, path []string) (any, bool) {
	if len(path) == 0 {
		return value, true
	}
	switch v := value.(type) {
	case map[string]any:
		inner, ok := v[path[0]]
		if !ok {
			return nil, false
		}
		return find(inner, path[1:])
	case []any:
		switch i, err := strconv.Atoi(path[0]); {
		case path[0] == "#":
			return len(v), true
		case path[0] == "*":
			all := make([]any, len(v))
			for i, inner := range v {
				found, ok := find(inner, path[1:])
				if !ok {
					return nil, false
				}
				all[i] = found
			}
			return all, true
		case err == nil && i >= 0 && i < len(v):
			return find(v[i], path[1:])
		}
	}
	return nil, false
}

func (a answer) find(path string) (any, bool) {
	decoder := json.NewDecoder(strings.NewReader(a.Body))
	decoder.UseNumber()
	var whole any
	if decoder.Decode(&whole) != nil {
		return nil, false
	}
	return find(whole, strings.Split(path, "."))
}

// at returns the value at a path; a missing value is a difference.
func (a answer) at(path string) any {
	if a.walk.err != nil {
		return nil
	}
	value, ok := a.find(path)
	if !ok {
		a.walk.differ(a.request, "something at "+path, a.Body)
	}
	return value
}

// id returns the number at a path.
func (a answer) id(path string) int64 {
	value := a.at(path)
	number, ok := value.(json.Number)
	id, err := number.Int64()
	if a.walk.err == nil && (!ok || err != nil) {
		a.walk.differ(a.request+", at "+path, "an integer", fmt.Sprint(value))
	}
	return id
}

// text returns the string at a path.
func (a answer) text(path string) string {
	value := a.at(path)
	s, ok := value.(string)
	if a.walk.err == nil && !ok {
		a.walk.differ(a.request+", at "+path, "a string", fmt.Sprint(value))
	}
	return s
}

// text returns a value as JSON with sorted keys.
func text(value any) string {
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSpace(encoded.String())
}

// expectation is one check of an answer.
type expectation struct {
	what    string // "event.id"
	text    string // what is expected, as it is printed
	compare func(a answer) (got string, ok bool)
}

// is expects that value at a path.
func is(path string, want any) expectation {
	expected := text(want)
	return expectation{path, expected, func(a answer) (string, bool) {
		value, ok := a.find(path)
		if !ok {
			return "nothing there", false
		}
		got := text(value)
		return got, got == expected
	}}
}

// exactly expects that body, byte for byte.
func exactly(body string) expectation {
	return expectation{"the body", body,
		func(a answer) (string, bool) { return a.Body, a.Body == body }}
}

// listed returns expectations as they are printed.
func listed(wants []expectation) string {
	var texts strings.Builder
	for _, want := range wants {
		fmt.Fprintf(&texts, ", %s = %s", want.what, short(want.text))
	}
	return texts.String()
}
