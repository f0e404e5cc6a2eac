package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/importer"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// importUsers answers the import of a batch of users.csv.
func (h handlers) importUsers(c *fiber.Ctx, batch importer.Batch) ([]record.Outcome, error) {
	return h.users.Import(c.UserContext(), web.Principal(c), importer.Rows(batch, readRow))
}

// readRow reads a record of users.csv: the fields of a user, with the permissions beside them, and the element and the
// schools by their keys.
func readRow(r importer.Record) user.Row {
	e := readOwn(r.Fields)
	e.Permissions = readPermissions(r.Fields, e.Faults)
	return user.Row{
		Row: r.Row, Edit: e,
		Element:   form.OrZero(r.Fields.Text("element", e.Faults)),
		UUID:      r.Fields.Text("uuid", e.Faults),
		AdminOf:   readKeys(r.Fields, schoolsOf, e.Faults),
		StandsFor: readKeys(r.Fields, pupilsOf, e.Faults),
	}
}

// readKeys reads a list of keys, and returns them with their type.
func readKeys(fields web.Object, r references, faults problem.Fields) *[]string {
	keys := list[string](r, fields, faults)
	if keys == nil {
		return nil
	}
	for i, key := range keys {
		keys[i] = r.entityType + ":" + key
	}
	return &keys
}
