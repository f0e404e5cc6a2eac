package api

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
)

// asTheyAre are notes in the form that the notes service gives them.
func asTheyAre(notes json.RawMessage) json.RawMessage { return notes }

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
