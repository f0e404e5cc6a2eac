package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

const dryRun = "dry_run"

// safetyWords keep a client from writing what it did not mean to. They are never ignored: a call that does not take
// one, or takes it in another place, spelling or value, is refused before anything is written.
var safetyWords = []string{dryRun, "clashes", "scope", "overwrite"}

// safetyWord returns the safety word that a name means, in any letter case.
func safetyWord(name string) (word string, is bool) {
	if strings.EqualFold(name, "dryrun") || strings.EqualFold(name, "dry-run") {
		return dryRun, true
	}
	for _, word := range safetyWords {
		if strings.EqualFold(name, word) {
			return word, true
		}
	}
	return "", false
}

// DryRun says whether the request only asks what the call would answer. Its context is one of record.DryRun, so stores
// write nothing then; Answer says that it was one.
func DryRun(c *fiber.Ctx) bool { return record.IsDryRun(c.UserContext()) }

// placesOf returns, for each safety word that a route takes, where it goes and with which values.
func (v vocabulary) placesOf() map[string]string {
	places := map[string]string{}
	for _, word := range safetyWords {
		var all []string
		if v.query[word] {
			all = append(all, "in the query"+v.valuesOf(word))
		}
		for _, path := range slices.Sorted(maps.Keys(v.fields)) {
			switch {
			case path == word:
				all = append(all, "in the body"+v.valuesOf(path))
			case strings.HasSuffix(path, "."+word):
				all = append(all, "in the body as "+path+v.valuesOf(path))
			}
		}
		if len(all) > 0 {
			places[word] = strings.Join(all, " or ")
		}
	}
	return places
}

// valuesOf is " (skip, refuse, report)".
func (v vocabulary) valuesOf(name string) string {
	if v.values[name] == nil {
		return ""
	}
	words := strings.TrimSuffix(strings.TrimPrefix(v.values[name].String(), wholeBegins), wholeEnds)
	return " (" + strings.ReplaceAll(words, "|", ", ") + ")"
}

// allows says whether the document allows a value of the parameter or field.
func (v vocabulary) allows(name, value string) bool {
	return v.values[name] == nil || v.values[name].MatchString(value)
}

// refuse is the refusal of a safety word as it was sent.
func (v vocabulary) refuse(word, sent string) error {
	if place := v.places[word]; place != "" {
		return problem.New(problem.Malformed, "%s: this call takes %s %s", sent, word, place)
	}
	return problem.New(problem.Malformed, "%s: this call does not take %s", sent, word)
}

// checkWords is Malformed where a safety word of the request would be ignored.
func (v vocabulary) checkWords(c *fiber.Ctx, r Route) error {
	var given []string
	for key, value := range c.Request().URI().QueryArgs().All() {
		word, is := safetyWord(string(key))
		if !is {
			continue
		}
		if word != string(key) || !v.query[word] || !v.allows(word, string(value)) || slices.Contains(given, word) {
			return v.refuse(word, plain(string(key))+"="+plain(string(value))+" in the query")
		}
		given = append(given, word)
		if word == dryRun && string(value) == "true" {
			c.SetUserContext(record.DryRun(c.UserContext()))
		}
	}
	if r.Method == fiber.MethodGet {
		return nil
	}
	if !v.ifMatch && len(c.Request().Header.PeekAll(fiber.HeaderIfMatch)) > 0 {
		return problem.New(problem.Malformed, "this call does not take %s", fiber.HeaderIfMatch)
	}
	if err := v.checkHeaders(c); err != nil {
		return err
	}
	body := c.Request().Body()
	if !mayHaveWords(body) { // as nearly always
		return nil
	}
	if r.Body != NDJSON {
		return v.checkBody(body)
	}
	for line := range bytes.Lines(body) {
		if err := v.checkBody(line); err != nil {
			return err
		}
	}
	return nil
}

// checkHeaders is checkWords for the headers, none of which is a safety word, and for preferences.
func (v vocabulary) checkHeaders(c *fiber.Ctx) error {
	for key, value := range c.Request().Header.All() {
		name := strings.TrimPrefix(string(key), "X-")
		if word, is := safetyWord(name); is {
			return v.refuse(word, plain(string(key))+" as a header")
		}
		if name != headerPrefer {
			continue
		}
		parts := func(r rune) bool { return r == ',' || r == ';' }
		for preference := range strings.FieldsFuncSeq(string(value), parts) {
			name, _, _ := strings.Cut(preference, "=")
			if word, is := safetyWord(strings.TrimSpace(name)); is {
				return v.refuse(word, plain(strings.TrimSpace(name))+" in "+headerPrefer)
			}
		}
	}
	return nil
}

// mayHaveWords says whether a body may have a field that is a safety word. It copies nothing: a batch has 4 MiB.
func mayHaveWords(body []byte) bool {
	if bytes.Contains(body, []byte(`\u`)) { // a letter of a name may be written so
		return true
	}
	for _, rest, quoted := bytes.Cut(body, []byte(`"`)); quoted; _, rest, quoted = bytes.Cut(rest, []byte(`"`)) {
		for _, begins := range [...]string{"dry", "clashes", "scope", "overwrite"} {
			if len(rest) > len(begins) && strings.EqualFold(string(rest[:len(begins)]), begins) {
				return true
			}
		}
	}
	return false
}

// deepestWord bounds how deep in a body safety words are looked for, deeper than any call's fields.
const deepestWord = 12

// errUnreadable says that a body is not JSON, which is left to the handler.
var errUnreadable = errors.New("the body is not JSON")

// checkBody is checkWords for one JSON value.
func (v vocabulary) checkBody(text []byte) error {
	err := v.checkFields(json.NewDecoder(bytes.NewReader(text)), "", 0)
	if errors.Is(err, errUnreadable) {
		return nil
	}
	return err
}

// checkFields is checkWords for the next value of a body; path ends with a dot unless it is empty. It reads token by
// token, since a body that is decoded as a whole takes many times its size.
func (v vocabulary) checkFields(body *json.Decoder, path string, depth int) error {
	token, err := body.Token()
	begins, nested := token.(json.Delim)
	switch {
	case err != nil:
		return errUnreadable
	case !nested:
		return nil
	case depth == deepestWord:
		return skip(body)
	}
	for body.More() {
		at := path
		if begins == '{' {
			key, _ := body.Token()
			name, isKey := key.(string)
			if !isKey {
				return errUnreadable
			}
			at += plain(name)
			if word, is := safetyWord(name); is {
				if err := v.checkField(body, word, at); err != nil {
					return err
				}
				continue
			}
			at += "."
		}
		if err := v.checkFields(body, at, depth+1); err != nil {
			return err
		}
	}
	if _, err = body.Token(); err != nil { // the end of the object or array
		return errUnreadable
	}
	return nil
}

// checkField is checkFields for the value of a field that is a safety word.
func (v vocabulary) checkField(body *json.Decoder, word, path string) error {
	var value json.RawMessage
	if body.Decode(&value) != nil {
		return errUnreadable
	}
	if v.fields[path] && (string(value) == "null" || v.allows(path, unquoted(value))) {
		return nil
	}
	return v.refuse(word, fmt.Sprintf("%s=%s in the body", path, plain(unquoted(value))))
}

// skip reads to the end of the object or array that has begun.
func skip(body *json.Decoder) error {
	for open := 1; open > 0; {
		token, err := body.Token()
		if err != nil {
			return errUnreadable
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			open++
		case json.Delim('}'), json.Delim(']'):
			open--
		}
	}
	return nil
}
