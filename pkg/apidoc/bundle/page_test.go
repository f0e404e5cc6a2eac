package main

import (
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestRender_ShowsAllOfAnOperationAndEscapesIt(t *testing.T) {
	document, err := merge([]byte(frame), []part{things(`
  /api/admin/a/{id}:
    parameters: [{name: id, in: path, required: true, schema: {$ref: '#/components/schemas/Id'}}]
    put:
      tags: [Things]
      operationId: putA
      summary: Put <a>
      requestBody: {content: {application/json: {
        schema: {type: object, required: [b], properties: {b: {type: object, properties: {c: {enum: [1, null]}}}}},
        example: {b: {c: 1}}}}}
      responses: {
        200: {description: It is *done*., content: {application/json: {schema: {type: [string, 'null']}}}},
        403: {description: No.}}
`)})
	errortest.None(t, err)
	out, err := render(document, "p{}", "let a = 1 < 2;")
	errortest.None(t, err)
	for _, want := range []string{
		"<style>p{}</style>", "<script>let a = 1 < 2;</script>", "Some <em>words</em>.",
		`<article id="putA">`, "Put &lt;a&gt;",
		"<code>/api/admin/a/{id}</code>", "session of an administrator",
		`<code>id</code> <span class="mark">required</span> <span class="place">path</span>`,
		`<a href="#record-Id">Id</a>`,
		"<code>b</code> <span class=\"mark\">required</span>", "<code>b.c</code></th>",
		"<code>1</code> | <code>null</code>",
		"It is <em>done</em>.", "string or null", "Errors: 403", "{&#34;b&#34;: {&#34;c&#34;: 1}}",
	} {
		valuetest.Has(t, string(out), want, "the page")
	}
}

func TestExample_BreaksOnlyWhatIsTooLong(t *testing.T) {
	long := strings.Repeat("x", 100)
	got := asJSON.text(object{{"a", object{{"b", []any{uint64(1), nil}}}}, {"c", []any{long, object{}}}}, "")
	want := "{\n  \"a\": {\"b\": [1, null]},\n  \"c\": [\n    \"" + long + "\",\n    {}\n  ]\n}"
	valuetest.Same(t, got, want)
}
