package main

import (
	"bytes"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
)

// The page's parts, as the template shows them.
type (
	page struct {
		Title, Version, Summary string
		Style                   template.CSS
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
		Answers, Refusals                 []message
	}
	// message is a body or an answer.
	message struct {
		Code, Media, Example string
		About, Type          template.HTML
		Headers, Fields      []field
	}
	field struct {
		Name, Place, Mark string
		Type, About       template.HTML
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

// renderer shows a document.
type renderer struct {
	document object
	fault    error // the first one
}

// render makes the page of a document: plain HTML with its style, which loads nothing else.
func render(document object, style string) ([]byte, error) {
	r := &renderer{document: document}
	info := document.mapping("info")
	p := page{
		Title: info.text("title"), Version: info.text("version"), Summary: info.text("summary"),
		Style: template.CSS(style), About: r.markdown(info.text("description")), // #nosec G203 -- it is ours
	}
	all := operations(document)
	for _, value := range document.list("tags") {
		tag, _ := value.(object)
		g := group{Name: tag.text("name"), ID: anchor(tag.text("name")), About: r.markdown(tag.text("description"))}
		for _, o := range all {
			if o.list("tags")[0] == g.Name {
				g.Operations = append(g.Operations, r.operation(o))
			}
		}
		p.Groups = append(p.Groups, g)
	}
	for _, m := range document.mapping("components").mapping("schemas") {
		schema, _ := m.value.(object)
		p.Records = append(p.Records, r.record(m.key, schema))
	}
	slices.SortFunc(p.Records, func(a, b record) int { return strings.Compare(a.Name, b.Name) })
	if r.fault != nil {
		return nil, r.fault
	}
	shown, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = shown.Execute(&out, p)
	return out.Bytes(), err
}

func anchor(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }

func (r *renderer) operation(o operation) shownOperation {
	shown := shownOperation{
		ID: o.text(
			"operationId",
		),
		Method:  o.method,
		Path:    o.path,
		Summary: o.text("summary"),
		About:   r.markdown(o.text("description")),
		Access:  "session",
	}
	switch {
	case o.has("security") && len(o.list("security")) == 0:
		shown.Access = "no session needed"
	case strings.HasPrefix(o.path, "/api/admin/"):
		shown.Access = "session of an administrator"
	}
	for _, value := range append(slices.Clone(o.item.list("parameters")), o.list("parameters")...) {
		parameter := r.resolve(value)
		f := r.field(parameter.text("name"), parameter.mapping("schema"))
		f.Place = parameter.text("in")
		if parameter.get("required") == true {
			f.Mark = required
		}
		if about := parameter.text("description"); about != "" {
			f.About = r.inline(about)
		}
		shown.Parameters = append(shown.Parameters, f)
	}
	if body := o.mapping("requestBody"); body != nil {
		m := r.message(body)
		shown.Body = &m
	}
	for _, answer := range o.mapping("responses") {
		m := r.message(r.resolve(answer.value))
		m.Code = answer.key
		if answer.key < "400" {
			shown.Answers = append(shown.Answers, m)
		} else {
			shown.Refusals = append(shown.Refusals, m)
		}
	}
	return shown
}

// message shows a body or an answer with its one media type, if any.
func (r *renderer) message(m object) message {
	shown := message{About: r.inline(m.text("description"))}
	for _, header := range m.mapping("headers") {
		h := r.resolve(header.value)
		f := r.field(header.key, h.mapping("schema"))
		f.About = r.inline(h.text("description"))
		shown.Headers = append(shown.Headers, f)
	}
	for _, content := range m.mapping("content") {
		media, _ := content.value.(object)
		shown.Media = content.key
		schema := media.mapping("schema")
		shown.Type = r.typeOf(schema)
		shown.Fields = r.fields("", schema)
		if media.has("example") {
			shown.Example = example(media.get("example"), "")
		}
	}
	return shown
}

func (r *renderer) record(name string, schema object) record {
	shown := record{
		Name:   name,
		About:  r.markdown(schema.text("description")),
		Type:   r.typeOf(schema),
		Fields: r.fields("", schema),
	}
	if examples := schema.list("examples"); len(examples) > 0 {
		shown.Example = example(examples[0], "")
	}
	return shown
}

// fields lists the fields of an object and of the objects in it. Their names begin with the given name. The fields of
// a named record are shown with that record.
func (r *renderer) fields(prefix string, schema object) []field {
	var all []field
	needed, exact := schema.list("required"), schema.get("additionalProperties") == false
	for _, m := range schema.mapping("properties") {
		property, _ := m.value.(object)
		f := r.field(prefix+m.key, property)
		switch always := slices.Contains(needed, any(m.key)); {
		case always && !exact:
			f.Mark = required
		case !always && exact:
			f.Mark = sometimes
		}
		all = append(all, f)
		all = append(all, r.fields(prefix+m.key+".", property)...)
		if items := property.mapping("items"); items != nil {
			all = append(all, r.fields(prefix+m.key+"[].", items)...)
		}
	}
	for _, value := range schema.list("allOf") {
		if more, _ := value.(object); more != nil {
			all = append(all, r.fields(prefix, more)...)
		}
	}
	return all
}

func (r *renderer) field(name string, schema object) field {
	return field{Name: name, Type: r.typeOf(schema), About: r.inline(schema.text("description"))}
}

// resolve returns a value, or what it refers to.
func (r *renderer) resolve(value any) object {
	o, _ := value.(object)
	reference := o.text("$ref")
	if reference == "" {
		return o
	}
	target, err := r.document.follow(reference)
	if err != nil && r.fault == nil {
		r.fault = err
	}
	return target
}

// typeOf describes in a few words what a schema allows; records are named and linked.
func (r *renderer) typeOf(schema object) template.HTML {
	return template.HTML(r.words(schema)) // #nosec G203 -- words escapes
}

func (r *renderer) words(schema object) string {
	if reference := schema.text("$ref"); reference != "" {
		name := reference[strings.LastIndex(reference, "/")+1:]
		return fmt.Sprintf(`<a href="#record-%s">%s</a>`, name, name)
	}
	for _, choice := range []string{"oneOf", "anyOf"} {
		if schema.has(choice) {
			return r.choices(schema.list(choice))
		}
	}
	switch {
	case schema.has("allOf"):
		first, _ := schema.list("allOf")[0].(object)
		return r.words(first) + r.demands(schema.list("allOf")[1:])
	case schema.has("const"):
		return code(schema.get("const"))
	case schema.has("enum"):
		var values []string
		for _, value := range schema.list("enum") {
			values = append(values, code(value))
		}
		return strings.Join(values, " | ")
	}
	return r.typed(schema)
}

func (r *renderer) choices(list []any) string {
	var names []string
	for _, value := range list {
		choice, _ := value.(object)
		if name := r.words(choice); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

// demands returns which fields a schema requires beyond the one that it extends.
func (r *renderer) demands(list []any) string {
	var needs []string
	for _, value := range list {
		more, _ := value.(object)
		for _, name := range more.list("required") {
			needs = append(needs, "<code>"+template.HTMLEscapeString(fmt.Sprint(name))+"</code>")
		}
		var ways []string
		for _, value := range more.list("anyOf") {
			way, _ := value.(object)
			var names []string
			for _, name := range way.list("required") {
				names = append(names, "<code>"+template.HTMLEscapeString(fmt.Sprint(name))+"</code>")
			}
			ways = append(ways, strings.Join(names, " with "))
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

// typed describes a schema that has types.
func (r *renderer) typed(schema object) string {
	types := schema.list("type")
	if one := schema.text("type"); one != "" {
		types = []any{one}
	}
	var words []string
	for _, name := range types {
		word := fmt.Sprint(name)
		switch {
		case word == "array" && schema.has("items"):
			word = "list of " + r.words(schema.mapping("items"))
		case word == "array":
			word = "list"
		case word == "object" && schema.mapping("additionalProperties") != nil:
			word = "object of " + r.words(schema.mapping("additionalProperties"))
		case word == "string" && schema.has("format"):
			word = template.HTMLEscapeString(schema.text("format"))
		}
		words = append(words, word)
	}
	if len(words) == 0 {
		return "anything"
	}
	return strings.Join(words, " or ") + bounds(schema)
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

func (r *renderer) markdown(text string) template.HTML {
	var out bytes.Buffer
	if err := goldmark.Convert([]byte(text), &out); err != nil && r.fault == nil {
		r.fault = err
	}
	return template.HTML(out.String()) // #nosec G203 -- goldmark leaves raw HTML out
}

// inline shows a text of one paragraph.
func (r *renderer) inline(text string) template.HTML {
	shown := strings.TrimSpace(string(r.markdown(text)))
	shown = strings.TrimSuffix(strings.TrimPrefix(shown, "<p>"), "</p>")
	return template.HTML(shown) // #nosec G203 -- as markdown
}

// exampleWidth is how many characters of an example a line may have, if the example can be broken.
const exampleWidth = 104

// example writes a value as JSON for readers: what fits into a line is on one.
func example(value any, indent string) string {
	line := oneLine(value)
	if len(indent)+len(line) <= exampleWidth {
		return line
	}
	var lines []string
	deeper := indent + "  "
	switch v := value.(type) {
	case object:
		for _, m := range v {
			lines = append(lines, deeper+oneLine(m.key)+": "+example(m.value, deeper))
		}
		return "{\n" + strings.Join(lines, ",\n") + "\n" + indent + "}"
	case []any:
		for _, item := range v {
			lines = append(lines, deeper+example(item, deeper))
		}
		return "[\n" + strings.Join(lines, ",\n") + "\n" + indent + "]"
	}
	return line
}

func oneLine(value any) string {
	var parts []string
	switch v := value.(type) {
	case object:
		for _, m := range v {
			parts = append(parts, oneLine(m.key)+": "+oneLine(m.value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		for _, item := range v {
			parts = append(parts, oneLine(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return string(encode(value))
}
