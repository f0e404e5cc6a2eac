package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

func bookCommand(s surroundings) *cobra.Command {
	var of booking
	var anyway bool
	command := &cobra.Command{
		Use: "book TITLE NAME…", Short: "Book people, rooms and things for a new event",
		Long: `Creates an event that you own, with an element for each NAME. Elements that are already booked
at that time are left out, and the exit code is 4; --anyway books them too.

` + aboutNames,
		Example: "  belfryctl book 'Cricket away' 'Great Hall' gordon --category Fixture --from '2026-11-28 14:00' " +
			"--to '2026-11-28 18:00'\n" +
			"  belfryctl book 'Parents evening' 'Great Hall' --category 3 --from 2026-11-29 --all-day --dry-run",
		Args: cobra.MinimumNArgs(1), ValidArgsFunction: completeBooking(s),
	}
	flags := command.Flags()
	of.flags(command)
	flags.BoolVar(&anyway, "anyway", false, "book elements that are already booked, too")
	dryRunFlag(command)
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
	flags.StringVar(&b.from, "from", "", "start: 2026-11-28, or 2026-11-28 10:00 in the deployment's time zone")
	flags.StringVar(&b.to, "to", "", "end; without it, the event has no duration, or lasts one day")
	flags.StringVar(&b.category, "category", "", "category of the event, a name or an id")
	flags.BoolVar(&b.allDay, "all-day", false, "whole days, up to and including the day of --to")
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

func seriesCommand(s surroundings) *cobra.Command {
	return family("series", "Manage recurring events",
		`A series is an event for each occurrence of a rule. Each is decided by itself. cancel deletes
them.`,
		makeSeriesCommand(s),
		administrative(s, &cobra.Command{
			Use: "show ID", Short: "Show a series and its current events",
			Long:    `ID is the id of the series, which each of its events shows.`,
			Example: "  belfryctl series show 1 -o wide",
		}, showSeries),
		changeSeriesCommand(s))
}

func makeSeriesCommand(s surroundings) *cobra.Command {
	var of booking
	var rule, during, clashes string
	var except, notDuring []string
	command := &cobra.Command{
		Use: "make TITLE NAME…", Short: "Create an event for each occurrence of a rule",
		Long: `Creates a series of events that you own, each with an element for each NAME. Either all events
are created or none. RULE is an RRULE of RFC 5545 with UNTIL or COUNT; --from and --to are the
time of the first occurrence. CATEGORY is a name or an id.

` + aboutNames,
		Example: "  belfryctl series make Choir 'Great Hall' gordon --category Club --from '2027-01-12 16:00' " +
			"--to '2027-01-12 17:00' \\\n" +
			"    --rule 'FREQ=WEEKLY;BYDAY=TU;UNTIL=20270716' --not-during Holiday --clashes skip --dry-run",
		Args: cobra.MinimumNArgs(1), ValidArgsFunction: completeBooking(s),
	}
	flags := command.Flags()
	of.flags(command)
	flags.StringVar(&rule, "rule", "", "how the event repeats, such as FREQ=WEEKLY;COUNT=10")
	flags.StringSliceVar(&except, "except", nil, "days (2027-02-16) on which no event starts")
	flags.StringVar(&during, "during", "", "only on days with an event of this CATEGORY, or CATEGORY=TITLE")
	flags.StringArrayVar(&notDuring, "not-during", nil,
		"not on days with an event of this CATEGORY, or CATEGORY=TITLE; repeatable")
	clashesFlag(command, &clashes, "refuse", aboutClashes)
	dryRunFlag(command)
	_ = command.MarkFlagRequired("rule")
	return administrative(s, command, func(j job) error {
		fields, elements, err := of.read(j)
		if err != nil {
			return err
		}
		repeat := map[string]any{"rule": rule, "except": except}
		if repeat["during"], err = j.calendar(during); err != nil {
			return err
		}
		calendars := make([]any, len(notDuring))
		for i, text := range notDuring {
			if calendars[i], err = j.calendar(text); err != nil {
				return err
			}
		}
		repeat["not_during"] = calendars
		planned, err := j.c.Repeat(j.ctx, fields, elements, repeat, clashes)
		if err != nil {
			return err
		}
		return j.planned(planned)
	})
}

// calendar is what during and not_during are of a text, nil of none: CATEGORY, or CATEGORY=TITLE.
func (j job) calendar(text string) (any, error) {
	if text == "" {
		return nil, nil
	}
	name, title, _ := strings.Cut(text, "=")
	id, err := j.category(name)
	if err != nil {
		return nil, err
	}
	return map[string]any{"event_category_id": id, "body": title}, nil
}

// planned prints a series as it was made, what was left out of it, and what could not be added.
func (j job) planned(p client.Planned) error {
	if j.as.data() {
		if err := j.object(p); err != nil {
			return err
		}
	} else if err := occurrences(j, p.Series, "id,starts,ends", plannedCells); err != nil {
		return err
	}
	j.clashesOf(p.Clashes)
	return j.notAdded(p.Failures, j.args[1:])
}

// plannedCells are the cells of an occurrence with its times; one that is only planned has no id.
func plannedCells(e api.EventSummary) []any {
	return []any{orNone(e.ID), timesOf(e).start(), timesOf(e).to()}
}

// clashesOf prints the clashes of a series.
func (j job) clashesOf(clashes []client.Record) {
	all := client.As[struct{ Clashes api.Clashes }](client.Record{"clashes": clashes}).Clashes
	for _, c := range all {
		fmt.Fprintf(j.s.err, "%s is already booked for %s, in event %d of the series\n", c.Element.Name, c.Event.Body,
			c.Place)
	}
}

// occurrences prints the events of a series and what was left out of it.
func occurrences[T any](j job, series client.Record, heads string, cells func(T) []any) error {
	if s := client.As[api.Series](series); s.ID != 0 && j.as.table() {
		if _, err := fmt.Fprintf(j.s.out, "Series %d: %s\n\n", s.ID, s.Rule); err != nil {
			return err
		}
	}
	if err := list(j, "events", series.Records("events"), heads, cells); err != nil {
		return err
	}
	return leftOut(j, series, "Left out:", "date,reason,event_id", func(l api.LeftOut) []any {
		return []any{l.Date, l.Reason, orNone(l.EventID)}
	})
}

// leftOut prints what was left out of a series, if anything was.
func leftOut[T any](j job, series client.Record, title, heads string, cells func(T) []any) error {
	left := series.Records("left_out")
	if len(left) == 0 || !j.as.table() {
		return nil
	}
	if _, err := fmt.Fprintf(j.s.out, "\n%s\n", title); err != nil {
		return err
	}
	return list(j, "left_out", left, heads, cells)
}

// occurrence is an event in its series.
type occurrence struct {
	Place        int
	Event        api.EventSummary
	ChangedAlone []string `json:"changed_alone"`
}

func showSeries(j job) error {
	_, path, err := resource{path: "/api/series", id: plainID("a series")}.at(j)
	if err != nil {
		return err
	}
	series, err := j.c.Get(j.ctx, path, "series")
	if err != nil {
		return err
	}
	if j.as.data() {
		return j.object(map[string]any{"series": series})
	}
	return occurrences(j, series, "id,starts,ends,body;place,changed_alone", func(o occurrence) []any {
		return append(plannedCells(o.Event), o.Event.Body, o.Place, strings.Join(o.ChangedAlone, ","))
	})
}

func changeSeriesCommand(s surroundings) *cobra.Command {
	var of seriesChange
	command := &cobra.Command{
		Use: "change EVENT", Short: "Change all events of the series of an event",
		Long: `Changes all events of the series, or with --following only the event and those after it. Either
all are changed or none. They get the same title and category, and move by as many days and
hours as the event. Events that were changed individually stay as they are, unless --overwrite
is given. CATEGORY is a name or an id.`,
		Example: "  belfryctl series change 'Junior choir' --on 2027-02-16 --following \\\n" +
			"    --from '2027-02-16 16:30' --to '2027-02-16 17:30' --dry-run",
	}
	of.flags(command)
	return eventCommand(s, command, func(j job, event client.Record) error {
		body, err := of.read(j, command)
		if err != nil {
			return err
		}
		changed, err := j.c.ChangeSeries(j.ctx, event.ID("id"), scopeOf(of.following, true), body)
		if err != nil {
			return err
		}
		return j.changedSeries(changed)
	})
}

// seriesChange is what the flags of a change say.
type seriesChange struct {
	title, category, from, to, clashes string
	allDay, following, overwrite       bool
}

func (c *seriesChange) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&c.title, "title", "", "the new title")
	flags.StringVar(&c.category, "category", "", "the new CATEGORY")
	flags.StringVar(&c.from, "from", "", "the event's new start")
	flags.StringVar(&c.to, "to", "", "the event's new end")
	flags.BoolVar(&c.allDay, "all-day", false, "make them whole days; with =false, make them timed")
	flags.BoolVar(&c.following, "following", false, "leave earlier events as they are")
	flags.BoolVar(&c.overwrite, "overwrite", false, "also change events that were changed individually")
	clashesFlag(command, &c.clashes, "refuse", aboutClashes)
}

