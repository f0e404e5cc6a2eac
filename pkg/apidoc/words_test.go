package apidoc_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// word is a row of the document's table of words.
type word struct {
	values  []string
	meaning string
	used    bool
}

// wordsOf reads the table of words, by place and word: "query limit".
func wordsOf(t *testing.T, d document) map[string]*word {
	t.Helper()
	about, _ := d.resolve(d["info"])["description"].(string)
	_, section, _ := strings.Cut(about, "### Words\n")
	section, _, _ = strings.Cut(section, "\n### ")
	words := map[string]*word{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([a-z, ]+) \\| ([a-z, ]+) \\| (.+) \\|$").
		FindAllStringSubmatch(section, -1) {
		for place := range strings.SplitSeq(row[2], ", ") {
			if words[place+" "+row[1]] != nil {
				t.Errorf("%s has two meanings in one place, the %s", row[1], place)
			}
			words[place+" "+row[1]] = &word{values: strings.Split(row[3], ", "), meaning: row[4]}
		}
	}
	if len(words) < 40 {
		t.Fatalf("the table has %d words", len(words))
	}
	return words
}

// given are the schemas that say what values a field of a request takes.
var given = map[string]string{
	"Id": "id", "GivenId": "id", "GivenReference": "id", "GivenText": "text", "GivenFlag": "flag",
	"GivenNumber": "number", "GivenDay": "day", "Day": "day", "GivenTime": "time", "EntityType": "type",
	"Cursor": "cursor",
}

// valuesOf are the kinds of values that a schema allows besides null.
func (d document) valuesOf(name string, part any) []string {
	if reference, ok := d.reference(part); ok && given[reference] != "" {
		return []string{given[reference]}
	}
	schema := d.resolve(part)
	found := map[string]bool{}
	for _, way := range []string{"anyOf", "oneOf", "allOf"} {
		either, _ := schema[way].([]any)
		for _, one := range either {
			for _, value := range d.valuesOf(name, one) {
				found[value] = true
			}
		}
	}
	types, _ := schema["type"].([]any)
	if one, ok := schema["type"].(string); ok {
		types = []any{one}
	}
	words, isEnum := schema["enum"].([]any)
	_, isConst := schema["const"]
	switch {
	case len(found) > 0:
	case slices.Contains(types, any("array")):
		for _, value := range d.valuesOf(name, schema["items"]) {
			found[value+"s"] = true
		}
	case isEnum && d.areTypes(words):
		found["type"] = true
	case isEnum, isConst:
		found["words"] = true
	case slices.Contains(types, any("boolean")):
		found["flag"] = true
	case slices.Contains(types, any("integer")):
		found["number"] = true
	case schema["format"] == "date":
		found["day"] = true
	case schema["format"] == "date-time", slices.Contains(types, any("string")) && strings.HasSuffix(name, "_at"):
		found["time"] = true
	case slices.Contains(types, any("string")):
		found["text"] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// areTypes says whether all words are entity types.
func (d document) areTypes(words []any) bool {
	all, _ := d.resolve(map[string]any{"$ref": "#/components/schemas/EntityType"})["enum"].([]any)
	return !slices.ContainsFunc(words, func(w any) bool { return !slices.Contains(all, w) })
}

func (d document) reference(part any) (name string, ok bool) {
	object, _ := part.(map[string]any)
	reference, ok := object["$ref"].(string)
	return reference[strings.LastIndexByte(reference, '/')+1:], ok
}

// eachField calls f for each field of a body that has no fields itself.
func (d document) eachField(part any, depth int, f func(name string, schema any)) (found bool) {
	const deepest = 6
	schema := d.resolve(part)
	if depth > deepest {
		return false
	}
	for _, way := range []string{"allOf", "anyOf", "oneOf"} {
		several, _ := schema[way].([]any)
		for _, one := range several {
			found = d.eachField(one, depth+1, f) || found
		}
	}
	found = d.eachField(schema["items"], depth+1, f) || found
	for name, one := range d.resolve(schema["properties"]) {
		found = true
		if !d.eachField(one, depth+1, f) {
			f(name, one)
		}
	}
	return found
}

// eachOperation calls f for each operation of the document.
func (d document) eachOperation(f func(name string, item, operation map[string]any)) {
	for path, one := range d.resolve(d["paths"]) {
		item := d.resolve(one)
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			if item[method] != nil {
				f(strings.ToUpper(method)+" "+path, item, d.resolve(item[method]))
			}
		}
	}
}

// shown are the fields that GET answers with, at any depth: fields of records.
func (d document) shown() map[string]bool {
	names := map[string]bool{}
	d.eachOperation(func(at string, _, operation map[string]any) {
		if strings.HasPrefix(at, "GET ") {
			answer := d.resolve(d.resolve(operation["responses"])["200"])
			content := d.resolve(d.resolve(answer["content"])["application/json"])
			d.eachField(content["schema"], 0, func(name string, _ any) { names[name] = true })
		}
	})
	return names
}

// TestWords_AWordHasOneValueAndOneMeaningInEveryRoute compares the parameters and fields of all routes with the table
// of words. Each parameter of a query is in it, and so is each field of a body that is not the field of a record, which
// GET shows under the same name.
func TestWords_AWordHasOneValueAndOneMeaningInEveryRoute(t *testing.T) {
	d := parsed(t)
	words, shown, values := wordsOf(t, d), d.shown(), map[string]string{}
	check := func(at, place, name string, schema any, about string) {
		t.Helper()
		w := words[place+" "+name]
		if w == nil {
			t.Errorf("%s: %s in the %s is not in the table of words", at, name, place)
			return
		}
		w.used = true
		for _, value := range d.valuesOf(name, schema) {
			if !slices.Contains(w.values, value) {
				t.Errorf("%s: %s takes a %s, by the table %q", at, name, value, w.values)
			}
		}
		if place == "query" && !strings.HasPrefix(about, w.meaning) {
			t.Errorf("%s: %s is %q, by the table %q", at, name, about, w.meaning)
		}
	}
	d.eachOperation(func(at string, item, operation map[string]any) {
		for _, holder := range []map[string]any{item, operation} {
			parameters, _ := holder["parameters"].([]any)
			for _, one := range parameters {
				if p := d.resolve(one); p["in"] == "query" {
					name, _ := p["name"].(string)
					about, _ := p["description"].(string)
					check(at, "query", name, p["schema"], about)
				}
			}
		}
		content := d.resolve(d.resolve(d.resolve(operation["requestBody"])["content"])["application/json"])
		d.eachField(content["schema"], 0, func(name string, schema any) {
			if words["body "+name] != nil || words["query "+name] != nil || !shown[name] {
				check(at, "body", name, schema, "")
				return
			}
			value := strings.Join(d.valuesOf(name, schema), " or ")
			if values[name] != "" && values[name] != value {
				t.Errorf("%s: %s takes a %s, elsewhere a %s", at, name, value, values[name])
			}
			values[name] = value
		})
	})
	for name, w := range words {
		if !w.used {
			t.Errorf("no route has %s", name)
		}
	}
}

// TestWords_PagesAndAnswersAreAlikeInEveryRoute holds of the whole document what its description says of pages, times,
// creations and refusals. The contract's creation of an event is 200; next of changes is never null.
func TestWords_PagesAndAnswersAreAlikeInEveryRoute(t *testing.T) {
	d := parsed(t)
	d.eachOperation(func(at string, _, operation map[string]any) {
		own := strings.Contains(at, " /api/admin/")
		for code, one := range d.resolve(operation["responses"]) {
			answer := d.resolve(one)
			headers := d.resolve(answer["headers"])
			content := d.resolve(d.resolve(d.resolve(answer["content"])["application/json"])["schema"])
			fields := d.resolve(content["properties"])
			switch {
			case code == "201" && headers["Location"] == nil:
				t.Errorf("%s: 201 without Location", at)
			case code == "200" && d.resolve(fields["status"])["const"] == "Created":
				t.Errorf("%s: Created is 200", at)
			case code == "401" && headers["WWW-Authenticate"] == nil:
				t.Errorf("%s: 401 without WWW-Authenticate", at)
			case code == "403" && own && fields["message"] == nil:
				t.Errorf("%s: 403 does not say what is lacking", at)
			}
			next := fields["next"]
			if next == nil || !strings.HasPrefix(at, "GET ") || strings.HasPrefix(at, "GET /api/changes") {
				continue
			}
			if reference, _ := d.reference(next); reference != "Next" {
				t.Errorf("%s: next is not Next", at)
			}
			parameters, _ := operation["parameters"].([]any)
			for _, name := range []string{"Limit", "After"} {
				if !slices.ContainsFunc(parameters, func(p any) bool {
					reference, _ := d.reference(p)
					return reference == name
				}) {
					t.Errorf("%s: it has pages, and no parameter %s", at, name)
				}
			}
		}
	})
	d.eachTime("", map[string]any(d), func(at string) { t.Errorf("%s is a time in a format of its own", at) })
	schemas := d.resolve(d.resolve(d["components"])["schemas"])
	for name, schema := range schemas {
		for field, one := range d.resolve(d.resolve(schema)["properties"]) {
			if (field == "id" || strings.HasSuffix(field, "_id")) && !d.isID(one) && !otherIDs[name+"."+field] {
				t.Errorf("%s of %s is not a number", field, name)
			}
		}
	}
}

// otherIDs are texts: those of what no path names, the entries of logs and the notices that webhooks are sent. An
// element's id in a failure is what the client sent (contract 2.8).
var otherIDs = map[string]bool{"AuditEntry.id": true, "Look.id": true, "Delivery.notice_id": true}

// isID says whether a schema is that of an id, or of one that may be missing.
func (d document) isID(part any) bool {
	if reference, ok := d.reference(part); ok {
		return given[reference] == "id"
	}
	schema := d.resolve(part)
	types, _ := schema["type"].([]any)
	return schema["type"] == "integer" || schema["type"] == "null" || slices.Contains(types, any("integer"))
}

// eachTime finds the times of answers that are not Time: what is sent in requests is written otherwise.
func (d document) eachTime(at string, part any, f func(at string)) {
	switch p := part.(type) {
	case []any:
		for _, one := range p {
			d.eachTime(at, one, f)
		}
	case map[string]any:
		if p["format"] == "date-time" && at != "/components/schemas/Time" &&
			at != "/components/schemas/ExactTime" && !strings.Contains(at, "/parameters/") {
			f(at)
		}
		for name, one := range p {
			d.eachTime(at+"/"+name, one, f)
		}
	}
}
