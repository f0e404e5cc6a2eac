package api

import (
	"encoding/json"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// kind is the kind of elements in entity tags.
const kind = "element"

// list answers GET /api/admin/elements. The query may choose by type, current, key, school and unattended.
func (h handlers) list(c *fiber.Ctx) error {
	after, limit, err := web.PageFrom(c)
	if err != nil {
		return err
	}
	f := element.Listing{Filter: element.Filter{Key: c.Query("key")}, After: after, Limit: limit}
	if f.EntityType, err = queryType(c); err != nil {
		return err
	}
	if f.Current, err = queryBool(c, "current"); err != nil {
		return err
	}
	if f.SchoolID, err = web.QueryID(c, "school"); err != nil {
		return err
	}
	unattended, err := queryBool(c, "unattended")
	if err != nil {
		return err
	}
	f.Unattended = form.OrZero(unattended)
	found, next, err := h.elements.List(c.UserContext(), web.Principal(c), f)
	return web.OKList(c, "elements", found, next, err, adminFormOf, func(e element.Element) int64 { return e.ID })
}

// queryType reads an entity type from the query; "" when it is empty.
func queryType(c *fiber.Ctx) (string, error) {
	name, text, err := web.Spelled(c, "type", "entity_type")
	if _, exists := element.TypeOf(text); text != "" && !exists {
		return "", problem.New(problem.Malformed, "%s is not an entity type", name)
	}
	return text, err
}

// queryBool reads true or false from the query; nil when it is empty.
func queryBool(c *fiber.Ctx, name string) (*bool, error) {
	switch text := c.Query(name); text {
	case "":
		return nil, nil
	case "true", "false":
		return new(text == "true"), nil
	default:
		return nil, problem.New(problem.Malformed, "%s is not true or false", name)
	}
}

func (h handlers) create(c *fiber.Ctx) error {
	fields, err := web.Wrapped(c, "element")
	if err != nil {
		return err
	}
	d := readDraft(fields)
	school := form.OrZero(fields.ID("school_id", d.Faults))
	e, err := h.elements.Create(c.UserContext(), web.Principal(c), d, school)
	if err != nil {
		return answerInvalid(c, err)
	}
	shown := adminFormOf(e)
	if web.DryRun(c) && !fields.Has("uuid") { // it would be another
		shown.UUID = nil
	}
	return web.Created(c, fmt.Sprintf("/api/admin/elements/%d", e.ID), web.Field{Name: "element", Value: shown})
}

// mayHaveAgain says whether a caller who got an element, or the members of one, may get them again.
func (h handlers) mayHaveAgain(c *fiber.Ctx, answer []byte) error {
	var made struct{ Element struct{ ID int64 } }
	if err := json.Unmarshal(answer, &made); err != nil {
		return err
	}
	if made.Element.ID == 0 {
		id, err := web.PathID(c, "id")
		if err != nil {
			return err
		}
		made.Element.ID = id
	}
	_, err := h.elements.GetAdministered(c.UserContext(), web.Principal(c), made.Element.ID)
	return err
}

func (h handlers) get(c *fiber.Ctx, id int64) error {
	e, err := h.elements.GetWhole(c.UserContext(), web.Principal(c), id)
	if err != nil {
		return err
	}
	return show(c, e)
}

// show answers with an element and its entity tag.
func show(c *fiber.Ctx, e element.Element) error {
	state := web.State{Kind: kind, ID: e.ID, Version: e.Version}
	return web.Record(c, state, web.Field{Name: "element", Value: adminFormOf(e)})
}

func (h handlers) patch(c *fiber.Ctx) error {
	change, err := web.PathChange(c, kind)
	if err != nil {
		return err
	}
	e, err := h.elements.Change(c.UserContext(), web.Principal(c), change.ID, readDraft(change.Fields), change.Match)
	if err != nil {
		return answerInvalid(c, err)
	}
	return show(c, e)
}

// answerInvalid answers a record.InvalidError with the element as it would have been, and returns any other error.
func answerInvalid(c *fiber.Ctx, err error) error {
	return web.RefuseInvalid(c, "element", err, func(e element.Element, faults problem.Fields) adminForm {
		f := adminFormOf(e)
		f.Valid, f.Errors = false, faults
		return f
	})
}

func (h handlers) retire(c *fiber.Ctx) error {
	id, match, err := web.PathMatch(c, kind)
	if err != nil {
		return err
	}
	return web.OKUnless(c, h.elements.Retire(c.UserContext(), web.Principal(c), id, match))
}

// withIDs is web.WithID for a path that has a second id.
func withIDs(second string, handle func(c *fiber.Ctx, id, other int64) error) fiber.Handler {
	return web.WithID(func(c *fiber.Ctx, id int64) error {
		other, err := web.PathID(c, second)
		if err != nil {
			return err
		}
		return handle(c, id, other)
	})
}