// scopeOf says which events of a series a call is about.
func scopeOf(following, all bool) string {
	switch {
	case following:
		return "following"
	case all:
		return "all"
	}
	return "one"
}

// read returns the body of the change.
func (c *seriesChange) read(j job, command *cobra.Command) (map[string]any, error) {
	event := map[string]any{}
	for name, text := range map[string]string{"body": c.title, "starts_at_text": c.from, "ends_at_text": c.to} {
		if text != "" {
			event[name] = text
		}
	}
	if command.Flags().Changed("all-day") {
		event["all_day_field"] = c.allDay
	}
	if c.category != "" {
		id, err := j.category(c.category)
		if err != nil {
			return nil, err
		}
		event["event_category_id"] = id
	}
	return map[string]any{"event": event, "overwrite": c.overwrite, "clashes": c.clashes}, nil
}

// changedSeries prints the outcome of a change for the events of a series.
func (j job) changedSeries(c client.ChangedSeries) error {
	if j.as.data() {
		if err := j.object(c); err != nil {
			return err
		}
	} else if err := j.occurrencesChanged(c.Series); err != nil {
		return err
	}
	j.clashesOf(c.Clashes)
	return nil
}

func (j job) occurrencesChanged(series client.Record) error {
	if err := list(j, "changed", series.Records("changed"), "id,starts,ends", plannedCells); err != nil {
		return err
	}
	return leftOut(j, series, "Not changed:", "id,starts,reason,event_id", func(r client.Record) []any {
		e, l := client.As[api.EventSummary](r), client.As[api.LeftOut](r)
		return []any{orNone(e.ID), timesOf(e).start(), l.Reason, orNone(l.EventID)}
	})
}

// aboutClashes describes --clashes.
const aboutClashes = "if an element is already booked: allow, report, skip or refuse"

func clashesFlag(command *cobra.Command, of *string, unless, about string) {
	command.Flags().StringVar(of, "clashes", unless, about)
	complete(command, "clashes", "allow", "report", "skip", "refuse")
}
