package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
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
  /b: {get: &get {tags: [Things], operationId: b, responses: {
    404: {description: no}, 200: {$ref: '#/components/responses/B'}}}}
  /a: {get: {<<: *get, operationId: a}}
components:
  responses: {B: {description: yes, content: {application/json: {
    schema: {$ref: 'components.yaml#/components/schemas/Id'}}}}}
`)})
	errortest.None(t, err)
	got := strings.Join(strings.Fields(string(encode(document))), "")
	want := `"paths":{"/b":{"get":{"tags":["Things"],"operationId":"b",` +
		`"responses":{"200":{"$ref":"#/components/responses/B"},"404":{"description":"no"}}}},` +
		`"/a":{"get":{"tags":["Things"],"operationId":"a","responses":{"200":{"$ref":"#/components/responses/B"},` +
		`"404":{"description":"no"}}}}},` +
		`"components":{"schemas":{"Id":{"type":"integer"}},"responses":{"B":{"description":"yes",` +
		`"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Id"}}}}}}`
	valuetest.Has(t, got, want)
}

func TestMerge_AnAnswerWithTheNameOfASchemaGetsAnother(t *testing.T) {
	document, err := merge([]byte(frame), []part{things(`
  /a: {get: {tags: [Things], operationId: a, parameters: [{$ref: '#/components/parameters/Id'}],
    responses: {200: {$ref: '#/components/responses/B'}, 400: {$ref: '#/components/responses/C'}}}}
components:
  schemas: {B: {type: string}}
  parameters: {Id: {name: id, in: query, schema: {$ref: 'components.yaml#/components/schemas/Id'}}}
  responses: {B: {description: b}, C: {description: c}}
`)})
	errortest.None(t, err)
	got := strings.Join(strings.Fields(string(encode(document))), "")
	for _, want := range []string{
		`"200":{"$ref":"#/components/responses/BReply"},"400":{"$ref":"#/components/responses/C"}`,
		`"parameters":[{"$ref":"#/components/parameters/IdParameter"}]`,
		`"schema":{"$ref":"#/components/schemas/Id"}`,
		`"responses":{"BReply":{"description":"b"},"C":{"description":"c"}}`,
	} {
		valuetest.Has(t, got, want)
	}
}

func TestMerge_RefusesWhatContradictsItself(t *testing.T) {
	for says, parts := range map[string][]part{
		"/a is there already": {things("  /a: {get: {tags: [Things], operationId: a}}\n"),
			things("  /a: {put: {tags: [Things], operationId: b}}\n")},
		"schemas: Id is there already": {things(
			"  /a: {get: {tags: [Things], operationId: a}}\ncomponents: {schemas: {Id: {}}}\n")},
		`GET /b: its operationId "a"`: {things(
			"  /a: {get: {tags: [Things], operationId: a}}\n  /b: {get: {tags: [Things], operationId: a}}\n")},
		"GET /a: needs one tag": {things("  /a: {get: {tags: [Others], operationId: a}}\n")},
		"#/components/schemas/None is not there": {things(
			"  /a: {get: {tags: [Things], operationId: a, responses: {200: {$ref: '#/components/schemas/None'}}}}\n")},
		"other.yaml#/a is not in the document": {things(
			"  /a: {get: {tags: [Things], operationId: a, responses: {200: {$ref: 'other.yaml#/a'}}}}\n")},
	} {
		errortest.Says(t, errortest.Of(merge([]byte(frame), parts)), says)
	}
}

func TestMerge_TheTableOfPermissionsStandsWhereAFileSaysEach(t *testing.T) {
	tree, err := parse([]byte(`{required: [a, each permission], properties: {b: 1, each permission: {is: "{may}"}},
  example: {admin: true, each permission: false}}`))
	errortest.None(t, err)
	required, properties, example := []string{`"a"`}, []string{`"b":1`}, []string{}
	for _, p := range principal.Table() {
		required = append(required, fmt.Sprintf("%q", p.Name))
		properties = append(properties, fmt.Sprintf(`%q:{"is":%q}`, p.Name, p.May))
		example = append(example, fmt.Sprintf(`%q:%t`, p.Name, p.Name == "admin"))
	}
	var got bytes.Buffer
	errortest.None(t, json.Compact(&got, encode(withPermissions(tree))))
	want := fmt.Sprintf(`{"required":[%s],"properties":{%s},"example":{%s}}`, strings.Join(required, ","),
		strings.Join(properties, ","), strings.Join(example, ","))
	valuetest.Same(t, got.String(), want)
}
