package api

import (
	"encoding/json"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/importer"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// importCategories is POST /api/admin/import/eventcategories.
func (h handlers) importCategories(c *fiber.Ctx, batch importer.Batch) ([]record.Outcome, error) {
	return h.categories.Import(c.UserContext(), web.Principal(c), importer.Rows(batch, readCategoryRow), batch.DryRun)
}

func readCategoryRow(r importer.Record) category.Row {
	row := category.Row{Row: r.Row, Fields: readCategoryFields(r.Fields)}
	row.School = form.OrZero(r.Fields.Text("school", row.Fields.Faults))
	return row
}

// importEvents is POST /api/admin/import/events.
func (h handlers) importEvents(c *fiber.Ctx, batch importer.Batch) ([]record.Outcome, error) {
	return h.events.Import(c.UserContext(), web.Principal(c), importer.Rows(batch, readRow), batch.DryRun)
}

// readRow reads a record of events.csv.
func readRow(r importer.Record) event.Row {
	faults := problem.Fields{}
	row := event.Row{Row: r.Row}
	row.Fields = event.Fields{
		Texts: readTexts(r.Fields, faults),
		Span: wiretime.SpanFields{
			AllDay:   readAllDay(r.Fields, "all_day", faults),
			StartsAt: readMoment(r.Fields, "starts_at"),
			EndsAt:   readMoment(r.Fields, "ends_at"),
		},
		Faults: faults,
	}
	row.Category = form.OrZero(r.Fields.Text("category", faults))
	row.Organiser = form.OrZero(r.Fields.Text("organiser", faults))
	row.Owner = form.OrZero(r.Fields.Text("owner", faults))
	if r.Fields.Has("elements") && json.Unmarshal(r.Fields["elements"], &row.Elements) != nil {
		faults.Add("elements", "is not an array of references")
	}
	if len(row.Elements) > event.MaxSubmitted {
		faults.Add("elements", problem.TooMany(event.MaxSubmitted))
		row.Elements = nil
	}
	row.Decisions = readDecisions(r.Fields, faults)
	return row
}

// readDecisions reads the decisions on an event's elements.
func readDecisions(fields web.Object, faults problem.Fields) []event.RowDecision {
	var given []struct {
		Element   string `json:"element"`
		Status    string `json:"status"`
		Reason    string `json:"reason"`
		DecidedBy string `json:"decided_by"`
		DecidedAt string `json:"decided_at"`
		Request   string `json:"request"`
		AskedBy   string `json:"asked_by"`
	}
	if fields.Has("decisions") && json.Unmarshal(fields["decisions"], &given) != nil {
		faults.Add("decisions", "is not an array of decisions")
	}
	if len(given) > event.MaxSubmitted {
		faults.Add("decisions", problem.TooMany(event.MaxSubmitted))
		return nil
	}
	decisions := make([]event.RowDecision, len(given))
	for i, d := range given {
		var at time.Time
		if d.DecidedAt != "" {
			var err error
			if at, err = wiretime.Parse(d.DecidedAt); err != nil {
				faults.Add("decisions", d.Element+" decided_at "+problem.NotAnInstant)
			}
		}
		decisions[i] = event.RowDecision{Element: d.Element, DecidedBy: d.DecidedBy, DecidedAt: at, Request: d.Request,
			AskedBy: d.AskedBy, Decision: event.Decision{Status: event.Status(d.Status), Reason: d.Reason}}
	}
	return decisions
}
