package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// kind is that of elements in entity tags.
const kind = "element"

// list answers GET /api/admin/elements, by entity_type, current and key where given. One read, of the elements that it returns.
func (h handlers) list(c *fiber.Ctx) error {
	after, limit, err := web.Page(c)
	if err != nil {
		return err
	}
	f := element.Filter{EntityType: c.Query("entity_type"), Key: c.Query("key"), After: after, Limit: limit}
	if _, known := element.TypeOf(f.EntityType); f.EntityType != "" && !known {
		return problem.New(problem.Malformed, "entity_type is not an entity type")
	}
	switch text := c.Query("current"); text {
	case "":
	case "true", "false":
		current := text == "true"
		f.Current = &current
	default:
		return problem.New(problem.Malformed, "current is not true or false")
	}
	found, next, err := h.elements.List(c.UserContext(), f)
	if err != nil {
		return err
	}
	return web.OK(c, web.Field{Name: "elements", Value: recordsOf(found)}, web.Next(next))
}

// create answers POST /api/admin/elements. Two round trips for ids and one insert.
func (h handlers) create(c *fiber.Ctx) error {
	fields, err := web.Wrapped(c, "element")
	if err != nil {
		return err
	}
	e, err := h.elements.Create(c.UserContext(), readDraft(fields))
	if err != nil {
		e.ID = 0
		return refused(c, e, err)
	}
	return web.Answer(c, fiber.StatusCreated, "Created", web.Field{Name: "element", Value: recordOf(e)})
}

// get answers GET /api/admin/elements/ID. One read.
func (h handlers) get(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	e, err := h.elements.Get(c.UserContext(), id)
	if err != nil {
		return err
	}
	return show(c, e)
}

// show answers with an element, tagged.
func show(c *fiber.Ctx, e element.Element) error {
	return web.Record(c, web.State{Kind: kind, ID: e.ID, Version: e.Version}, web.Field{Name: "element", Value: recordOf(e)})
}

// patch answers PATCH /api/admin/elements/ID. One read and one versioned write.
func (h handlers) patch(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	fields, err := web.Wrapped(c, "element")
	if err != nil {
		return err
	}
	match, err := web.IfMatch(c, kind, id)
	if err != nil {
		return err
	}
	e, err := h.elements.Patch(c.UserContext(), id, readDraft(fields), match)
	if err != nil {
		return refused(c, e, err)
	}
	return show(c, e)
}

// refused answers an invalid element with the element as it would be.
func refused(c *fiber.Ctx, e element.Element, err error) error {
	if !problem.Is(err, problem.Invalid) {
		return err
	}
	r := recordOf(e)
	r.Valid, r.Errors = false, problem.As(err).Fields
	return web.InvalidRecord(c, "element", r)
}

// retire answers DELETE /api/admin/elements/ID. One read and one versioned write.
func (h handlers) retire(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	match, err := web.IfMatch(c, kind, id)
	if err != nil {
		return err
	}
	if err := h.elements.Retire(c.UserContext(), id, match); err != nil {
		return err
	}
	return web.OK(c)
}

// readDraft reads the fields of an element. One that is null is emptied.
func readDraft(fields web.Object) element.Draft {
	d := element.Draft{Texts: map[string]string{}, Faults: problem.Fields{}}
	d.EntityType = fields.Text("entity_type", d.Faults)
	d.UUID = fields.Text("uuid", d.Faults)
	d.Current = fields.Bool("current", d.Faults)
	d.Resource = fields.Bool("resource", d.Faults)
	d.MakePublic = fields.Bool("make_public", d.Faults)
	for _, name := range element.Texts() {
		if text := fields.Text(name, d.Faults); text != nil {
			d.Texts[name] = *text
		} else if fields.Null(name) {
			d.Texts[name] = ""
		}
	}
	return d
}

// administrators answers GET /api/admin/elements/ID/administrators. One read and a call to identity.
func (h handlers) administrators(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	after, limit, err := web.Page(c)
	if err != nil {
		return err
	}
	users, next, err := h.elements.Administrators(c.UserContext(), id, after, limit)
	if err != nil {
		return err
	}
	return web.OK(c, web.Field{Name: "administrators", Value: users}, web.Next(next))
}

// addAdministrator answers PUT /api/admin/elements/ID/administrators/USER_ID. A call to identity, two reads and one versioned write.
func (h handlers) addAdministrator(c *fiber.Ctx) error {
	id, userID, err := pathIDs(c, "user")
	if err != nil {
		return err
	}
	user, err := h.elements.AddAdministrator(c.UserContext(), id, userID)
	if err != nil {
		return err
	}
	return web.OK(c, web.Field{Name: "administrator", Value: user})
}

// removeAdministrator answers DELETE /api/admin/elements/ID/administrators/USER_ID. One read and one versioned write.
func (h handlers) removeAdministrator(c *fiber.Ctx) error {
	id, userID, err := pathIDs(c, "user")
	if err != nil {
		return err
	}
	if err := h.elements.RemoveAdministrator(c.UserContext(), id, userID); err != nil {
		return err
	}
	return web.OK(c)
}

// pathIDs reads the element's id and the second one.
func pathIDs(c *fiber.Ctx, second string) (id, other int64, err error) {
	if id, err = web.PathID(c, "id"); err != nil {
		return 0, 0, err
	}
	other, err = web.PathID(c, second)
	return id, other, err
}
