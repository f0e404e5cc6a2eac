package apidoc_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestDocument_ItsExamplesAreOfOneSchool reads all examples as answers of one school: a record is the same wherever it
// is shown, an answer is about the record of its path and what its request asked for, and an error is one that its
// operation gives.
func TestDocument_ItsExamplesAreOfOneSchool(t *testing.T) {
	faults, compared := contradictions(parsed(t))
	for _, fault := range faults {
		t.Error(fault)
	}
	valuetest.Holds(t, compared >= 100, "only %d values were compared", compared)
}

// TestDocument_EachAnswerHasAnExample asks every operation for an example of what it answers when it succeeds; the
// document and its page would be their own.
func TestDocument_EachAnswerHasAnExample(t *testing.T) {
	d, answers := parsed(t), 0
	d.eachOperation(func(at string, _, operation map[string]any) {
		if at == "GET /api/openapi.json" || at == "GET /api/docs" {
			return
		}
		for code, answer := range d.resolve(operation["responses"]) {
			for media, content := range d.resolve(d.resolve(answer)["content"]) {
				if !strings.HasPrefix(code, "2") {
					continue
				}
				answers++
				if _, ok := d.resolve(content)["example"]; !ok {
					t.Errorf("%s: %s %s has no example", at, code, media)
				}
			}
		}
	})
	valuetest.Holds(t, answers >= 90, "only %d answers were found", answers)
}

// exampleReader compares the examples of one document.
type exampleReader struct {
	document
	school   map[string]seen // by record and field, as "Event 5 body"
	faults   []string
	compared int
}

// seen is a value, and where it was first seen.
type seen struct{ value, at string }

// contradictions returns what the examples of a document contradict, and how many values it compared.
func contradictions(d document) (faults []string, compared int) {
	r := &exampleReader{document: d, school: map[string]seen{}}
	for _, path := range slices.Sorted(maps.Keys(d.resolve(d["paths"]))) {
		item := d.resolve(d.resolve(d["paths"])[path])
		for _, method := range slices.Sorted(maps.Keys(item)) {
			if operation, ok := item[method].(map[string]any); ok && method != "parameters" {
				shared, _ := item["parameters"].([]any)
				own, _ := operation["parameters"].([]any)
				r.operation(strings.ToUpper(method)+" "+path, operation, slices.Concat(shared, own))
			}
		}
	}
	return r.faults, r.compared
}

// same compares two values of an operation.
func (r *exampleReader) same(at string, got, want any) {
	r.compared++
	if fmt.Sprint(got) != fmt.Sprint(want) {
		r.faults = append(r.faults, fmt.Sprintf("%s is %v, not %v", at, got, want))
	}
}

// singular is a record's name in answers, by what paths call all of them.
var singular = map[string]string{"users": "user", "elements": "element", "events": "event", "series": "series",
	"commitments": "commitment", "requests": "request", "eventcategories": "eventcategory", "webhooks": "webhook",
	"notes": "note"}

// ofOneRecord matches the path of an operation on one record.
var ofOneRecord = regexp.MustCompile(`/([a-z]+)/\{id\}`)

func (r *exampleReader) operation(name string, operation map[string]any, parameters []any) {
	asked := map[string]any{} // examples of parameters
	noun := ""
	if m := ofOneRecord.FindStringSubmatch(name); m != nil {
		noun = singular[m[1]]
	}
	for _, one := range parameters {
		p := r.resolve(one)
		example, ok := p["example"]
		if !ok {
			continue
		}
		asked[fmt.Sprint(p["name"])] = example
		if m := stateTag.FindStringSubmatch(fmt.Sprint(example)); m != nil {
			r.same(name+": the record of "+fmt.Sprint(p["name"]), m[1], noun)
		}
	}
	body := r.example(operation["requestBody"])
	r.records(name+", request", body)
	for _, code := range slices.Sorted(maps.Keys(r.resolve(operation["responses"]))) {
		answer, ok := r.example(r.resolve(operation["responses"])[code]).(map[string]any)
		if !ok {
			continue
		}
		at := name + ", " + code
		r.records(at, answer)
		r.subject(at, noun, asked["id"], answer)
		switch {
		case code < "300":
			r.results(at, asked, answer)
			r.imported(at, body, answer)
			r.audited(at, answer)
			if version, ok := answer["version"]; ok {
				r.same(at+": version", version, r.resolve(r.document["info"])["version"])
			}
		case code < "500":
			r.refused(at, noun, asked["id"], operation, answer)
		}
	}
}

