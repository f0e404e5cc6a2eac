package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

// aboutClashes describes --clashes.
const aboutClashes = "where an element is taken: allow, report, skip or refuse"

func completeClashes(command *cobra.Command) {
	complete(command, "clashes", "allow", "report", "skip", "refuse")
}

func eventsCommand(s surroundings) *cobra.Command {
	return family("events", "Change what is on an event",
		"An event is named by its id, which book, series and find print.", replaceCommand(s))
}

func replaceCommand(s surroundings) *cobra.Command {
	var clashes string
	command := &cobra.Command{
		Use: "replace EVENT-ID NAME NEW-NAME…", Short: "Replace elements of an event, such as an absent teacher",
		Long: "Takes each NAME off the event and adds the NEW-NAME after it, all in one write. It needs edit rights " +
			"on the event. Unless --clashes says otherwise, nothing is\nwritten where another busy event holds one " +
			"of the new ones at that time; with skip such a NAME stays, and the exit code is 4.\n\n" + aboutNames,
		Example: "  belfryctl events replace 1234 gordon philpotts\n" +
			"  belfryctl events replace 1234 'Great Hall' Gym gordon philpotts --clashes report",
		Args: cobra.MinimumNArgs(3), ValidArgsFunction: completeBooking(s),
	}
	command.Flags().StringVar(&clashes, "clashes", "refuse", aboutClashes)
	completeClashes(command)
	return administrative(s, command, func(j job) error {
		id, err := plainID("an event")(j, j.args[0])
		if err != nil {
			return err
		}
		pairs, names, err := j.pairs(j.args[1:])
		if err != nil {
			return err
		}
		replaced, err := j.c.Replace(j.ctx, id, pairs, clashes)
		if err != nil {
			return err
		}
		if err := j.showBooked(replaced); err != nil {
			return err
		}
		return j.notAdded(replaced.Failures, names)
	})
}

// pairs are the replacements that the arguments name, with the names of the new elements.
func (j job) pairs(args []string) (pairs []client.Replacement, names []string, err error) {
	if len(args)%2 != 0 {
		return nil, nil, &usageError{errors.New("each NAME needs a NEW-NAME")}
	}
	ids := make([]int64, len(args))
	for i, name := range args {
		element, err := j.named(name)
		if err != nil {
			return nil, nil, err
		}
		ids[i] = client.As[api.Element](element).ID
	}
	for i := 0; i < len(ids); i += 2 {
		pairs = append(pairs, client.Replacement{Element: ids[i], With: ids[i+1]})
		names = append(names, args[i+1])
	}
	return pairs, names, nil
}
