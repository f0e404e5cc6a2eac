package web

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
)

// ParseID reads an id that a record can have: digits that fit 63 bits, not 0, without leading zeros, signs or spaces.
func ParseID(text string) (int64, bool) {
	if text == "" || text[0] == '0' {
		return 0, false
	}
	for _, r := range []byte(text) {
		if r < '0' || r > '9' {
			return 0, false
		}
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, false
	}
	return id, true
}

// ParseIDs reads ids that commas separate, each once and in their order. Malformed, with the parameter's name, when one
// is invalid or there are more than most.
func ParseIDs(name, text string, most int) ([]int64, error) {
	var ids []int64
	for word := range strings.SplitSeq(text, ",") {
		id, ok := ParseID(strings.TrimSpace(word))
		if !ok {
			return nil, problem.New(problem.Malformed, "%s is not a list of ids", name)
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		if len(ids) > most {
			return nil, problem.New(problem.Malformed, "%s has more than %d ids", name, most)
		}
	}
	return ids, nil
}

// PathID returns the id in the path's parameter of that name, as ParseID reads it or 0, which no record has; NotFound
// when it is neither (decisions, part 1).
func PathID(c *fiber.Ctx, name string) (int64, error) {
	text := c.Params(name)
	id, ok := ParseID(text)
	if !ok && text != "0" {
		return 0, problem.New(problem.NotFound, "")
	}
	return id, nil
}

// WithID is the handler of a path whose parameter id it reads, as PathID does.
func WithID(handle func(c *fiber.Ctx, id int64) error) fiber.Handler {
	return func(c *fiber.Ctx) error {
		id, err := PathID(c, "id")
		if err != nil {
			return err
		}
		return handle(c, id)
	}
}

// Query returns the query's value of that name, "" when absent, and a Malformed problem when it is not UTF-8.
func Query(c *fiber.Ctx, name string) (string, error) {
	value := c.Query(name)
	if !utf8.ValidString(value) {
		return "", problem.New(problem.Malformed, "%s is not UTF-8", name)
	}
	return value, nil
}

// Object is a JSON object of a request: its fields by their exact names, not yet interpreted. A field that is null
// counts as absent, except for Null.
type Object map[string]json.RawMessage

// Body reads the request's body as one JSON object. Anything else, or anything after it, is Malformed.
func Body(c *fiber.Ctx) (Object, error) {
	if o, ok := c.Locals(bodyKey).(Object); ok {
		return o, nil
	}
	o, err := ParseObject(c.Request().Body())
	if err != nil {
		return nil, problem.New(problem.Malformed, "the body is not a JSON object")
	}
	return o, nil
}

// readNothing is Malformed unless the body is empty, null or one JSON object, for calls that don't read it.
func readNothing(c *fiber.Ctx) error {
	text := bytes.TrimSpace(c.Request().Body())
	if len(text) > 0 && string(text) != "null" {
		if _, err := Body(c); err != nil {
			return err
		}
	}
	return c.Next()
}

// ParseObject reads text as one JSON object in UTF-8 with nothing after it.
func ParseObject(text []byte) (Object, error) {
	if !utf8.Valid(text) {
		return nil, problem.New(problem.Malformed, "not UTF-8")
	}
	var o Object
	if err := json.Unmarshal(text, &o); err != nil || o == nil {
		return nil, problem.New(problem.Malformed, "not a JSON object")
	}
	return o, nil
}

// Wrapped reads the request's body and returns the object below the wrapper of that name ("event", "note", …). It is
// Malformed when there is none.
func Wrapped(c *fiber.Ctx, name string) (Object, error) {
	body, err := Body(c)
	if err != nil {
		return nil, err
	}
	return body.Object(name)
}

// Object returns the object in that field, as Spell leaves it; Malformed when there is none.
func (o Object) Object(name string) (Object, error) {
	inner, err := ParseObject(o[name])
	if err != nil {
		return nil, problem.New(problem.Malformed, "%s is missing", name)
	}
	return inner, inner.Spell()
}

// contracts are the names that the contract has for a field, by Belfry's own name of it. Requests may use any.
var contracts = map[string][]string{"type": {"entity_type"}, "category": {"event_category_id", "eventcategory_id"}}

// Spell gives fields that were sent by Belfry's own name the contract's first name too, by which they are read.
// Malformed when a field was sent by two names with different values.
func (o Object) Spell() error {
	for own, names := range contracts {
		if !o.isOwn(own) {
			continue
		}
		for _, name := range names {
			if o.Has(name) && unquoted(o[name]) != unquoted(o[own]) {
				return problem.New(problem.Malformed, "%s and %s differ", own, name)
			}
		}
		o[names[0]] = o[own]
	}
	return nil
}

// Sent returns the name by which a field was sent that the contract gives this name.
func (o Object) Sent(name string) string {
	for own, names := range contracts {
		if names[0] == name && o.isOwn(own) {
			return own
		}
	}
	return name
}

// isOwn says whether a field was sent by Belfry's own name. A null counts only if no other name has a value.
func (o Object) isOwn(own string) bool {
	return o.Has(own) || o.Null(own) && !slices.ContainsFunc(contracts[own], o.Has)
}

// Has says whether the field is there and not null.
func (o Object) Has(name string) bool { return len(o[name]) > 0 && !o.Null(name) }

// Null says whether the field is there and null.
func (o Object) Null(name string) bool { return bytes.Equal(o[name], []byte("null")) }

// Text returns the string in that field, nil when absent. Another type is a fault of the field.
func (o Object) Text(name string, faults problem.Fields) *string {
	if !o.Has(name) {
		return nil
	}
	var value string
	if json.Unmarshal(o[name], &value) != nil {
		faults.Add(name, problem.NotAString)
		return nil
	}
	return &value
}

// Bool returns the boolean in that field, nil when absent. The strings true and false count as well; another type is
// a fault.
func (o Object) Bool(name string, faults problem.Fields) *bool {
	if !o.Has(name) {
		return nil
	}
	var value bool
	switch unquoted(o[name]) {
	case "true":
		value = true
	case "false":
	default:
		faults.Add(name, problem.NotABoolean)
		return nil
	}
	return &value
}

// ID returns the id in that field, nil when absent or an empty string. Ids may be numbers or strings of digits
// (decisions, part 1); anything else is a fault of the field, with the message that a record that does not exist
// gets.
func (o Object) ID(name string, faults problem.Fields) *int64 {
	if !o.Has(name) || string(o[name]) == `""` {
		return nil
	}
	id, ok := ParseBodyID(o[name])
	if !ok {
		faults.Add(name, problem.MustExist)
		return nil
	}
	return &id
}

// ParseBodyID reads an id of a body: a number or a string of digits.
func ParseBodyID(raw json.RawMessage) (int64, bool) {
	return ParseID(unquoted(raw))
}

// unquoted returns the text of a string, and the JSON of any other value; "" for a string that can't be read.
func unquoted(raw json.RawMessage) string {
	text := string(raw)
	if len(text) > 0 && text[0] == '"' && json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// Int returns the whole number in that field, nil when absent; strings of digits count. Anything else is a fault of
// the field.
func (o Object) Int(name string, faults problem.Fields) *int {
	if !o.Has(name) {
		return nil
	}
	value, err := strconv.ParseInt(unquoted(o[name]), 10, 64)
	if err != nil || value > math.MaxInt32 || value < math.MinInt32 {
		faults.Add(name, problem.NotANumber)
		return nil
	}
	number := int(value)
	return &number
}
