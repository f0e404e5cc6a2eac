package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// kind is that of notes in entity tags.
const kind = "note"

// show answers with a note, tagged.
func show(c *fiber.Ctx, n note.View) error {
	return web.Record(
		c, web.State{Kind: kind, ID: n.ID, Version: n.Version}, web.Field{Name: "note", Value: shape(n, nil)},
	)
}

// refuse answers an invalid note with its errors; any other error it returns.
func refuse(c *fiber.Ctx, err error) error { return web.RefuseInvalid(c, "note", err, shape) }

// shape is a note, valid unless it has faults.
func shape(n note.View, faults problem.Fields) form.Note {
	shown := form.Note{
		ID: form.OrNull(n.ID), Contents: n.Contents, VisibleGuest: n.Guest, VisibleStaff: n.Staff,
		VisiblePupil: n.Pupil, FormattedContents: n.HTML, Valid: len(faults) == 0, Errors: faults,
	}
	if n.Owner != nil {
		shown.Owner = &n.Owner.User
	}
	if n.Parent != nil {
		shown.Parent = &n.Parent.Event
	}
	return shown
}

// readEdit reads the note parameters of contract 4.3; null counts as not given.
func readEdit(fields web.Object) note.Edit {
	faults := problem.Fields{}
	return note.Edit{
		Contents: fields.Text("contents", faults), VisibleGuest: fields.Bool("visible_guest", faults),
		VisibleStaff: fields.Bool("visible_staff", faults), VisiblePupil: fields.Bool("visible_pupil", faults),
		Faults: faults,
	}
}
