package api

import (
	"encoding/json"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/importer"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// importElements brings in one type of element; see element.Service.ImportElements for its cost.
func (h handlers) importElements(t element.Type) importer.Handler {
	return func(c *fiber.Ctx, batch importer.Batch) ([]importer.Result, error) {
		rows := make([]element.Row, len(batch.Records))
		for i, r := range batch.Records {
			rows[i] = element.Row{Key: r.Key, Hash: r.Hash, Draft: readDraft(r.Fields)}
		}
		outcomes, err := h.elements.ImportElements(c.UserContext(), t, rows, batch.DryRun)
		return resultsOf(batch, outcomes), err
	}
}

// importMemberships brings in memberships; see element.Service.ImportMemberships for its cost.
func (h handlers) importMemberships(c *fiber.Ctx, batch importer.Batch) ([]importer.Result, error) {
	rows := make([]element.MembershipRow, len(batch.Records))
	for i, r := range batch.Records {
		faults := problem.Fields{}
		rows[i] = element.MembershipRow{Key: r.Key, Hash: r.Hash, Faults: faults}
		rows[i].Group = reference(r.Fields, "group", faults)
		rows[i].Member = reference(r.Fields, "member", faults)
		rows[i].Spans = readSpans(r.Fields, faults)
	}
	outcomes, err := h.elements.ImportMemberships(c.UserContext(), rows, batch.DryRun)
	return resultsOf(batch, outcomes), err
}

// importAdministrators brings in administrators; see element.Service.ImportAdministrators for its cost.
func (h handlers) importAdministrators(c *fiber.Ctx, batch importer.Batch) ([]importer.Result, error) {
	rows := make([]element.AdministratorRow, len(batch.Records))
	for i, r := range batch.Records {
		faults := problem.Fields{}
		rows[i] = element.AdministratorRow{Key: r.Key, Faults: faults}
		rows[i].Element = reference(r.Fields, "element", faults)
		rows[i].User = reference(r.Fields, "user", faults)
	}
	outcomes, err := h.elements.ImportAdministrators(c.UserContext(), rows, batch.DryRun)
	return resultsOf(batch, outcomes), err
}

// reference reads a key that must be given.
func reference(fields web.Object, name string, faults problem.Fields) string {
	text := fields.Text(name, faults)
	switch {
	case len(faults[name]) > 0:
		return ""
	case text == nil || *text == "":
		faults.Add(name, "can't be blank")
		return ""
	}
	return *text
}

// readSpans reads the days of a membership; a fault of one names its place.
func readSpans(fields web.Object, faults problem.Fields) []element.Span {
	var lines []json.RawMessage
	if fields.Has("spans") && json.Unmarshal(fields["spans"], &lines) != nil {
		faults.Add("spans", "is not a list")
		return nil
	}
	var spans []element.Span
	for i, line := range lines {
		span, err := web.ParseObject(line)
		if err != nil {
			faults.Add("spans", fmt.Sprintf("number %d is not an object", i+1))
			continue
		}
		inner := problem.Fields{}
		spans = append(spans, readSpan(span, inner))
		for _, name := range []string{"first_day", "last_day"} {
			for _, message := range inner[name] {
				faults.Add("spans", fmt.Sprintf("number %d: %s %s", i+1, name, message))
			}
		}
	}
	return spans
}

func resultsOf(batch importer.Batch, outcomes []element.Outcome) []importer.Result {
	results := make([]importer.Result, len(outcomes))
	for i, o := range outcomes {
		results[i] = importer.Result{Index: i, Key: batch.Records[i].Key, Result: string(o.Result), ID: o.ID, Errors: o.Faults}
	}
	return results
}
