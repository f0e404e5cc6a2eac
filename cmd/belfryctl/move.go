package main

import (
	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

func moveCommand(s surroundings) *cobra.Command {
	var of move
	command := &cobra.Command{
		Use: "move EVENT WHEN", Short: "Move an event to another day or time",
		Long: `Moves an event. WHEN is a day (2026-11-28), a time (15:00) or both; what it does not say stays,
and so does the length, unless --until. Where another event takes up one of its elements then,
nothing is changed, unless --anyway. Of a series, the event alone is moved; see series change
for the others.`,
		Example: "  belfryctl move 'House chess' '2026-12-02 15:30'\n" +
			"  belfryctl move 'Open day' 2026-12-05 --on 2026-11-28 --dry-run\n" +
			"  belfryctl move 12 15:00 --until 17:00 --anyway",
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := command.Flags()
	flags.StringVar(&of.until, "until", "", "the new end, as WHEN; of whole days the last one")
	flags.BoolVar(&of.anyway, "anyway", false, "move it also where an element is taken")
	return eventCommand(s, command, func(j job, event client.Record) error {
		of.when = j.args[1]
		moved, err := j.move(event, of)
		if err != nil {
			return err
		}
		return j.trial(j.showEvent(moved))
	})
}

// move is where an event is moved to.
type move struct {
	when, until string
	anyway      bool
}

// move moves an event, and returns it as it then is or would be.
func (j job) move(event client.Record, of move) (client.Record, error) {
	e := client.As[api.EventSummary](event)
	at, err := clockOf(e.StartsAt, e.EndsAt, e.AllDay)
	if err != nil {
		return nil, err
	}
	if at, err = at.moved(of.when, of.until); err != nil {
		return nil, err
	}
	body := map[string]any{"event": at.fields(), "clashes": clashesIf(of.anyway)}
	changed, err := j.c.ChangeSeries(j.ctx, event.ID("id"), "one", body)
	return changed.Event, err
}
