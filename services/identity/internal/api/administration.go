package api

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/importer"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// kind is that of users in entity tags.
const kind = "user"

// account is a user as administrators see it.
type account struct {
	ID          *int64                `json:"id"`  // null: never stored
	Key         *string               `json:"key"` // of the import; null when made by hand
	Name        string                `json:"name"`
	Email       string                `json:"email"`
	Kind        principal.Kind        `json:"kind"`
	ElementID   *int64                `json:"element_id"` // null: is no element
	Active      bool                  `json:"active"`
	Permissions principal.Permissions `json:"permissions"` // as given, without implied ones
	UUID        *string               `json:"uuid,omitempty"`
	Valid       bool                  `json:"valid"`
	Errors      problem.Fields        `json:"errors,omitempty"`
}

func accountOf(u user.User) account {
	a := account{Name: u.Name, Email: u.Email, Kind: u.Kind, Active: u.Active, Permissions: u.Permissions, Valid: true}
	if u.ID != 0 {
		a.ID = &u.ID
	}
	if u.Key != "" {
		a.Key = &u.Key
	}
	if u.ElementID != 0 {
		a.ElementID = &u.ElementID
	}
	return a
}

// answerAccount answers with the user; with the errors in it when it is invalid.
func answerAccount(c *fiber.Ctx, u user.User, err error) error {
	a := accountOf(u)
	if problem.Is(err, problem.Invalid) {
		a.Valid, a.Errors = false, problem.As(err).Fields
		return web.InvalidRecord(c, "user", a)
	}
	if err != nil {
		return err
	}
	return web.Record(c, web.State{Kind: kind, ID: u.ID, Version: u.Version}, web.Field{Name: "user", Value: a})
}

// readEdit reads the fields of a user.
func readEdit(fields web.Object) user.Edit {
	e := user.Edit{Faults: problem.Fields{}}
	e.Name = fields.Text("name", e.Faults)
	e.Email = fields.Text("email", e.Faults)
	e.Kind = fields.Text("kind", e.Faults)
	e.ElementID = fields.ID("element_id", e.Faults)
	if fields.Null("element_id") {
		e.ElementID = new(int64)
	}
	e.Active = fields.Bool("active", e.Faults)
	if fields.Has("permissions") {
		granted, err := web.ParseObject(fields["permissions"])
		if err != nil {
			e.Faults.Add("permissions", "is not an object")
		}
		e.Permissions = readPermissions(granted, e.Faults)
	}
	return e
}

func readPermissions(fields web.Object, faults problem.Fields) map[string]bool {
	granted := map[string]bool{}
	for _, name := range user.PermissionNames() {
		if value := fields.Bool(name, faults); value != nil {
			granted[name] = *value
		}
	}
	return granted
}

// list: two round trips, the session's included, and one document more than the page has.
func (h *handlers) list(c *fiber.Ctx) error {
	after, limit, err := web.Page(c)
	if err != nil {
		return err
	}
	found, next, err := h.users.List(c.UserContext(), after, limit)
	if err != nil {
		return err
	}
	list := make([]account, len(found))
	for i, u := range found {
		list[i] = accountOf(u)
	}
	return web.OK(c, web.Field{Name: "users", Value: list}, web.Next(next))
}

// show: two round trips, one document.
func (h *handlers) show(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	u, err := h.users.Get(c.UserContext(), id)
	return answerAccount(c, u, err)
}

// create: three round trips, one document; one round trip more with an element. The only answer that ever shows a uuid, but for
// that of renewUUID.
func (h *handlers) create(c *fiber.Ctx) error {
	fields, err := web.Wrapped(c, "user")
	if err != nil {
		return err
	}
	e := readEdit(fields)
	u, uuid, err := h.users.Create(c.UserContext(), e, fields.Text("uuid", e.Faults))
	if err != nil {
		return answerAccount(c, u, err)
	}
	a := accountOf(u)
	a.UUID = &uuid
	return created(c, web.Field{Name: "user", Value: a})
}

func created(c *fiber.Ctx, part web.Field) error {
	return web.Answer(c, fiber.StatusCreated, "Created", part)
}

// change: five round trips at most, one document, read and written; one round trip more with an element.
func (h *handlers) change(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	fields, err := web.Wrapped(c, "user")
	if err != nil {
		return err
	}
	e := readEdit(fields)
	if fields.Has("uuid") {
		e.Faults.Add("uuid", "is renewed by POST to the user's uuid")
	}
	match, err := web.IfMatch(c, kind, id)
	if err != nil {
		return err
	}
	u, err := h.users.Change(c.UserContext(), id, e, match)
	return answerAccount(c, u, err)
}

// deactivate: five round trips, one document, read and written.
func (h *handlers) deactivate(c *fiber.Ctx) error {
	return h.act(c, func(ctx context.Context, id int64) error {
		match, err := web.IfMatch(c, kind, id)
		if err != nil {
			return err
		}
		return h.users.Deactivate(ctx, id, match)
	})
}

// endSessions: five round trips, one document, read and written.
func (h *handlers) endSessions(c *fiber.Ctx) error { return h.act(c, h.users.EndSessions) }

func (h *handlers) act(c *fiber.Ctx, do func(context.Context, int64) error) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	if err := do(c.UserContext(), id); err != nil {
		return err
	}
	return web.OK(c)
}

// renewUUID: five round trips, one document, read and written.
func (h *handlers) renewUUID(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	uuid, err := h.users.RenewUUID(c.UserContext(), id)
	if err != nil {
		return err
	}
	return created(c, web.Field{Name: "uuid", Value: uuid})
}

// importUsers: see user.Service.Import for its cost.
func (h *handlers) importUsers(c *fiber.Ctx, batch importer.Batch) ([]importer.Result, error) {
	rows := make([]user.Row, len(batch.Records))
	for i, r := range batch.Records {
		rows[i] = readRow(r)
	}
	outcomes, err := h.users.Import(c.UserContext(), rows, batch.DryRun)
	if err != nil {
		return nil, err
	}
	results := make([]importer.Result, len(outcomes))
	for i, o := range outcomes {
		results[i] = importer.Result{Index: i, Key: rows[i].Key, Result: o.Result, ID: o.ID, Errors: o.Errors}
	}
	return results, nil
}

// readRow reads a record of users.csv: the fields of a user, but for the element, which is named by its key, and with the permissions
// beside the others.
func readRow(r importer.Record) user.Row {
	e := user.Edit{Faults: problem.Fields{}}
	e.Name = r.Fields.Text("name", e.Faults)
	e.Email = r.Fields.Text("email", e.Faults)
	e.Kind = r.Fields.Text("kind", e.Faults)
	e.Active = r.Fields.Bool("active", e.Faults)
	e.Permissions = readPermissions(r.Fields, e.Faults)
	row := user.Row{Key: r.Key, Hash: r.Hash, UUID: r.Fields.Text("uuid", e.Faults), Edit: e}
	if element := r.Fields.Text("element", e.Faults); element != nil {
		row.Element = *element
	}
	return row
}

// facts answers the other services: two round trips at most, as many documents as asked for.
func (h *handlers) facts(ctx context.Context, q fact.UsersQuestion) ([]fact.User, error) {
	found, err := h.users.Facts(ctx, q.IDs, q.Keys)
	if err != nil {
		return nil, err
	}
	facts := make([]fact.User, len(found))
	for i, u := range found {
		facts[i] = fact.User{User: u.ListForm(), Key: u.Key, Active: u.Active, CanAPI: u.Permissions.Implied().CanAPI}
	}
	return facts, nil
}
