package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
)

func bookCommand(s surroundings) *cobra.Command {
	var of booking
	var anyway bool
	command := &cobra.Command{
		Use: "book TITLE NAME…", Short: "Make an event of people, rooms and things",
		Long: `Makes an event that you own, with an element for each NAME. What another busy event holds at
that time is left out, and the exit code is 4, unless --anyway.

` + aboutNames,
		Example: "  belfryctl book 'Cricket away' 'Great Hall' gordon --category Fixture --from '2026-11-28 14:00' " +
			"--to '2026-11-28 18:00'\n" +
			"  belfryctl book 'Parents evening' 'Great Hall' --category 3 --from 2026-11-29 --all-day --dry-run",
		Args: cobra.MinimumNArgs(1), ValidArgsFunction: completeBooking(s),
	}
	flags := command.Flags()
	of.flags(command)
	flags.BoolVar(&anyway, "anyway", false, "book what is taken as well")
	flags.Bool(dryRun, false, "say what would be made, and make nothing")
	return administrative(s, command, func(j job) error {
		booked, err := j.book(of, anyway)
		if err != nil {
			return err
		}
		return j.booked(booked)
	})
}

// book makes the event of the arguments.
func (j job) book(of booking, anyway bool) (client.Booked, error) {
	fields, elements, err := of.read(j)
	if err != nil {
		return client.Booked{}, err
	}
	return j.c.Book(j.ctx, fields, elements, anyway)
}

// booking is an event to create: the first argument is its title, the others name its elements.
type booking struct {
	from, to, category string
	allDay             bool
}

func (b *booking) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&b.from, "from", "", "when it begins: 2026-11-28, or 2026-11-28 10:00 where the deployment is")
	flags.StringVar(&b.to, "to", "", "when it ends; without it at once, or with the day")
	flags.StringVar(&b.category, "category", "", "the event's category: its name or its id")
	flags.BoolVar(&b.allDay, "all-day", false, "whole days; the last is the day of --to")
	_, _ = command.MarkFlagRequired("from"), command.MarkFlagRequired("category")
}

// read returns the event's fields, and the elements' ids.
func (b *booking) read(j job) (fields map[string]any, elements []int64, err error) {
	of, err := j.category(b.category)
	if err != nil {
		return nil, nil, err
	}
	fields = map[string]any{
		"body": j.args[0], "event_category_id": of, "starts_at_text": b.from, "all_day_field": b.allDay,
	}
	if b.to != "" {
		fields["ends_at_text"] = b.to
	}
	elements, err = idsOf(j.args[1:], j.namedID)
	return fields, elements, err
}

// booked prints the event, and the elements that could not be added.
func (j job) booked(b client.Booked) (err error) {
	if j.as.data() {
		err = j.object(struct {
			client.Booked
			DryRun bool `json:"dry_run,omitempty"`
		}{b, j.dryRun})
	} else {
		err = j.trial(j.showEvent(b.Event))
	}
	if err != nil {
		return err
	}
	return j.notAdded(b.Failures, j.args[1:])
}

// notAdded says which of the elements could not be added, by their names, and why.
func (j job) notAdded(failures []client.Record, names []string) error {
	for _, f := range failures {
		index, err := strconv.Atoi(f.Text("index"))
		if err != nil || index >= len(names) {
			return fmt.Errorf("a failure names no element: %v", f)
		}
		fmt.Fprintf(j.s.err, "%s %s\n", names[index], reasonOf(f))
	}
	if len(failures) > 0 {
		return partly("some elements are left out of the event")
	}
	return nil
}

// reasonOf says why an element could not be added.
func reasonOf(failure client.Record) string {
	var wrong []string
	errs := failure.Inner("item").Inner("errors")
	for field := range errs {
		wrong = append(wrong, errs.Text(field))
	}
	return cmp.Or(strings.Join(wrong, ", "), "was not found")
}

// category returns the category that a text names, by its id or its name.
func (j job) category(text string) (int64, error) {
	return j.categoryCalled(text, "/api/eventcategories", strings.EqualFold, "no category is called %q")
}

// completeBooking completes all arguments except the title with the names of elements.
func completeBooking(s surroundings) cobra.CompletionFunc {
	names := completeNames(s)
	return func(command *cobra.Command, args []string, part string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(command, nil, part)
	}
}
