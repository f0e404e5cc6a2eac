package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/web"
)

// exportedNote is a note as an export reads it.
type exportedNote struct {
	ID           int64      `json:"id"`
	Key          string     `json:"key,omitempty"`
	EventID      int64      `json:"event_id"`
	OwnerID      int64      `json:"owner_id,omitempty"`
	Topic        fact.Topic `json:"topic,omitempty"`
	Contents     string     `json:"contents"`
	VisibleGuest bool       `json:"visible_guest"`
	VisibleStaff bool       `json:"visible_staff"`
	VisiblePupil bool       `json:"visible_pupil"`
}

// exportNotes answers GET /api/admin/export/notes.
func (h handlers) exportNotes(c *fiber.Ctx) error {
	after, limit, err := web.Page(c)
	if err != nil {
		return err
	}
	notes, next, err := h.notes.Page(c.UserContext(), after, limit)
	if err != nil {
		return err
	}
	shown := make([]exportedNote, len(notes))
	for i, n := range notes {
		shown[i] = exportedNote{n.ID, n.Key, n.EventID, n.OwnerID, n.Topic, n.Contents,
			n.Visible.Guest, n.Visible.Staff, n.Visible.Pupil}
	}
	return web.OKPage(c, "notes", shown, web.Next(next), func(i int) web.Field { return web.Next(notes[i].ID) })
}