// stateTag matches an ETag of a record.
var stateTag = regexp.MustCompile(`^"([a-z]+)-[0-9]+-[0-9]+-`)

// subject compares the record that an answer is about with the id of its path: a refused change shows the record that
// is stored, a refused creation has no id.
func (r *exampleReader) subject(at, noun string, id any, answer map[string]any) {
	record, ok := answer[noun].(map[string]any)
	switch {
	case ok:
		r.same(at+": id", record["id"], id)
	case noun == "" && strings.HasPrefix(at, "POST ") && answer["status"] == "Unprocessable entity":
		for _, one := range singular {
			if record, ok := answer[one].(map[string]any); ok {
				r.same(at+": id", record["id"], nil)
			}
		}
	}
}

// fixed are the fields that a record of a kind has for good, in the world of the examples.
var fixed = map[string][]string{
	"Element": {"name", "entity_type", "entity_id", "uuid"}, "User": {"name", "email"},
	"Event": {"body", "starts_at", "ends_at"}, "Note": {"contents"}, "Commitment": {"element", "element_id"},
	"Request": {"element", "element_id"}, "Category": {"name"},
}

// kindOf is the kind of a record by its fields, or by the name of the field or list that it stands in.
func kindOf(in string, record map[string]any) string {
	has := func(field string) bool { _, ok := record[field]; return ok }
	switch {
	case has("entity_type"):
		return "Element"
	case has("starts_at") && has("body"):
		return "Event"
	case has("contents"):
		return "Note"
	case has("email"):
		return "User"
	case has("quantity"):
		return "Request"
	case in == "commitments" || in == "commitment":
		return "Commitment"
	case in == "category" || in == "eventcategory" || in == "eventcategories":
		return "Category"
	}
	return ""
}

// records compares each record below a part with itself elsewhere, where it has an id and is not refused.
func (r *exampleReader) records(at string, part any) { r.recordsIn(at, "", part) }

func (r *exampleReader) recordsIn(at, in string, part any) {
	switch p := part.(type) {
	case []any:
		for _, one := range p {
			r.recordsIn(at, in, one)
		}
	case map[string]any:
		kind := kindOf(in, p)
		if p["id"] != nil && p["valid"] != false {
			for _, field := range fixed[kind] {
				value, ok := p[field]
				if !ok {
					continue
				}
				if nested, ok := value.(map[string]any); ok {
					field, value = field+"_id", nested["id"]
				}
				r.settled(at, fmt.Sprintf("%s %v %s", kind, p["id"], field), fmt.Sprint(value))
			}
			if uuid, ok := p["uuid"]; ok {
				r.settled(at, fmt.Sprintf("the %s with uuid %v: id", kind, uuid), fmt.Sprint(p["id"]))
			}
		}
		for _, key := range slices.Sorted(maps.Keys(p)) {
			r.recordsIn(at, key, p[key])
		}
	}
}

// settled compares a fact with the first example that has it.
func (r *exampleReader) settled(at, fact, value string) {
	first, known := r.school[fact]
	if !known {
		r.school[fact] = seen{value, at}
		return
	}
	r.same(at+": "+fact+", as in "+first.at, value, first.value)
}

