package api

import (
	"encoding/json"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// kind is that of users in entity tags.
const kind = "user"

// account is a user as administrators see it.
type account struct {
	ID        *int64         `json:"id"`  // null: never stored
	Key       *string        `json:"key"` // of the import; null when made by hand
	Name      string         `json:"name"`
	Email     string         `json:"email"`
	Kind      principal.Kind `json:"kind"`
	ElementID *int64         `json:"element_id"` // null: is no element
	Active    bool           `json:"active"`
	// Permissions are those given, without implied ones.
	Permissions principal.Permissions `json:"permissions"`
	AdminOf     []int64               `json:"admin_of,omitempty"`
	StandsFor   []int64               `json:"stands_for,omitempty"`
	// DuplicateEmail says that another user may have the same address; left out if false.
	DuplicateEmail bool           `json:"duplicate_email,omitempty"`
	UUID           *string        `json:"uuid,omitempty"`
	Valid          bool           `json:"valid"`
	Errors         problem.Fields `json:"errors,omitempty"`
}

func accountOf(u user.User) account {
	return account{
		ID: form.OrNull(u.ID), Key: form.OrNull(u.Key), Name: u.Name, Email: u.Email, Kind: u.Kind,
		ElementID: form.OrNull(u.ElementID), Active: u.Active, Permissions: u.Permissions,
		AdminOf: u.AdminOf, StandsFor: u.StandsFor, DuplicateEmail: u.DuplicateEmail, Valid: true,
	}
}

// show answers with the user, tagged.
func show(c *fiber.Ctx, u user.User) error {
	state := web.State{Kind: kind, ID: u.ID, Version: u.Version}
	return web.Record(c, state, web.Field{Name: "user", Value: accountOf(u)})
}

// refuse answers an invalid user with its errors; any other error it returns.
func refuse(c *fiber.Ctx, err error) error {
	return web.RefuseInvalid(c, "user", err, func(u user.User, faults problem.Fields) account {
		a := accountOf(u)
		a.Valid, a.Errors = false, faults
		return a
	})
}

// listForm is a user as other users see it (contract 2.6).
func listForm(u user.User) form.User {
	return form.User{ID: u.ID, Name: u.Name, Email: u.Email, Valid: true}
}

// readOwn reads the fields of a user without references, which requests and imports share.
func readOwn(fields web.Object) user.Edit {
	e := user.Edit{Faults: problem.Fields{}}
	e.Name = fields.Text("name", e.Faults)
	e.Email = fields.Text("email", e.Faults)
	e.Kind = fields.Text("kind", e.Faults)
	e.Active = fields.Bool("active", e.Faults)
	e.DuplicateEmail = fields.Bool("duplicate_email", e.Faults)
	return e
}

// readEdit reads the fields of a user.
func readEdit(fields web.Object) user.Edit {
	e := readOwn(fields)
	e.ElementID = fields.ID("element_id", e.Faults)
	if fields.Null("element_id") {
		e.ElementID = new(int64)
	}
	e.AdminOf = readIDs(fields, schoolsOf, e.Faults)
	e.StandsFor = readIDs(fields, pupilsOf, e.Faults)
	if fields.Has("permissions") {
		granted, err := web.ParseObject(fields["permissions"])
		if err != nil {
			e.Faults.Add("permissions", problem.NotAnObject)
		}
		e.Permissions = readPermissions(granted, e.Faults)
	}
	return e
}

// references is a field with references to elements of one type.
type references struct {
	name, entityType, what string
	most                   int
	not                    string // the fault of what is none
}

// The lists of a user.
var (
	schoolsOf = references{"admin_of", form.Group, "schools", user.MaxSchools, user.NotSchools}
	pupilsOf  = references{"stands_for", form.Pupil, "pupils", user.MaxPupils, user.NotPupils}
)

// list reads the list: null means an empty one; nil when it is absent or has a fault.
func list[T any](r references, fields web.Object, faults problem.Fields) []T {
	if len(fields[r.name]) == 0 {
		return nil
	}
	var all []T
	if json.Unmarshal(fields[r.name], &all) != nil || len(all) > r.most {
		faults.Add(r.name, fmt.Sprintf("is not a list of at most %d %s", r.most, r.what))
		return nil
	}
	return append([]T{}, all...)
}

// readIDs reads a list of ids.
func readIDs(fields web.Object, r references, faults problem.Fields) *[]int64 {
	raw := list[json.RawMessage](r, fields, faults)
	if raw == nil {
		return nil
	}
	ids := []int64{}
	for _, one := range raw {
		id, ok := web.ParseBodyID(one)
		if !ok {
			faults.Add(r.name, r.not)
			return nil
		}
		ids = append(ids, id)
	}
	return &ids
}

func readPermissions(fields web.Object, faults problem.Fields) map[string]bool {
	granted := map[string]bool{}
	for _, name := range principal.PermissionNames() {
		if value := fields.Bool(name, faults); value != nil {
			granted[name] = *value
		}
	}
	return granted
}
