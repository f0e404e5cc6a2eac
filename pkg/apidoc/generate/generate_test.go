package main

import (
	"strings"
	"testing"
)

const frame = `
openapi: 3.1.0
info: {title: T, version: '1', description: "Some *words*."}
tags: [{name: Things}]
paths: {}
components: {schemas: {Id: {type: integer}}}
`

func things(paths string) part {
	return part{"things", []byte("paths:\n" + paths)}
}

func TestMerge_KeepsTheOrderAndFollowsTheServicesReferences(t *testing.T) {
	document, err := merge([]byte(frame), []part{things(`
  /b: {get: &get {tags: [Things], operationId: b, responses: {404: {description: no}, 200: {$ref: '#/components/responses/B'}}}}
  /a: {get: {<<: *get, operationId: a}}
components:
  responses: {B: {description: yes, content: {application/json: {schema: {$ref: '../../pkg/apidoc/components.yaml#/components/schemas/Id'}}}}}
`)})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(string(encode(document))), "")
	want := `"paths":{"/b":{"get":{"tags":["Things"],"operationId":"b","responses":{"200":{"$ref":"#/components/responses/B"},"404":{"description":"no"}}}},` +
		`"/a":{"get":{"tags":["Things"],"operationId":"a","responses":{"200":{"$ref":"#/components/responses/B"},"404":{"description":"no"}}}}},` +
		`"components":{"schemas":{"Id":{"type":"integer"}},"responses":{"B":{"description":"yes","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Id"}}}}}}`
	if !strings.Contains(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestMerge_RefusesWhatContradictsItself(t *testing.T) {
	for says, parts := range map[string][]part{
		"/a is there already":                    {things("  /a: {get: {tags: [Things], operationId: a}}\n"), things("  /a: {put: {tags: [Things], operationId: b}}\n")},
		"schemas: Id is there already":           {things("  /a: {get: {tags: [Things], operationId: a}}\ncomponents: {schemas: {Id: {}}}\n")},
		`GET /b: its operationId "a"`:            {things("  /a: {get: {tags: [Things], operationId: a}}\n  /b: {get: {tags: [Things], operationId: a}}\n")},
		"GET /a: has not one tag":                {things("  /a: {get: {tags: [Others], operationId: a}}\n")},
		"#/components/schemas/None is not there": {things("  /a: {get: {tags: [Things], operationId: a, responses: {200: {$ref: '#/components/schemas/None'}}}}\n")},
		"other.yaml#/a is not in the document":   {things("  /a: {get: {tags: [Things], operationId: a, responses: {200: {$ref: 'other.yaml#/a'}}}}\n")},
	} {
		if _, err := merge([]byte(frame), parts); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
}

func TestRender_ShowsAllOfAnOperationAndEscapesIt(t *testing.T) {
	document, err := merge([]byte(frame), []part{things(`
  /api/admin/a/{id}:
    parameters: [{name: id, in: path, required: true, schema: {$ref: '#/components/schemas/Id'}}]
    put:
      tags: [Things]
      operationId: putA
      summary: Put <a>
      requestBody: {content: {application/json: {schema: {type: object, required: [b], properties: {b: {type: object, properties: {c: {enum: [1, null]}}}}}, example: {b: {c: 1}}}}}
      responses: {200: {description: It is *done*., content: {application/json: {schema: {type: [string, 'null']}}}}, 403: {description: No.}}
`)})
	if err != nil {
		t.Fatal(err)
	}
	out, err := render(document, "p{}")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<style>p{}</style>", "Some <em>words</em>.", `<article id="putA">`, "Put &lt;a&gt;", "<code>/api/admin/a/{id}</code>", "session of an administrator",
		`<code>id</code> <span class="mark">required</span> <span class="place">path</span>`, `<a href="#record-Id">Id</a>`,
		"<code>b</code> <span class=\"mark\">required</span>", "<code>b.c</code></th>", "<code>1</code> | <code>null</code>",
		"It is <em>done</em>.", "string or null", "Without success: 403", "{&#34;b&#34;: {&#34;c&#34;: 1}}",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func TestExample_BreaksOnlyWhatIsTooLong(t *testing.T) {
	long := strings.Repeat("x", 100)
	got := example(object{{"a", object{{"b", []any{uint64(1), nil}}}}, {"c", []any{long, object{}}}}, "")
	want := "{\n  \"a\": {\"b\": [1, null]},\n  \"c\": [\n    \"" + long + "\",\n    {}\n  ]\n}"
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
