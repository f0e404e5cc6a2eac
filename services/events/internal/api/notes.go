package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
)

// notes is GET /api/events/<id>/notes.
func (h handlers) notes(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	notes, err := h.events.Notes(c.UserContext(), web.Principal(c), id)
	if err != nil {
		return err
	}
	return web.OK(c, web.Field{Name: "notes", Value: notes})
}

// addNote is POST /api/events/<id>/notes.
func (h handlers) addNote(c *fiber.Ctx) error {
	id, o, err := web.PathFields(c, "note")
	if err != nil {
		return err
	}
	faults := problem.Fields{}
	note, err := h.events.AddNote(c.UserContext(), web.Principal(c), fact.NewNote{
		EventID:        id,
		Contents:       o.Text("contents", faults),
		VisibleGuest:   o.Bool("visible_guest", faults),
		VisibleStaff:   o.Bool("visible_staff", faults),
		VisiblePupil:   o.Bool("visible_pupil", faults),
		Faults:         faults,
		IdempotencyKey: web.IdempotencyKey(c),
	})
	switch {
	case err != nil:
		return err
	case !note.Valid:
		return web.InvalidRecord(c, "note", note)
	}
	return web.OK(c, web.Field{Name: "note", Value: note})
}
