package main

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client/api"
)

func findCommand(s surroundings) *cobra.Command {
	const page = 200 // the most that an answer has
	var from, to, element, category, owner, status string
	var most int
	command := &cobra.Command{
		Use: "find [TEXT]", Short: "Find events by their title, days, elements and more",
		Long: "Lists the events that meet all that is given, in order of time. TEXT is a part of the title, in any " +
			"case and without accents, of at least three\ncharacters. Without it, --element, --from or --to is " +
			"needed.\n\n" + aboutNames,
		Example: "  belfryctl find bletchley\n" +
			"  belfryctl find --element 'Great Hall' --from 2026-11-28 --to 2026-11-30\n" +
			"  belfryctl find trip --category Trip --status requested --json",
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := command.Flags()
	flags.StringVar(&from, "from", "", "the first day (2026-11-28) that the event may touch")
	flags.StringVar(&to, "to", "", "the last day that it may touch")
	flags.StringVar(&element, "element", "", "only events with this element, itself or through a group")
	flags.StringVar(&category, "category", "", "only events of this category: its name or its id")
	flags.StringVar(&owner, "owner", "", "only events of the user with this id")
	flags.StringVar(&status, "status", "", "only events with a commitment of this status, such as requested")
	flags.IntVar(&most, "most", page, "how many events are listed at most")
	_ = command.RegisterFlagCompletionFunc("element", completeNames(s))
	return administrative(s, command, func(j job) error {
		if most < 1 {
			return &usageError{errors.New("--most is below 1")}
		}
		query := queryOf(map[string]string{
			"start_date": from, "end_date": to, "owner": owner, "status": status, "limit": fmt.Sprint(min(most, page)),
		})
		if len(j.args) > 0 {
			query.Set("text", j.args[0])
		}
		if err := j.addElements(query, map[string]string{"element": element}); err != nil {
			return err
		}
		if category != "" {
			id, err := j.category(category)
			if err != nil {
				return err
			}
			query.Set("category", fmt.Sprint(id))
		}
		return j.found(query, most)
	})
}

// found prints the events of a search, and says so when there are more.
func (j job) found(query url.Values, most int) error {
	events, err := first(j.c.List(j.ctx, "/api/events", "events", query), most+1)
	if err != nil {
		return err
	}
	if len(events) > most {
		fmt.Fprintf(j.s.err, "there are more than %d; --most lists more\n", most)
		events = events[:most]
	}
	return list(j, "events", events, "id,starts,ends,body", func(e api.EventSummary) []any {
		return []any{e.ID, timesOf(e).start(), timesOf(e).to(), e.Body}
	})
}