// results compares what a list has with the parameters that it was asked by.
func (r *exampleReader) results(at string, asked, answer map[string]any) {
	for _, list := range []string{"elements", "timetables"} {
		ids, asks := asked["elements"].(string)
		listed, has := answer[list].([]any)
		if !asks || !has {
			continue
		}
		var got []string
		for _, one := range listed {
			got = append(got, fmt.Sprint(r.resolve(r.resolve(one)["element"])["id"]))
		}
		r.same(at+": its elements", strings.Join(got, ","), ids)
	}
	if name, ok := asked["name"]; ok {
		for _, one := range listOf(answer["elements"]) {
			r.same(at+": name", r.resolve(one)["name"], name)
		}
	}
	if kind, ok := asked["include"].(string); ok && strings.Contains(kind, "category") {
		text, _ := json.Marshal(answer)
		r.same(at+": it shows the category", strings.Contains(string(text), `"category":{`), true)
	}
}

func listOf(part any) []any {
	list, _ := part.([]any)
	return list
}

// imported compares the answer to a batch of one record with that record.
func (r *exampleReader) imported(at string, body any, answer map[string]any) {
	line, ok := body.(map[string]any)
	records := listOf(answer["records"])
	if !ok || line["key"] == nil || answer["records"] == nil {
		return
	}
	r.same(at+": number of records", len(records), 1)
	total := 0.0
	for _, count := range []string{"created", "updated", "unchanged", "failed"} {
		n, _ := answer[count].(float64)
		total += n
	}
	r.same(at+": the sum of what became of them", total, len(records))
	for _, one := range records {
		r.same(at+": key", r.resolve(one)["key"], line["key"])
		if result, _ := r.resolve(one)["result"].(string); answer[result] != nil {
			r.same(at+": "+result, answer[result], len(records))
		}
	}
}

// owners are the services that keep the audit of a type of record.
var owners = map[string]string{"User": "identity", "Session": "identity", "Element": "elements",
	"Membership": "elements", "Event": "events", "Commitment": "events", "Request": "events",
	"EventCategory": "events", "Webhook": "events", "Note": "notes"}

// audited compares the records of an audit's page with the service that answers.
func (r *exampleReader) audited(at string, answer map[string]any) {
	_, service, isAudit := strings.Cut(strings.SplitN(at, ",", 2)[0], "/api/admin/audit/")
	if !isAudit {
		return
	}
	for _, one := range listOf(answer["entries"]) {
		kind, _, _ := strings.Cut(fmt.Sprint(r.resolve(one)["record"]), ":")
		r.same(at+": the service that keeps the audit of "+kind, owners[kind], service)
	}
}

var (
	noSuch    = regexp.MustCompile(`^Couldn't find (\w+) with 'id'=([0-9]+)$`)
	isMissing = regexp.MustCompile(`^(\w+) is missing$`)
)

// refused compares the message of an error with the operation: it names the record of the path, and no field that the
// request does not have.
func (r *exampleReader) refused(at, noun string, id any, operation, answer map[string]any) {
	message, _ := answer["message"].(string)
	if m := noSuch.FindStringSubmatch(message); m != nil {
		r.same(at+": the record that is missing", strings.ToLower(m[1])+" "+m[2], fmt.Sprintf("%s %v", noun, id))
	}
	if m := isMissing.FindStringSubmatch(message); m != nil {
		body, _ := r.example(operation["requestBody"]).(map[string]any)
		_, has := body[m[1]]
		r.same(at+": the request has the field "+m[1], has, true)
	}
}

