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
	return web.Record(c, web.State{Kind: kind, ID: id, Version: n.Version}, web.Part{Name: "note", Value: n.Note})
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
	return h.notes.Import(c.UserContext(), batch)
}

// ofEvent answers neighbour.Notes.OfEvent. One round trip, the event's notes; then identity is asked.
func (h handlers) ofEvent(c *fiber.Ctx) error {
	var q fact.NotesOfEventQuestion
	if err := web.Decode(c, &q); err != nil {
		return err
	}
	notes, err := h.notes.OfEvent(c.UserContext(), q.Viewer, q.EventID)
	if err != nil {
		return err
	}
	return web.OK(c, web.Part{Name: "notes", Value: notes})
}

// create answers neighbour.Notes.Create. identity is asked; then one round trip, one document.
func (h handlers) create(c *fiber.Ctx) error {
	var q fact.NewNote
	if err := web.Decode(c, &q); err != nil {
		return err
	}
	n, err := h.notes.Create(c.UserContext(), q)
	if err != nil {
		return err
	}
	return web.OK(c, web.Part{Name: "note", Value: n})
}

// keepSystemNotes answers neighbour.Notes.KeepSystemNotes; see note.Service.KeepSystemNotes for what it costs.
func (h handlers) keepSystemNotes(c *fiber.Ctx) error {
	var q fact.SystemNotesQuestion
	if err := web.Decode(c, &q); err != nil {
		return err
	}
	changes, err := h.notes.KeepSystemNotes(c.UserContext(), q)
	if err != nil {
		return err
	}
	return web.OK(c, web.Part{Name: "changes", Value: changes})
}

// noted answers neighbour.Notes.Noted: one read of as many documents as it returns.
func (h handlers) noted(c *fiber.Ctx) error {
	var q fact.NotedQuestion
	if err := web.Decode(c, &q); err != nil {
		return err
	}
	events, err := h.notes.Noted(c.UserContext(), q)
	if err != nil {
		return err
	}
	return web.OK(c, web.Part{Name: "event_ids", Value: events})
}
