package servicetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// Cookies returns the cookies that the answer sets.
func (a Answer) Cookies() []*http.Cookie { return (&http.Response{Header: a.Header}).Cookies() }

// Fault returns how the exchange differs from the OpenAPI document; nil when it does not, or was not checked.
func (a Answer) Fault() error { return a.fault }

// Decode decodes the answer's JSON into target, and ends the test when it cannot.
func (a Answer) Decode(t testing.TB, target any) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.Body), target); err != nil {
		t.Fatalf("%s: %v in %d %s", a.Request, err, a.Code, a.Body)
	}
}

// Want fails the test unless the answer has that code and exactly that body.
func (a Answer) Want(t testing.TB, code int, body string) {
	t.Helper()
	if a.Code != code || a.Body != body {
		t.Errorf("%s\n  expected: %d %s\n  got:      %d %s", a.Request, code, body, a.Code, a.Body)
	}
}

// WantCode fails the test unless the answer has that code.
func (a Answer) WantCode(t testing.TB, code int) {
	t.Helper()
	if a.Code != code {
		t.Errorf("%s\n  expected: %d\n  got:      %d %s", a.Request, code, a.Code, a.Body)
	}
}

// Must ends the test unless the answer has that code, and returns the answer.
func (a Answer) Must(t testing.TB, code int) Answer {
	t.Helper()
	if a.Code != code {
		t.Fatalf("%s\n  expected: %d\n  got:      %d %s", a.Request, code, a.Code, a.Body)
	}
	return a
}

// Equal fails the test unless the JSON text at a path is exactly that.
func (a Answer) Equal(t testing.TB, path, want string) {
	t.Helper()
	if got := a.At(t, path); got != want {
		t.Errorf("%s, at %s\n  expected: %s\n  got:      %s", a.Request, path, want, got)
	}
}

// At returns the JSON text at a path such as "event.commitments.0.id", byte for byte, and ends the test when there is
// nothing.
func (a Answer) At(t testing.TB, path string) string {
	t.Helper()
	text, ok := at(json.RawMessage(a.Body), path)
	if !ok {
		t.Fatalf("%s\n  expected: something at %s\n  got:      %d %s", a.Request, path, a.Code, a.Body)
	}
	return string(text)
}

// Has reports whether there is a value at a path, null included.
func (a Answer) Has(path string) bool { _, ok := at(json.RawMessage(a.Body), path); return ok }

// Int returns the integer at a path.
func (a Answer) Int(t testing.TB, path string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(a.At(t, path), 10, 64)
	if err != nil {
		t.Fatalf("%s\n  expected: an integer at %s\n  got:      %s", a.Request, path, a.At(t, path))
	}
	return n
}

// Text returns the string at a path, decoded.
func (a Answer) Text(t testing.TB, path string) string {
	t.Helper()
	var s string
	if err := json.Unmarshal([]byte(a.At(t, path)), &s); err != nil {
		t.Fatalf("%s\n  expected: a string at %s\n  got:      %s", a.Request, path, a.At(t, path))
	}
	return s
}

// Len returns the length of the array at a path.
func (a Answer) Len(t testing.TB, path string) int {
	t.Helper()
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(a.At(t, path)), &list); err != nil || list == nil {
		t.Fatalf("%s\n  expected: an array at %s\n  got:      %s", a.Request, path, a.At(t, path))
	}
	return len(list)
}

// Keys returns the names of the object at a path ("" is the whole answer), in their order, comma-separated.
func (a Answer) Keys(t testing.TB, path string) string {
	t.Helper()
	text := a.Body
	if path != "" {
		text = a.At(t, path)
	}
	keys, err := keys(text)
	if err != nil {
		t.Fatalf("%s\n  expected: an object at %q\n  got:      %s (%v)", a.Request, path, text, err)
	}
	return strings.Join(keys, ",")
}

func at(text json.RawMessage, path string) (json.RawMessage, bool) {
	for step := range strings.SplitSeq(path, ".") {
		if i, err := strconv.Atoi(step); err == nil {
			var list []json.RawMessage
			if json.Unmarshal(text, &list) != nil || i >= len(list) {
				return nil, false
			}
			text = list[i]
			continue
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(text, &object) != nil {
			return nil, false
		}
		value, ok := object[step]
		if !ok {
			return nil, false
		}
		text = value
	}
	return text, true
}

func keys(object string) ([]string, error) {
	decoder := json.NewDecoder(strings.NewReader(object))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("no object: %w", err)
	}
	var all []string
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		all = append(all, fmt.Sprint(key))
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
	}
	return all, nil
}
