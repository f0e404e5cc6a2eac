package main

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

const aboutNames = `NAME is an element's name, an unambiguous part of it, its id or, for administrators, its import
key (Staff:17).`

func dayCommand(s surroundings) *cobra.Command {
	command := &cobra.Command{
		Use: "day NAME [DATE]", Short: "Show the commitments of a person or thing on a day",
		Long: `Lists the commitments of a day (YYYY-MM-DD, default today), its own and those of its groups, in
order of time.

` + aboutNames,
		Example: "  belfryctl day 'Great Hall'\n  belfryctl day gordon 2026-11-28", ValidArgsFunction: completeNames(s),
	}
	return administrative(s, command, func(j job) error {
		day, err := j.date()
		if err != nil {
			return err
		}
		query := url.Values{}
		if len(j.args) > 1 { // else it is today where the deployment is
			query.Set("start_date", day.Format(time.DateOnly))
		}
		return j.timetable(query)
	})
}

func weekCommand(s surroundings) *cobra.Command {
	command := &cobra.Command{
		Use: "week NAME [DATE]", Short: "Show the commitments of a person or thing in a week",
		Long: `Like day, from Monday to Sunday of the week with the DATE (default today, by this machine's
clock).

` + aboutNames,
		Example:           "  belfryctl week 'Kai Butler (7A)'\n  belfryctl week Location:G71 2026-11-28 -o json",
		ValidArgsFunction: completeNames(s),
	}
	return administrative(s, command, func(j job) error {
		day, err := j.date()
		if err != nil {
			return err
		}
		const week = 7
		monday := day.AddDate(0, 0, -(int(day.Weekday())+week-1)%week)
		return j.timetable(url.Values{
			"start_date": {monday.Format(time.DateOnly)},
			"end_date":   {monday.AddDate(0, 0, week-1).Format(time.DateOnly)},
		})
	})
}

// date is the second argument, today when there is none.
func (j job) date() (time.Time, error) {
	if len(j.args) < 2 {
		return time.Now(), nil
	}
	return dayOfFlag("", j.args[1])
}

// commitmentsOf returns the element that a text names, and its commitments.
func (j job) commitmentsOf(text string, query url.Values) (element client.Record, all []client.Record, err error) {
	if element, err = j.named(text); err != nil {
		return nil, nil, err
	}
	query.Set("include", "staff,locations")
	path := onePath("/api/elements", element.ID("id")) + "/commitments"
	all, err = collect(j.c.List(j.ctx, path, "commitments", query))
	return element, all, err
}

// timetable prints the commitments of the element that the first argument names.
func (j job) timetable(query url.Values) error {
	element, commitments, err := j.commitmentsOf(j.args[0], query)
	if err != nil {
		return err
	}
	if j.as.data() {
		return j.object(map[string]any{"element": element, "commitments": append([]client.Record{}, commitments...)})
	}
	if j.as.table() {
		if _, err := fmt.Fprintf(j.s.out, "%s\n\n", flat(element.Text("name"))); err != nil {
			return err
		}
	}
	return list(j, "commitments", commitments, "day,from,to,body,status,through,staff,locations;event_id",
		func(c api.ListedCommitment) []any {
			e := c.Event
			at, _ := clockOf(e.StartsAt, e.EndsAt, e.AllDay)
			return []any{at.day(), at.from(), at.to(), e.Body, c.Status, c.Element.Name, e.Staff, e.Locations, e.ID}
		})
}

// start is the day and time at which an event starts.
func (c clock) start() dated { return dated{c.starts, " " + c.from()} }

// day is the day on which an event starts.
func (c clock) day() dated { return dated{day: c.starts} }

// from is the time at which an event starts.
func (c clock) from() string {
	if c.allDay {
		return "all day"
	}
	return c.starts.Format(minute)
}

// to is the time at which an event ends, with the day when that is another one. Of whole days it is the last.
func (c clock) to() string {
	switch last := c.ends.AddDate(0, 0, -1); {
	case !c.allDay && c.ends.Format(time.DateOnly) == c.starts.Format(time.DateOnly):
		return c.ends.Format(minute)
	case !c.allDay:
		return c.ends.Format(time.DateOnly + " " + minute)
	case last.After(c.starts):
		return last.Format(time.DateOnly)
	default:
		return ""
	}
}

