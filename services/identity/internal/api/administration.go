package api

import (
	"encoding/json"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// list answers GET of the users, of all or of one element, page by page.
func (h handlers) list(c *fiber.Ctx) error {
	after, limit, err := web.PageFrom(c)
	if err != nil {
		return err
	}
	element, err := web.QueryID(c, "element")
	if err != nil {
		return err
	}
	found, next, err := h.users.List(c.UserContext(), web.Principal(c), element, after, limit)
	return web.OKList(c, "users", found, next, err, accountOf, func(u user.User) int64 { return u.ID })
}

// get answers GET of a user.
func (h handlers) get(c *fiber.Ctx, id int64) error {
	u, err := h.users.Get(c.UserContext(), web.Principal(c), id)
	if err != nil {
		return err
	}
	return show(c, u)
}

// create answers POST of a user. This answer and that of renewUUID are the only ones with a uuid in them.
func (h handlers) create(c *fiber.Ctx) error {
	fields, err := web.Wrapped(c, "user")
	if err != nil {
		return err
	}
	e := readEdit(fields)
	u, uuid, err := h.users.Create(c.UserContext(), web.Principal(c), e, fields.Text("uuid", e.Faults))
	if err != nil {
		return refuse(c, err)
	}
	a := accountOf(u)
	if !web.DryRun(c) && uuid != "" {
		a.UUID = &uuid
	}
	return created(c, u.ID, web.Field{Name: "user", Value: a})
}

func created(c *fiber.Ctx, user int64, field web.Field) error {
	return web.Created(c, fmt.Sprintf("/api/admin/users/%d", user), field)
}

// change answers PATCH of a user.
func (h handlers) change(c *fiber.Ctx) error {
	change, err := web.PathChange(c, kind)
	if err != nil {
		return err
	}
	e := readEdit(change.Fields)
	if change.Fields.Has("uuid") {
		e.Faults.Add("uuid", "is renewed by POST to the user's uuid")
	}
	u, err := h.users.Change(c.UserContext(), web.Principal(c), change.ID, e, change.Match)
	if err != nil {
		return refuse(c, err)
	}
	return show(c, u)
}

// deactivate answers DELETE of a user.
func (h handlers) deactivate(c *fiber.Ctx) error {
	id, match, err := web.PathMatch(c, kind)
	if err != nil {
		return err
	}
	return web.OKUnless(c, h.users.Deactivate(c.UserContext(), web.Principal(c), id, match))
}

// mayHaveUUIDAgain says whether a caller who got a user's uuid may get it again.
func (h handlers) mayHaveUUIDAgain(c *fiber.Ctx, answer []byte) error {
	var made struct{ User struct{ ID int64 } }
	if err := json.Unmarshal(answer, &made); err != nil {
		return err
	}
	if made.User.ID == 0 {
		id, err := web.PathID(c, "id")
		if err != nil {
			return err
		}
		made.User.ID = id
	}
	return h.users.MayHandOver(c.UserContext(), web.Principal(c), made.User.ID)
}

// endSessions answers DELETE of a user's sessions.
func (h handlers) endSessions(c *fiber.Ctx, id int64) error {
	return web.OKUnless(c, h.users.EndSessions(c.UserContext(), web.Principal(c), id))
}

// renewUUID answers POST to a user's uuid.
func (h handlers) renewUUID(c *fiber.Ctx, id int64) error {
	uuid, err := h.users.RenewUUID(c.UserContext(), web.Principal(c), id)
	if err != nil {
		return err
	}
	return created(c, id, web.Field{Name: "uuid", Value: uuid})
}
