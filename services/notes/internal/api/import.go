package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/importer"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// importNotes answers the import of a batch of notes.csv.
func (h handlers) importNotes(c *fiber.Ctx, batch importer.Batch) ([]record.Outcome, error) {
	return h.notes.Import(c.UserContext(), importer.Rows(batch, readRow), batch.DryRun)
}

// readRow reads a record of notes.csv: the fields of a note, with its event and owner by their keys.
func readRow(r importer.Record) note.Row {
	row := note.Row{Row: r.Row, Edit: readEdit(r.Fields)}
	if event := r.Fields.Text("event", row.Edit.Faults); event != nil {
		row.Event = *event
	}
	if owner := r.Fields.Text("owner", row.Edit.Faults); owner != nil {
		row.Owner = *owner
	}
	return row
}