func freeCommand(s surroundings) *cobra.Command {
	var of freeArguments
	var all []string
	var hours string
	var minutes int
	types := []string{"Location", "Staff", "Property"}
	command := &cobra.Command{
		Use: "free [TYPE]", Short: "List what is free at a time, or when some elements are free",
		Long: `Lists the elements that are free all the time from --from to --to, or during an --event, whose
own commitments do not count. TYPE is ` + strings.Join(types, ", ") + `. With --of, lists instead
when all of these elements are free, from the day --from to the day --to, at most 14 days.

` + aboutNames,
		Example: "  belfryctl free Location --from '2026-11-28 10:00' --to '2026-11-28 11:00'\n" +
			"  belfryctl free Staff --event 17 --near 'HGO - Hannah Gordon'\n" +
			"  belfryctl free --of gordon --of 'Great Hall' --from 2026-11-30 --to 2026-12-04 --hours 08:30-16:00",
		ValidArgs: types,
	}
	flags := command.Flags()
	flags.StringVar(&of.From, "from", "", "start: 2026-11-28, or 2026-11-28 10:00 in the deployment's time zone")
	flags.StringVar(&of.To, "to", "", "end")
	flags.StringVar(&of.Event, "event", "", "id of an event that needs a substitute")
	flags.StringVar(&of.Group, "group", "", "only members of this group during the whole time")
	flags.StringVar(&of.Near, "near", "", "list those first that share the most groups with this element")
	flags.StringArrayVar(&all, "of", nil, "element that has to be free; repeatable")
	flags.StringVar(&hours, "hours", "", "with --of: only within these hours of each day, such as 08:30-16:00")
	flags.IntVar(&minutes, "minutes", 30, "with --of: minimum length in minutes")
	for _, other := range []string{"event", "group", "near"} {
		command.MarkFlagsMutuallyExclusive("of", other)
	}
	return administrative(s, command, func(j job) error {
		if (len(all) > 0) == (len(j.args) > 0) {
			return &usageError{errors.New("give either TYPE or --of")}
		}
		if len(all) > 0 {
			if j.as == asNames {
				return &usageError{errors.New("--output: times have no ids")}
			}
			begin, end, _ := strings.Cut(hours, "-")
			return j.slots(all, queryOf(map[string]string{"start_date": of.From, "end_date": of.To, "opens": begin,
				"closes": end, "minutes": strconv.Itoa(minutes)}))
		}
		of.Type = j.args[0]
		free, err := j.free(of)
		if err != nil {
			return err
		}
		return list(j, "elements", free, "id,name;type", func(e api.Element) []any {
			return []any{e.ID, e.Name, e.EntityType}
		})
	})
}

// slots prints the times at which the elements that the names mean are free.
func (j job) slots(names []string, query url.Values) error {
	ids, err := idsOf(names, j.namedID)
	if err != nil {
		return err
	}
	query.Set("slots", strings.ReplaceAll(spaced(ids), " ", ","))
	found := j.c.List(j.ctx, "/api/free", "slots", query)
	return listed(j, "slots", found, "day,from,to", func(i api.Interval) []any {
		at, _ := clockOf(i.StartsAt, i.EndsAt, false)
		return []any{at.day(), at.from(), at.to()}
	})
}

// free returns the elements of a type that are free.
func (j job) free(of freeArguments) ([]client.Record, error) {
	query := queryOf(map[string]string{"type": of.Type, "starts_at": of.From, "ends_at": of.To, "event": of.Event})
	if err := addIDs(query, j.namedID, map[string]string{"group": of.Group, "near": of.Near}); err != nil {
		return nil, err
	}
	return collect(j.c.List(j.ctx, "/api/free", "elements", query))
}

// named returns the element that a text names: by its id, its import key, its whole name, or a part of its name that no
// other has.
func (j job) named(text string) (client.Record, error) {
	kind, _, keyed := strings.Cut(text, ":")
	if _, isID := idOf(text); isID || keyed && slices.Contains(entityTypes, kind) {
		id, err := j.elementID(text)
		if err != nil {
			return nil, err
		}
		return j.c.Get(j.ctx, onePath("/api/elements", id), "element")
	}
	for _, by := range []string{"name", "namelike"} {
		found, err := j.search("/api/elements", "elements", url.Values{by: {text}})
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			return oneOf("elements", text, found, elementText, func(client.Record) bool { return false })
		}
	}
	return nil, fmt.Errorf("no element has %q in its name", text)
}

// elementText says which element is meant: 12 (Great Hall).
func elementText(e client.Record) string { return fmt.Sprintf("%d (%s)", e.ID("id"), e.Text("name")) }

// namedID is the id of the element that a text names.
func (j job) namedID(text string) (int64, error) {
	element, err := j.named(text)
	return element.ID("id"), err
}

// completeNames completes a first argument with the names of elements.
func completeNames(s surroundings) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, part string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 || part == "" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		at := connection{url: command.Flag("url").Value.String(), uuidFile: command.Flag("uuid-file").Value.String()}
		j := job{ctx: command.Context()}
		var err error
		if j.c, err = at.login(j.ctx, s); err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		found, err := j.search("/api/elements", "elements", url.Values{"namelike": {part}})
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return sequence.Map(found, func(e client.Record) string {
			return client.As[api.Element](e).Name
		}), cobra.ShellCompDirectiveNoFileComp
	}
}

func findCommand(s surroundings) *cobra.Command {
	var of searched
	command := &cobra.Command{
		Use: "find [TEXT]", Short: "Find events by title, days, elements and more",
		Long: `Lists the events that match TEXT and all flags, in order of time. At least one of them is
required. TEXT is a part of the title, of at least three characters; case and accents are
ignored.

` + aboutNames,
		Example: "  belfryctl find bletchley\n" +
			"  belfryctl find --element 'Great Hall' --from 2026-11-28 --to 2026-11-30\n" +
			"  belfryctl find trip --category Trip --status requested -o csv > trips.csv",
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := command.Flags()
	flags.StringVar(&of.From, "from", "", "only events on this day (2026-11-28) or later")
	flags.StringVar(&of.To, "to", "", "only events on this day or earlier")
	flags.StringVar(&of.Element, "element", "", "only events with this element or a group that contains it")
	flags.StringVar(&of.Category, "category", "", "only events of this category, a name or an id")
	flags.StringVar(&of.owner, "owner", "", "only events owned by the user with this id")
	flags.StringVar(&of.Status, "status", "", "only events with a commitment of this status, such as requested")
	flags.IntVar(&of.most, "most", eventPage, "maximum number of events")
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
			fmt.Fprintf(j.s.err, "only the first %d are listed; --most lists more\n", of.most)
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
