package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

func noteCommand(s surroundings) *cobra.Command {
	var staff, pupils, guests bool
	command := &cobra.Command{
		Use: "note EVENT [TEXT]", Short: "Add a note to an event, or list its notes",
		Long: `Adds a note of Markdown, which staff see. Without TEXT it lists the notes that you may see.`,
		Example: "  belfryctl note 'Open day' 'Bring a *packed lunch*.' --on 2026-11-28 --pupils\n" +
			"  belfryctl note 12",
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := command.Flags()
	flags.BoolVar(&staff, "staff", true, "staff see it")
	flags.BoolVar(&pupils, "pupils", false, "pupils see it")
	flags.BoolVar(&guests, "guests", false, "guests see it")
	return eventCommand(s, command, func(j job, event client.Record) error {
		path := onePath(eventPath, event.ID("id")) + "/notes"
		if len(j.args) == 1 {
			notes := j.c.List(j.ctx, path, "notes", nil)
			return listed(j, "notes", notes, "id,owner,shown_to,contents", noteCells)
		}
		fields := map[string]any{"contents": j.args[1], "visible_staff": staff, "visible_pupil": pupils,
			"visible_guest": guests}
		note, err := j.c.Create(j.ctx, path, "note", fields)
		return j.trial(j.show(err, "note", note, "id", "contents", "visible_staff", "visible_pupil", "visible_guest"))
	})
}

// noteCells are the cells of a note.
func noteCells(n api.Note) []any {
	var shown []string
	for _, to := range []struct {
		name string
		is   bool
	}{{"staff", n.VisibleStaff}, {"pupils", n.VisiblePupil}, {"guests", n.VisibleGuest}} {
		if to.is {
			shown = append(shown, to.name)
		}
	}
	return []any{n.ID, n.Owner.Name, strings.Join(shown, ","), n.Contents}
}
