package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/importer"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// kind is that of notes in entity tags.
const kind = "note"

type handlers struct {
	notes *note.Service
	audit *auditlog.Log
	zone  wiretime.Zone
}

// read answers GET of a note (contract 4.3). One document; then events and identity are asked, at once.
func (h handlers) read(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	n, err := h.notes.Read(c.UserContext(), fact.ViewerOf(web.Principal(c)), id)
	if err != nil {
		return err
	}
	return show(c, id, n)
}

// show answers with a note, tagged.
func show(c *fiber.Ctx, id int64, n note.View) error {
	return web.Record(c, web.State{Kind: kind, ID: id, Version: n.Version}, web.Field{Name: "note", Value: n.Note})
}

// update answers PUT and PATCH of a note (contract 4.3). As read, then a versioned write: three round trips, one document.
func (h handlers) update(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	fields, err := web.Wrapped(c, "note")
	if err != nil {
		return err
	}
	match, err := web.IfMatch(c, kind, id)
	if err != nil {
		return err
	}
	n, err := h.notes.Update(c.UserContext(), fact.ViewerOf(web.Principal(c)), id, note.ReadChange(fields), match)
	if err != nil {
		return err
	}
	if !n.Valid {
		return web.InvalidRecord(c, "note", n.Note)
	}
	return show(c, id, n)
}

// remove answers DELETE of a note (contract 4.3). Three round trips, one document; events is asked in between.
func (h handlers) remove(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	match, err := web.IfMatch(c, kind, id)
	if err != nil {
		return err
	}
	if err := h.notes.Delete(c.UserContext(), fact.ViewerOf(web.Principal(c)), id, match); err != nil {
		return err
	}
	return web.OK(c)
}

// importBatch brings in a batch of notes; see note.Service.Import for what it costs.
func (h handlers) importBatch(c *fiber.Ctx, batch importer.Batch) ([]importer.Result, error) {
	rows := make([]note.Row, len(batch.Records))
	for i, r := range batch.Records {
		rows[i] = note.ReadRow(r.Key, r.Hash, r.Fields)
	}
	outcomes, err := h.notes.Import(c.UserContext(), rows, batch.DryRun)
	return batch.Results(outcomes), err
}
