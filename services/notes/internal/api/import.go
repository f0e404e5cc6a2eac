package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/importer"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// importNotes answers the import of a batch of notes.csv.
func (h handlers) importNotes(c *fiber.Ctx, batch importer.Batch) ([]record.Outcome, error) {
	rows := make([]note.Row, len(batch.Records))
	for i, r := range batch.Records {
		rows[i] = note.ReadRow(r.Key, r.Hash, r.Fields)
	}
	return h.notes.Import(c.UserContext(), rows, batch.DryRun)
}
