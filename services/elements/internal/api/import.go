package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/importer"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// importElements imports one type of element.
func (h handlers) importElements(t element.Type) importer.Handler {
	return func(c *fiber.Ctx, batch importer.Batch) ([]record.Outcome, error) {
		school, err := web.QueryID(c, "school_id")
		if err != nil {
			return nil, err
		}
		return h.elements.ImportElements(c.UserContext(), web.Principal(c), element.Import{
			Type: t, Rows: importer.Rows(batch, readRow), School: school,
		})
	}
}

func readRow(r importer.Record) element.Row {
	return element.Row{Row: r.Row, Draft: readDraft(r.Fields)}
}

// importMemberships imports memberships.
func (h handlers) importMemberships(c *fiber.Ctx, batch importer.Batch) ([]record.Outcome, error) {
	return h.elements.ImportMemberships(c.UserContext(), web.Principal(c), importer.Rows(batch, readMembershipRow))
}

func readMembershipRow(r importer.Record) element.MembershipRow {
	faults := problem.Fields{}
	return element.MembershipRow{
		Row: r.Row, Group: reference(r.Fields, "group", faults), Member: reference(r.Fields, "member", faults),
		Days: readSourcedDays(r.Fields, faults), Changes: readChanges(r.Fields, faults), Faults: faults,
	}
}

// importAdministrators imports administrators.
func (h handlers) importAdministrators(c *fiber.Ctx, batch importer.Batch) ([]record.Outcome, error) {
	return h.elements.ImportAdministrators(
		c.UserContext(), web.Principal(c), importer.Rows(batch, readAdministratorRow),
	)
}

func readAdministratorRow(r importer.Record) element.AdministratorRow {
	faults := problem.Fields{}
	return element.AdministratorRow{
		Row: record.Row{Key: r.Key}, Element: reference(r.Fields, "element", faults),
		User: reference(r.Fields, "user", faults), Faults: faults,
	}
}

// reference reads a key that is required.
func reference(fields web.Object, name string, faults problem.Fields) string {
	text := form.OrZero(fields.Text(name, faults))
	if text == "" && len(faults[name]) == 0 {
		faults.Add(name, problem.Blank)
	}
	return text
}

// readSourcedDays reads the days of a membership, each with its source if there is one.
func readSourcedDays(fields web.Object, faults problem.Fields) []element.Sourced {
	return readList(fields, "spans", faults, readSourced)
}

// readChanges reads the changes of a membership, nil when absent.
func readChanges(fields web.Object, faults problem.Fields) []element.MembershipChange {
	return readList(fields, "changes", faults, func(fields web.Object, faults problem.Fields) element.MembershipChange {
		change := element.MembershipChange{Sourced: readSourced(fields, faults)}
		if text := form.OrZero(fields.Text("ends_before", faults)); text != "" {
			day, err := wiretime.ParseDay(text)
			if err != nil {
				faults.Add("ends_before", problem.NotADay)
			}
			change.Before = &day
		}
		return change
	})
}

func readSourced(fields web.Object, faults problem.Fields) element.Sourced {
	return element.Sourced{Source: form.OrZero(fields.Text("source", faults)), Days: readDays(fields, faults)}
}

// readList reads a list of objects, nil when it is absent. A fault of an object names its place in the list.
func readList[T any](
	fields web.Object, name string, faults problem.Fields, read func(web.Object, problem.Fields) T,
) []T {
	var lines []json.RawMessage
	if fields.Has(name) && json.Unmarshal(fields[name], &lines) != nil {
		faults.Add(name, "is not a list")
	}
	if lines == nil {
		return nil
	}
	list := make([]T, 0, len(lines))
	for i, line := range lines {
		object, err := web.ParseObject(line)
		if err != nil {
			faults.Add(name, fmt.Sprintf("number %d %s", i+1, problem.NotAnObject))
			continue
		}
		inner := problem.Fields{}
		list = append(list, read(object, inner))
		for _, field := range slices.Sorted(maps.Keys(inner)) {
			for _, message := range inner[field] {
				faults.Add(name, fmt.Sprintf("number %d: %s %s", i+1, field, message))
			}
		}
	}
	return list
}