// TestDocument_AContradictionIsFound puts one into a document of a few operations.
func TestDocument_AContradictionIsFound(t *testing.T) {
	const sound = `{"info": {"version": "1.0.0"}, "paths": {
 "/api/events/{id}": {"parameters": [{"name": "id", "in": "path", "example": 5}],
 "get": {"parameters": [{"name": "If-None-Match", "example": "\"event-5-3-5b163e8109f861a5\""}], "responses": {
 "200": {"content": {"application/json": {"example": {"event": {"id": 5, "body": "Cricket", "starts_at": "9:00"}}}}},
 "404": {"content": {"application/json": {"example": {"message": "Couldn't find Event with 'id'=5"}}}}}},
 "patch": {"requestBody": {"content": {"application/json": {"example": {"event": {"body": ""}}}}}, "responses": {
 "400": {"content": {"application/json": {"example": {"message": "event is missing"}}}},
 "422": {"content": {"application/json": {"example":
 {"status": "Unprocessable entity", "event": {"id":  5, "body": "", "starts_at": "9:00", "valid": false}}}}}}}},
 "/api/events": {"post": {"responses": {"422": {"content": {"application/json": {"example":
 {"status": "Unprocessable entity", "event": {"id": null, "body": "", "starts_at": null, "valid": false}}}}}}}},
 "/api/free": {"get": {"parameters": [{"name": "elements", "example": "68,90"}], "responses": {"200": {"content":
 {"application/json": {"example": {"elements": [
 {"element": {"id": 68, "entity_type": "Staff", "name": "SJP", "uuid": "u1"}},
 {"element": {"id": 90, "entity_type": "Location", "name": "M5", "uuid": "u2"}}]}}}}}}},
 "/api/elements": {"get": {"parameters": [{"name": "name", "example": "SJP"}], "responses": {"200": {"content":
 {"application/json": {"example": {"elements": [{"id": 68, "entity_type": "Staff", "name": "SJP"}]}}}}}}},
 "/api/admin/import/staff": {"post": {"requestBody": {"content": {"application/x-ndjson": {"example": {"key": "17"}}}},
 "responses": {"200": {"content": {"application/json": {"example":
 {"created": 1, "updated": 0, "failed": 0, "records": [{"key": "17", "result": "created"}]}}}}}}},
 "/api/admin/audit/notes": {"get": {"responses": {"200": {"content": {"application/json": {"example":
 {"entries": [{"record": "Note:9"}]}}}}}}},
 "/api/version": {"get": {"responses": {"200": {"content": {"application/json": {"example":
 {"version": "1.0.0"}}}}}}}}}`
	read := func(text string) []string {
		t.Helper()
		var d document
		errortest.None(t, json.Unmarshal([]byte(text), &d))
		faults, _ := contradictions(d)
		return faults
	}
	faults := read(sound)
	valuetest.MustSame(t, len(faults), 0, "without a contradiction: %q", faults)
	for name, c := range map[string]struct{ old, changed string }{
		"another id than the path's":     {`"event": {"id": 5,`, `"event": {"id": 6,`},
		"a change without an id":         {`"id":  5`, `"id": null`},
		"a creation with an id":          {`"id": null`, `"id": 5`},
		"another kind's missing record":  {`find Event`, `find Note`},
		"another missing record":         {`'id'=5`, `'id'=6`},
		"a field that the request lacks": {`event is missing`, `note is missing`},
		"another kind's state":           {`\"event-5`, `\"user-5`},
		"an element of another name":     {`"SJP", "uuid"`, `"XYZ", "uuid"`},
		"an element of another type":     {`"Staff", "name": "SJP", "uuid"`, `"Pupil", "name": "SJP", "uuid"`},
		"two elements with one uuid":     {`"u2"`, `"u1"`},
		"an element not asked for":       {`"68,90"`, `"68,91"`},
		"another key":                    {`[{"key": "17"`, `[{"key": "18"`},
		"another service's audit":        {`"Note:9"`, `"Event:5"`},
		"another version":                {`{"version": "1.0.0"}}}}}}}}}`, `{"version": "1.4.0"}}}}}}}}}`},
	} {
		if broken := strings.Replace(sound, c.old, c.changed, 1); broken == sound || len(read(broken)) != 1 {
			t.Errorf("%s: %q", name, read(broken))
		}
	}
}
