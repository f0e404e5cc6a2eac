package main

import (
	"bytes"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// The page's parts, as the template shows them.
type (
	page struct {
		Title, Version, Summary string
		Style                   template.CSS
		Script                  template.JS
		About                   template.HTML
		Groups                  []group
		Records                 []record
	}
	group struct {
		Name, ID   string
		About      template.HTML
		Operations []shownOperation
	}
	shownOperation struct {
		ID, Method, Path, Summary, Access string
		About                             template.HTML
		Parameters                        []field
		Body                              *message
		Answers, Errors                   []message
		Curl, Python                      string
	}
	// message is a body or an answer.
	message struct {
		Code, Media, Example string
		About, Type          template.HTML
		Headers, Fields      []field
	}
	field struct {
		Name, Place, Mark, Example string
		Type, About                template.HTML
	}
	record struct {
		Name        string
		About, Type template.HTML
		Fields      []field
		Example     string
	}
)

// Marks of fields: those that a request must have, and those that an answer may lack. An answer's schemas allow no
// other fields.
const (
	required  = "required"
	sometimes = "may be absent"
)

// render makes the page of a document: HTML with its style and script, which loads nothing else.
func render(document object, style, script string) ([]byte, error) {
	info := document.mapping("info")
	p := page{
		Title: info.text("title"), Version: info.text("version"), Summary: info.text("summary"),
		// #nosec G203 -- they are ours
		Style: template.CSS(style), Script: template.JS(script), About: markdown(info.text("description")),
	}
	all := operations(document)
	for _, value := range document.list("tags") {
		tag, _ := value.(object)
		g := group{Name: tag.text("name"), ID: anchor(tag.text("name")), About: markdown(tag.text("description"))}
		for _, o := range all {
			if o.list("tags")[0] == g.Name {
				g.Operations = append(g.Operations, show(document, o))
			}
		}
		p.Groups = append(p.Groups, g)
	}
	for _, m := range document.mapping("components").mapping("schemas") {
		schema, _ := m.value.(object)
		p.Records = append(p.Records, recordOf(m.key, schema))
	}
	slices.SortFunc(p.Records, func(a, b record) int { return strings.Compare(a.Name, b.Name) })
	shown, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = shown.Execute(&out, p)
	return out.Bytes(), err
}

func anchor(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }

func show(document object, o operation) shownOperation {
	shown := shownOperation{ID: o.text("operationId"), Method: o.method, Path: o.path, Summary: o.text("summary"),
		About: markdown(o.text("description")), Access: "session"}
	switch {
	case open(o):
		shown.Access = "no session needed"
	case strings.HasPrefix(o.path, "/api/admin/"):
		shown.Access = "session of an administrator"
	}
	for _, parameter := range parametersOf(document, o) {
		f := fieldOf(parameter.text("name"), parameter.mapping("schema"))
		f.Place, f.Example = parameter.text("in"), exampleOf(document, parameter)
		if parameter.get("required") == true {
			f.Mark = required
		}
		if about := parameter.text("description"); about != "" {
			f.About = inline(about)
		}
		shown.Parameters = append(shown.Parameters, f)
	}
	if body := o.mapping("requestBody"); body != nil {
		m := messageOf(document, body)
		if _, value := bodyOf(document, o); value != nil {
			m.Example = asJSON.text(value, "")
		}
		shown.Body = &m
	}
	for _, answer := range o.mapping("responses") {
		m := messageOf(document, document.resolve(answer.value))
		m.Code = answer.key
		if answer.key < "400" {
			shown.Answers = append(shown.Answers, m)
		} else {
			shown.Errors = append(shown.Errors, m)
		}
	}
	call := sampleOf(document, o)
	shown.Curl, shown.Python = call.curl(), call.python()
	return shown
}

// open says whether an operation needs no session.
func open(o operation) bool { return o.has("security") && len(o.list("security")) == 0 }

// parametersOf returns the parameters of an operation, those of its path first.
func parametersOf(document object, o operation) []object {
	return sequence.Map(slices.Concat(o.item.list("parameters"), o.list("parameters")), document.resolve)
}

// messageOf shows a body or an answer with its one media type, if any.
func messageOf(document, m object) message {
	shown := message{About: inline(m.text("description"))}
	for _, header := range m.mapping("headers") {
		h := document.resolve(header.value)
		f := fieldOf(header.key, h.mapping("schema"))
		f.About = inline(h.text("description"))
		shown.Headers = append(shown.Headers, f)
	}
	for _, content := range m.mapping("content") {
		media, _ := content.value.(object)
		shown.Media = content.key
		schema := media.mapping("schema")
		shown.Type = typeOf(schema)
		shown.Fields = fieldsOf("", schema)
		if media.has("example") {
			shown.Example = asJSON.text(media.get("example"), "")
		}
	}
	return shown
}

func recordOf(name string, schema object) record {
	shown := record{Name: name, About: markdown(schema.text("description")), Type: typeOf(schema),
		Fields: fieldsOf("", schema)}
	if examples := schema.list("examples"); len(examples) > 0 {
		shown.Example = asJSON.text(examples[0], "")
	}
	return shown
}

// fieldsOf lists the fields of an object and of the objects in it. Their names begin with the given name. The fields of
// a named record are shown with that record.
func fieldsOf(prefix string, schema object) []field {
	var all []field
	needed, exact := schema.list("required"), schema.get("additionalProperties") == false
	for _, m := range schema.mapping("properties") {
		property, _ := m.value.(object)
		f := fieldOf(prefix+m.key, property)
		switch always := slices.Contains(needed, any(m.key)); {
		case always && !exact:
			f.Mark = required
		case !always && exact:
			f.Mark = sometimes
		}
		all = append(all, f)
		all = append(all, fieldsOf(prefix+m.key+".", property)...)
		if items := property.mapping("items"); items != nil {
			all = append(all, fieldsOf(prefix+m.key+"[].", items)...)
		}
	}
	for _, value := range schema.list("allOf") {
		if more, _ := value.(object); more != nil {
			all = append(all, fieldsOf(prefix, more)...)
		}
	}
	return all
}

func fieldOf(name string, schema object) field {
	return field{Name: name, Type: typeOf(schema), About: inline(schema.text("description"))}
}

// typeOf describes in a few words what a schema allows; records are named and linked.
func typeOf(schema object) template.HTML {
	return template.HTML(words(schema)) // #nosec G203 -- words escapes
}

func words(schema object) string {
	if reference := schema.text("$ref"); reference != "" {
		name := reference[strings.LastIndex(reference, "/")+1:]
		return fmt.Sprintf(`<a href="#record-%s">%s</a>`, name, name)
	}
	for _, choice := range []string{"oneOf", "anyOf"} {
		if schema.has(choice) {
			return choices(schema.list(choice))
		}
	}
	switch {
	case schema.has("allOf"):
		first, _ := schema.list("allOf")[0].(object)
		return words(first) + demands(schema.list("allOf")[1:])
	case schema.has("const"):
		return code(schema.get("const"))
	case schema.has("enum"):
		return strings.Join(sequence.Map(schema.list("enum"), code), " | ")
	}
	return typed(schema)
}

func choices(list []any) string {
	var all []string
	for _, value := range list {
		choice, _ := value.(object)
		if one := words(choice); !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return strings.Join(all, " or ")
}

// demands returns which fields a schema requires beyond the one that it extends.
func demands(list []any) string {
	var needs []string
	for _, value := range list {
		more, _ := value.(object)
		needs = append(needs, names(more.list("required"))...)
		var ways []string
		for _, value := range more.list("anyOf") {
			way, _ := value.(object)
			ways = append(ways, strings.Join(names(way.list("required")), " with "))
		}
		if len(ways) > 0 {
			needs = append(needs, strings.Join(ways, " or "))
		}
	}
	if len(needs) == 0 {
		return ""
	}
	return "; needs " + strings.Join(needs, ", ")
}

// names shows the names of fields.
func names(list []any) (shown []string) {
	for _, name := range list {
		shown = append(shown, "<code>"+template.HTMLEscapeString(fmt.Sprint(name))+"</code>")
	}
	return shown
}

// typed describes a schema that has types.
func typed(schema object) string {
	types := schema.list("type")
	if one := schema.text("type"); one != "" {
		types = []any{one}
	}
	var all []string
	for _, name := range types {
		word := fmt.Sprint(name)
		switch {
		case word == "array" && schema.has("items"):
			word = "list of " + words(schema.mapping("items"))
		case word == "array":
			word = "list"
		case word == "object" && schema.mapping("additionalProperties") != nil:
			word = "object of " + words(schema.mapping("additionalProperties"))
		case word == "string" && schema.has("format"):
			word = template.HTMLEscapeString(schema.text("format"))
		}
		all = append(all, word)
	}
	if len(all) == 0 {
		return "anything"
	}
	return strings.Join(all, " or ") + bounds(schema)
}

// bounds describes a number's limits.
func bounds(schema object) string {
	least, most := schema.get("minimum"), schema.get("maximum")
	text := ""
	if least != nil && most != nil {
		text = fmt.Sprintf(", %v to %v", least, most)
	}
	if usual := schema.get("default"); usual != nil {
		text += fmt.Sprintf(", %v by default", usual)
	}
	return text
}

// code shows a value as JSON.
func code(value any) string {
	return "<code>" + template.HTMLEscapeString(string(encode(value))) + "</code>"
}

var tables = goldmark.New(goldmark.WithExtensions(extension.Table))

func markdown(text string) template.HTML {
	var out bytes.Buffer
	if err := tables.Convert([]byte(text), &out); err != nil {
		panic(err) // it writes into memory
	}
	return template.HTML(out.String()) // #nosec G203 -- goldmark leaves raw HTML out
}

// inline shows a text of one paragraph.
func inline(text string) template.HTML {
	shown := strings.TrimSpace(string(markdown(text)))
	shown = strings.TrimSuffix(strings.TrimPrefix(shown, "<p>"), "</p>")
	return template.HTML(shown) // #nosec G203 -- as markdown
}
