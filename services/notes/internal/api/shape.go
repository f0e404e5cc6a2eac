package api

import (
	"errors"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/record"
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
	invalid, ok := errors.AsType[*record.InvalidError[form.Note]](err)
	if !ok {
		return err
	}
	return web.InvalidRecord(c, "note", invalid.Record)
}
