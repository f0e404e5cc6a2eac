package api

import (
	"encoding/json"

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
	return h.users.Import(c.UserContext(), web.Principal(c), importer.Rows(batch, readRow), batch.DryRun)
}

// readRow reads a record of users.csv: the fields of a user, with the permissions beside them, and the element and the
// schools by their keys.
func readRow(r importer.Record) user.Row {
	e := readOwn(r.Fields)
	e.Permissions = readPermissions(r.Fields, e.Faults)
	row := user.Row{Row: r.Row, UUID: r.Fields.Text("uuid", e.Faults), Edit: e}
	if element := r.Fields.Text("element", e.Faults); element != nil {
		row.Element = *element
	}
	row.AdminOf = readSchools(r.Fields, e.Faults)
	return row
}

// readSchools reads the schools that a user administers, by the keys of their groups: null is none.
func readSchools(fields web.Object, faults problem.Fields) *[]string {
	const name = "admin_of"
	if len(fields[name]) == 0 {
		return nil
	}
	var keys []string
	if json.Unmarshal(fields[name], &keys) != nil || len(keys) > user.MaxSchools {
		faults.Add(name, notAListOfSchools)
		return nil
	}
	for i, key := range keys {
		keys[i] = form.Group + ":" + key
	}
	return &keys
}
