package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
)

func cancelCommand(s surroundings) *cobra.Command {
	var following, all bool
	command := &cobra.Command{
		Use: "cancel EVENT", Short: "Delete an event, or events of its series",
		Long: `Deletes the event, with its notes and whatever was decided. Of a series the event alone is
deleted, unless --following or --all. Those that you may not delete stay, and are listed, with
exit code 4.`,
		Example: "  belfryctl cancel 'House chess' --on 2026-12-02\n" +
			"  belfryctl cancel 'Junior choir' --on 2027-01-26 --following --dry-run\n" +
			"  belfryctl cancel 13",
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := command.Flags()
	flags.BoolVar(&following, "following", false, "also all events of its series that come after it")
	flags.BoolVar(&all, "all", false, "all events of its series")
	command.MarkFlagsMutuallyExclusive("following", "all")
	return eventCommand(s, command, func(j job, event client.Record) error {
		scope := scopeOf(following, all)
		events, err := j.inScope(event, scope)
		if err != nil {
			return err
		}
		left, err := j.c.DeleteEvent(j.ctx, event.ID("id"), scope)
		if err != nil {
			return err
		}
		var gone, stay []client.Record
		for _, e := range events {
			if slices.ContainsFunc(left, func(l client.Record) bool { return l.ID("id") == e.ID("id") }) {
				stay = append(stay, e)
			} else {
				gone = append(gone, e)
			}
		}
		switch {
		case j.dryRun:
			err = j.trial(j.events(gone))
		case j.as == asCSV, j.as == asNames:
			err = j.events(gone)
		default:
			err = j.cancelled(event, len(gone)-1)
		}
		if err != nil || len(left) == 0 {
			return err
		}
		for _, e := range stay {
			fmt.Fprintf(j.s.err, "event %s stays\n", eventText(e))
		}
		if hidden := len(left) - len(stay); hidden > 0 {
			fmt.Fprintf(j.s.err, "events that you don't see stay: %d\n", hidden)
		}
		return partly("some events of the series may not be deleted by you")
	})
}

// inScope returns an event, with those of its series that a scope adds.
func (j job) inScope(event client.Record, scope string) ([]client.Record, error) {
	if scope == "one" {
		return []client.Record{event}, nil
	}
	id := event.ID("series_id")
	if id == 0 {
		return nil, fmt.Errorf("event %s is in no series", eventText(event))
	}
	series, err := j.c.Get(j.ctx, onePath("/api/series", id), "series")
	if err != nil {
		return nil, err
	}
	var events []client.Record
	reached := scope == "all"
	for _, o := range series.Records("events") {
		if reached = reached || o.Inner("event").ID("id") == event.ID("id"); reached {
			events = append(events, o.Inner("event"))
		}
	}
	return events, nil
}

// cancelled says what is deleted.
func (j job) cancelled(event client.Record, others int) error {
	id, which := event.ID("id"), eventText(event)
	sentence := "event %s is deleted"
	switch {
	case others == 1:
		sentence = "event %s and one other of its series are deleted"
	case others > 1:
		sentence = fmt.Sprintf("event %%s and %d others of its series are deleted", others)
	}
	return j.done("event", id, sentence, which)
}
