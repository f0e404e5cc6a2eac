package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// sample is the call of an operation with its examples, as programs send it.
type sample struct {
	method, address, media string
	body                   any  // nil: none
	session, renews        bool // it needs a session; its answer has a new one
	json, streams          bool // what its answer is
}

// sampleOf makes the call of an operation. Its query has the required parameters or, where there are none, the first
// one with an example, because others may exclude each other.
func sampleOf(document object, o operation) sample {
	s := sample{method: o.method, address: o.path, session: !open(o)}
	var query, optional []string
	for _, p := range parametersOf(document, o) {
		value := exampleOf(document, p)
		pair := url.QueryEscape(p.text("name")) + "=" + url.QueryEscape(value)
		switch {
		case p.text("in") == "path":
			s.address = strings.ReplaceAll(s.address, "{"+p.text("name")+"}", url.PathEscape(value))
		case p.text("in") == "query" && p.get("required") == true:
			query = append(query, pair)
		case p.text("in") == "query" && p.has("example"):
			optional = append(optional, pair)
		}
	}
	if len(query) == 0 && len(optional) > 0 {
		query = optional[:1]
	}
	if len(query) > 0 {
		s.address += "?" + strings.Join(query, "&")
	}
	s.media, s.body = bodyOf(document, o)
	for _, m := range o.mapping("responses") {
		if answer := document.resolve(m.value); m.key < "300" {
			s.renews = s.renews || answer.mapping("headers").has("Set-Cookie")
			s.json = s.json || answer.mapping("content").has("application/json")
			s.streams = s.streams || answer.mapping("content").has("text/event-stream")
		}
	}
	return s
}

// bodyOf returns the media type of an operation's body and its example, which may be that of its record.
func bodyOf(document object, o operation) (media string, body any) {
	for _, m := range o.mapping("requestBody").mapping("content") {
		content, _ := m.value.(object)
		if content.has("example") {
			return m.key, content.get("example")
		}
		for _, one := range document.resolve(content.get("schema")).list("examples") {
			return m.key, one
		}
	}
	return "", nil
}

// exampleOf returns a parameter's example, or the first of the values that it may have.
func exampleOf(document, parameter object) string {
	if parameter.has("example") {
		return fmt.Sprint(parameter.get("example"))
	}
	if values := document.resolve(parameter.get("schema")).list("enum"); len(values) > 0 {
		return fmt.Sprint(values[0])
	}
	return ""
}

// curl writes the call for a shell whose variable BELFRY is the address; the file cookies has the session.
func (s sample) curl() string {
	words := []string{"curl"}
	if s.streams {
		words = append(words, "-N")
	}
	if s.session {
		words = append(words, "-b cookies")
	}
	if s.renews {
		words = append(words, "-c cookies")
	}
	if s.method != "GET" && (s.method != "POST" || s.body == nil) {
		words = append(words, "-X "+s.method)
	}
	call := strings.Join(append(words, `"$BELFRY`+s.address+`"`), " ")
	if s.body == nil {
		return call
	}
	body := asJSON.text(s.body, "")
	if s.lines() {
		body = asJSON.line(s.body)
	}
	return call + " \\\n  -H 'Content-Type: " + s.media + "' -d '" + strings.ReplaceAll(body, "'", `'\''`) + "'"
}

// lines says whether the body has a record on each line.
func (s sample) lines() bool { return s.media == "application/x-ndjson" }

// python writes the call for the package requests, whose Session belfry has the session; BELFRY is the address.
func (s sample) python() string {
	call := fmt.Sprintf(`belfry.%s(BELFRY + "%s"`, strings.ToLower(s.method), s.address)
	switch {
	case s.body != nil && s.lines():
		call += ", data=json.dumps(" + asPython.line(s.body) + "),\n    headers={\"Content-Type\": \"" + s.media + "\"}"
	case s.body != nil:
		call += ", json=" + asPython.text(s.body, "")
	}
	if s.streams {
		return "with " + call + ", stream=True) as answer:\n" +
			"    for line in answer.iter_lines():\n        print(line.decode())"
	}
	shown := "text"
	if s.json {
		shown = "json()"
	}
	return "answer = " + call + ")\nanswer.raise_for_status()\nprint(answer." + shown + ")"
}

// notation says how a language writes a value that is neither a list nor an object.
type notation func(value any) string

var (
	asJSON notation = func(value any) string {
		var b strings.Builder
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(value); err != nil {
			panic(err) // a scalar of YAML can be written as JSON
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	asPython notation = func(value any) string {
		switch value {
		case true:
			return "True"
		case false:
			return "False"
		case nil:
			return "None"
		}
		return asJSON(value)
	}
)

// width is how many characters a line of an example may have, if the example can be broken.
const width = 104

// text writes a value for readers: what fits into a line is on one.
func (n notation) text(value any, indent string) string {
	line := n.line(value)
	if len(indent)+len(line) <= width {
		return line
	}
	var lines []string
	deeper := indent + "  "
	switch v := value.(type) {
	case object:
		for _, m := range v {
			lines = append(lines, deeper+n(m.key)+": "+n.text(m.value, deeper))
		}
		return "{\n" + strings.Join(lines, ",\n") + "\n" + indent + "}"
	case []any:
		for _, item := range v {
			lines = append(lines, deeper+n.text(item, deeper))
		}
		return "[\n" + strings.Join(lines, ",\n") + "\n" + indent + "]"
	}
	return line
}

// line writes a value on one line.
func (n notation) line(value any) string {
	var parts []string
	switch v := value.(type) {
	case object:
		for _, m := range v {
			parts = append(parts, n(m.key)+": "+n.line(m.value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		for _, item := range v {
			parts = append(parts, n.line(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return n(value)
}
