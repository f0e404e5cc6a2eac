package servicetest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
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

// Want fails the test unless the answer has that code and exactly that body. What it is about may come last, as in
// valuetest.
func (a Answer) Want(t testing.TB, code int, body string, what ...any) {
	t.Helper()
	if a.Code != code || a.Body != body {
		t.Errorf("%s%s\n  expected: %d %s\n  got:      %d %s",
			errortest.About(what), a.Request, code, body, a.Code, a.Body)
	}
}

// WantCode fails the test unless the answer has that code. What it is about may come last, as in valuetest.
func (a Answer) WantCode(t testing.TB, code int, what ...any) {
	t.Helper()
	if a.Code != code {
		t.Errorf("%s%s\n  expected: %d\n  got:      %d %s", errortest.About(what), a.Request, code, a.Code, a.Body)
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

// find returns the value at a path such as "event.commitments.0.id", and ends the test when there is nothing.
func (a Answer) find(t testing.TB, path string) gjson.Result {
	t.Helper()
	found := gjson.Get(a.Body, path)
	if !found.Exists() {
		t.Fatalf("%s\n  expected: something at %s\n  got:      %d %s", a.Request, path, a.Code, a.Body)
	}
	return found
}

// array returns the array at a path, and ends the test when there is none.
func (a Answer) array(t testing.TB, path string) []gjson.Result {
	t.Helper()
	found := a.find(t, path)
	if !found.IsArray() {
		t.Fatalf("%s\n  expected: an array at %s\n  got:      %s", a.Request, path, found.Raw)
	}
	return found.Array()
}

// At returns the JSON text at a path such as "event.commitments.0.id", byte for byte, and ends the test when there is
// nothing.
func (a Answer) At(t testing.TB, path string) string {
	t.Helper()
	return a.find(t, path).Raw
}

// Has reports whether there is a value at a path, null included.
func (a Answer) Has(path string) bool { return gjson.Get(a.Body, path).Exists() }

// Int returns the integer at a path.
func (a Answer) Int(t testing.TB, path string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(a.At(t, path), 10, 64)
	if err != nil {
		t.Fatalf("%s\n  expected: an integer at %s\n  got:      %s", a.Request, path, a.At(t, path))
	}
	return n
}

// Text returns the string at a path, decoded; "" for null.
func (a Answer) Text(t testing.TB, path string) string {
	t.Helper()
	found := a.find(t, path)
	if found.Type != gjson.String && found.Type != gjson.Null {
		t.Fatalf("%s\n  expected: a string at %s\n  got:      %s", a.Request, path, found.Raw)
	}
	return found.String()
}

// Len returns the length of the array at a path.
func (a Answer) Len(t testing.TB, path string) int {
	t.Helper()
	return len(a.array(t, path))
}

// Texts returns the strings, or numbers as text, at a path such as "elements.#.name": those of all items of an array.
func (a Answer) Texts(t testing.TB, path string) []string {
	t.Helper()
	return sequence.Map(a.array(t, path), gjson.Result.String)
}

// Ints returns the integers at a path such as "elements.#.id".
func (a Answer) Ints(t testing.TB, path string) []int64 {
	t.Helper()
	return sequence.Map(a.array(t, path), gjson.Result.Int)
}

// Keys returns the names of the object at a path ("" is the whole answer), in their order, comma-separated.
func (a Answer) Keys(t testing.TB, path string) string {
	t.Helper()
	object := gjson.Parse(a.Body)
	if path != "" {
		object = a.find(t, path)
	}
	if !object.IsObject() {
		t.Fatalf("%s\n  expected: an object at %q\n  got:      %s", a.Request, path, object.Raw)
	}
	var keys []string
	object.ForEach(func(key, _ gjson.Result) bool {
		keys = append(keys, key.String())
		return true
	})
	return strings.Join(keys, ",")
}
