package main

import (
	"encoding/json"
	"net/url"
	"os/exec"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// Each call of the document has an example that a shell takes apart as it is meant: the path with values in the place
// of its parameters, the parameters of the query that it needs, and the body.
func TestSample_AShellReadsEachCallOfTheDocument(t *testing.T) {
	document, err := read("..")
	errortest.None(t, err)
	all := operations(document)
	script := "set -eu\nBELFRY=http://a.example\ncurl() { printf '%s\\0' \"$@\" $'\\1'; }\n"
	for _, o := range all {
		script += sampleOf(document, o).curl() + "\n"
	}
	out, err := exec.CommandContext(t.Context(), "bash", "-c", script).Output()
	errortest.None(t, err)
	calls := strings.Split(string(out), "\x00\x01\x00")
	valuetest.MustSame(t, len(calls), len(all)+1, "%d calls of %d operations", len(calls)-1, len(all))
	for i, o := range all {
		name, words := o.method+" "+o.path, strings.Split(calls[i], "\x00")
		var target *url.URL
		for at, word := range words {
			if strings.HasPrefix(word, "http://") {
				target, err = url.Parse(word)
			}
			if word == "-d" {
				_, want := bodyOf(document, o)
				var got, wanted any
				errortest.Report(t, json.Unmarshal([]byte(words[at+1]), &got), name)
				if err := json.Unmarshal(encode(want), &wanted); err != nil || !reflect.DeepEqual(got, wanted) {
					t.Errorf("%s: sends %v", name, got)
				}
			}
		}
		if err != nil || target == nil {
			t.Errorf("%s: %q: %v", name, words, err)
			continue
		}
		pattern := regexp.MustCompile(`\\\{[a-z]+\\\}`).ReplaceAllString(regexp.QuoteMeta(o.path), `[^/{}]+`)
		if !regexp.MustCompile("^" + pattern + "$").MatchString(target.Path) {
			t.Errorf("%s: calls %s", name, target.Path)
		}
		for _, p := range parametersOf(document, o) {
			if p.text("in") == "query" && p.get("required") == true && target.Query().Get(p.text("name")) == "" {
				t.Errorf("%s: no %s in %s", name, p.text("name"), target)
			}
		}
		if o.mapping("requestBody").has("required") && !strings.Contains(calls[i], "\x00-d\x00") {
			t.Errorf("%s: %q", name, words)
		}
	}
}

// An example in Python has the words of Python, and reads an answer for what it is.
func TestSample_IsWrittenAsPython(t *testing.T) {
	for want, s := range map[string]sample{
		`answer = belfry.put(BELFRY + "/a", json={"a": [True, False, None, 1, "it's \"so\""]})
answer.raise_for_status()
print(answer.json())`: {method: "PUT", address: "/a", media: "application/json", json: true,
			body: object{{"a", []any{true, false, nil, uint64(1), `it's "so"`}}}},
		`answer = belfry.post(BELFRY + "/a", data=json.dumps({"key": "1"}),
    headers={"Content-Type": "application/x-ndjson"})
answer.raise_for_status()
print(answer.text)`: {method: "POST", address: "/a", media: "application/x-ndjson", body: object{{"key", "1"}}},
		`with belfry.get(BELFRY + "/a", stream=True) as answer:
    for line in answer.iter_lines():
        print(line.decode())`: {method: "GET", address: "/a", streams: true},
	} {
		valuetest.Same(t, s.python(), want)
	}
}

// A call without a session sends no cookie, and one that renews the session keeps it.
func TestSample_KeepsTheSessionWhereThereIsOne(t *testing.T) {
	document, err := read("..")
	errortest.None(t, err)
	want := map[string]string{
		"GET /api/version":            `curl "$BELFRY/api/version"`,
		"GET /api/me":                 `curl -b cookies "$BELFRY/api/me"`,
		"GET /api/changes/stream":     `curl -N -b cookies "$BELFRY/api/changes/stream`,
		"PUT /api/sessions/{session}": `curl -b cookies -c cookies -X PUT "$BELFRY/api/sessions/1"`,
		"POST /api/login":             `curl -c cookies "$BELFRY/api/login"`,
		"DELETE /api/requests/{id}":   `curl -b cookies -X DELETE "$BELFRY/api/requests/4"`,
	}
	for _, o := range operations(document) {
		name := o.method + " " + o.path
		if got := sampleOf(document, o).curl(); !strings.HasPrefix(got, want[name]) {
			t.Errorf("%s: %s", name, got)
		}
		delete(want, name)
	}
	valuetest.Holds(t, len(want) == 0, "not found: %v", want)
}
