package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

func findCommand(s surroundings) *cobra.Command {
	var of searched
	command := &cobra.Command{
		Use: "find [TEXT]", Short: "Find events by their title, days, elements and more",
		Long: `Lists the events that meet all that is given, in order of time. At least one is needed. TEXT is
a part of the title, in any case and without accents, of at least three characters.

` + aboutNames,
		Example: "  belfryctl find bletchley\n" +
			"  belfryctl find --element 'Great Hall' --from 2026-11-28 --to 2026-11-30\n" +
			"  belfryctl find trip --category Trip --status requested -o csv > trips.csv",
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := command.Flags()
	flags.StringVar(&of.From, "from", "", "the first day (2026-11-28) that the event may touch")
	flags.StringVar(&of.To, "to", "", "the last day that it may touch")
	flags.StringVar(&of.Element, "element", "", "only events with this element, itself or through a group")
	flags.StringVar(&of.Category, "category", "", "only events of this category: its name or its id")
	flags.StringVar(&of.owner, "owner", "", "only events of the user with this id")
	flags.StringVar(&of.Status, "status", "", "only events with a commitment of this status, such as requested")
	flags.IntVar(&of.most, "most", eventPage, "how many events are listed at most")
	_ = command.RegisterFlagCompletionFunc("element", completeNames(s))
	return administrative(s, command, func(j job) error {
		if len(j.args) > 0 {
			of.Text = j.args[0]
		}
		events, more, err := j.find(of, j.as != asTable)
		if err != nil {
			return err
		}
		if more {
			fmt.Fprintf(j.s.err, "there are more than %d; --most lists more\n", of.most)
		}
		return j.events(events)
	})
}

const eventPage = 200 // the most that an answer has

// searched has the conditions of a search; empty texts are none.
type searched struct {
	findArguments
	owner string
	most  int
}

// find returns at most that many events, and whether there are more.
func (j job) find(of searched, withCategories bool) (events []client.Record, more bool, err error) {
	if of.most < 1 {
		return nil, false, &usageError{errors.New("--most is below 1")}
	}
	query := queryOf(map[string]string{
		"text": of.Text, "start_date": of.From, "end_date": of.To, "owner": of.owner, "status": of.Status,
		"limit": fmt.Sprint(min(of.most, eventPage)),
	})
	if withCategories {
		query.Set("include", "category")
	}
	if err := addIDs(query, j.namedID, map[string]string{"element": of.Element}); err != nil {
		return nil, false, err
	}
	if err := addIDs(query, j.category, map[string]string{"category": of.Category}); err != nil {
		return nil, false, err
	}
	events, err = first(j.c.List(j.ctx, eventPath, "events", query), of.most+1)
	return events[:min(len(events), of.most)], len(events) > of.most, err
}

// events prints events.
func (j job) events(events []client.Record) error {
	return list(j, "events", events, "id,starts,ends,body;category", func(e api.EventSummary) []any {
		return []any{e.ID, timesOf(e).start(), timesOf(e).to(), e.Body, e.Category.Name}
	})
}
