package web

import (
	"errors"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Change is a request to change one record.
type Change struct {
	ID     int64        // of the path
	Fields Object       // of the body, below the name of the record's kind
	Match  record.Match // what If-Match demands
}

// PathChange reads a request that changes the record of that kind ("event", "note", …) whose id is in the path. Errors
// are as for PathID, Wrapped and IfMatch.
func PathChange(c *fiber.Ctx, kind string) (Change, error) {
	id, fields, err := PathFields(c, kind)
	if err != nil {
		return Change{}, err
	}
	match, err := IfMatch(c, kind, id)
	return Change{id, fields, match}, err
}

// PathFields returns the id in the path and the body's fields below that name, for records that have no entity tag.
// Errors are as for PathID and Wrapped.
func PathFields(c *fiber.Ctx, name string) (int64, Object, error) {
	id, err := PathID(c, "id")
	if err != nil {
		return 0, nil, err
	}
	fields, err := Wrapped(c, name)
	return id, fields, err
}

// PathMatch returns the id in the path and If-Match for the record of that kind. Errors are as for PathID and IfMatch.
func PathMatch(c *fiber.Ctx, kind string) (int64, record.Match, error) {
	id, err := PathID(c, "id")
	if err != nil {
		return 0, record.Match{}, err
	}
	match, err := IfMatch(c, kind, id)
	return id, match, err
}

// PathPage returns the id in the path and the page asked for. Errors are as for PathID and Page.
func PathPage(c *fiber.Ctx) (id, after int64, limit int, err error) {
	if id, err = PathID(c, "id"); err != nil {
		return 0, 0, 0, err
	}
	after, limit, err = Page(c)
	return id, after, limit, err
}

// RefuseInvalid answers a record.InvalidError of T with 422 and the record, below that name, in the form that shape
// gives it with its faults, each by the name by which the field was sent. It returns any other error.
func RefuseInvalid[T, F any](c *fiber.Ctx, name string, err error, shape func(T, problem.Fields) F) error {
	invalid, ok := errors.AsType[*record.InvalidError[T]](err)
	if !ok {
		return err
	}
	faults := invalid.Faults
	if sent, err := Wrapped(c, name); err == nil {
		faults = make(problem.Fields, len(invalid.Faults))
		for field, messages := range invalid.Faults {
			faults[sent.Sent(field)] = messages
		}
	}
	return InvalidRecord(c, name, shape(invalid.Record, faults))
}
