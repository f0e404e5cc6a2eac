package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// kind is that of notes in entity tags.
const kind = "note"

// show answers with a note, tagged.
func show(c *fiber.Ctx, id int64, n note.View) error {
	return web.Record(c, web.State{Kind: kind, ID: id, Version: n.Version}, web.Field{Name: "note", Value: n.Note})
}

// refuse answers an invalid note with its errors; any other error it returns.
func refuse(c *fiber.Ctx, err error) error {
	return web.RefuseInvalid(c, "note", err, func(n form.Note, _ problem.Fields) form.Note { return n })
}

// readEdit reads the note parameters of contract 4.3; null counts as not given.
func readEdit(fields web.Object) note.Edit {
	faults := problem.Fields{}
	return note.Edit{
		Contents:     fields.Text("contents", faults),
		VisibleGuest: fields.Bool("visible_guest", faults),
		VisibleStaff: fields.Bool("visible_staff", faults),
		VisiblePupil: fields.Bool("visible_pupil", faults),
		Faults:       faults,
	}
}
