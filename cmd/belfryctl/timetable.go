package main

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
)

const aboutNames = "NAME is an element's name, a part of it that no other has, its id, or the key that it was " +
	"imported with (Staff:17). Any user may ask; keys are\nfor administrators. The login is as for import."

func dayCommand(s surroundings) *cobra.Command {
	command := &cobra.Command{
		Use: "day NAME [DATE]", Short: "Show what somebody or something is committed to on a day",
		Long: "Lists the commitments of a day (YYYY-MM-DD), today's when none is given, its own and those through " +
			"groups, in order of time.\n\n" + aboutNames,
		Example: "  belfryctl day 'Great Hall'\n  belfryctl day gordon 2026-11-28",
		Args:    cobra.RangeArgs(1, 2), ValidArgsFunction: completeNames(s),
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
		Use: "week NAME [DATE]", Short: "Show what somebody or something is committed to in a week",
		Long: "As day, from the Monday to the Sunday of the week that has the DATE, or today by this machine's clock." +
			"\n\n" + aboutNames,
		Example: "  belfryctl week 'Kai Butler (7A)'\n  belfryctl week Location:G71 2026-11-28 --json",
		Args:    cobra.RangeArgs(1, 2), ValidArgsFunction: completeNames(s),
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
	day, err := time.Parse(time.DateOnly, j.args[1])
	if err != nil {
		return day, &usageError{fmt.Errorf("%q is not a day (YYYY-MM-DD)", j.args[1])}
	}
	return day, nil
}

// timetable prints the commitments of the element that the first argument names.
func (j job) timetable(query url.Values) error {
	element, err := j.named(j.args[0])
	if err != nil {
		return err
	}
	query.Set("include", "staff,locations")
	path := onePath("/api/elements", element.ID("id")) + "/commitments"
	commitments, err := collect(j.c.List(j.ctx, path, "commitments", query))
	if err != nil {
		return err
	}
	if j.json {
		return printJSON(j.s.out, map[string]any{
			"element": element, "commitments": append([]client.Record{}, commitments...),
		})
	}
	if _, err := fmt.Fprintf(j.s.out, "%s\n\n", flat(element.Text("name"))); err != nil {
		return err
	}
	return j.list("commitments", commitments, ofEvent(column{"day", startDay}), ofEvent(column{"from", from}),
		ofEvent(column{"to", to}), ofEvent(field("body")), field("status"),
		column{"through", elementName}, ofEvent(field("staff")), ofEvent(field("locations")))
}

// ofEvent is a column of a commitment that shows what one of an event does of the commitment's.
func ofEvent(c column) column {
	return column{c.head, func(r client.Record) string { return c.text(r.Inner("event")) }}
}

// startDay is the day on which an event starts.
func startDay(event client.Record) string {
	return dayOf(event.Text("starts_at")).Format("Mon " + time.DateOnly)
}

// from is the time at which an event starts.
func from(event client.Record) string {
	if event.Text("all_day") == "true" {
		return "all day"
	}
	return clockOf(event.Text("starts_at"))
}

// to is the time at which it ends, with the day when that is another one. Of whole days it is the last.
func to(event client.Record) string {
	starts, ends := dayOf(event.Text("starts_at")), dayOf(event.Text("ends_at"))
	switch last := ends.AddDate(0, 0, -1); {
	case event.Text("all_day") != "true" && ends.Equal(starts):
		return clockOf(event.Text("ends_at"))
	case event.Text("all_day") != "true":
		return ends.Format(time.DateOnly) + " " + clockOf(event.Text("ends_at"))
	case last.After(starts):
		return last.Format(time.DateOnly)
	default:
		return ""
	}
}

// clockOf is the 09:00 of 2026-09-07T09:00:00.000+01:00, dayOf its day: both where the deployment is.
func clockOf(text string) string {
	_, clock, _ := strings.Cut(text, "T")
	return clock[:min(len(clock), len("09:00"))]
}

func dayOf(text string) time.Time {
	date, _, _ := strings.Cut(text, "T")
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return time.Time{}
	}
	return day
}

func freeCommand(s surroundings) *cobra.Command {
	var from, to, event, group, near string
	types := []string{"Location", "Staff", "Property"}
	command := &cobra.Command{
		Use: "free TYPE", Short: "List the rooms or people that are free at a time",
		Long: "Lists what is not busy at any moment between --from and --to, or of an --event, whose own commitments " +
			"don't count. TYPE is " + strings.Join(types, ", ") + ".\nElements are named as for day.",
		Example: "  belfryctl free Location --from '2026-11-28 10:00' --to '2026-11-28 11:00'\n" +
			"  belfryctl free Staff --event 17 --near 'HGO - Hannah Gordon'",
		Args: cobra.ExactArgs(1), ValidArgs: types,
	}
	flags := command.Flags()
	flags.StringVar(&from, "from", "", "when it begins: 2026-11-28, or 2026-11-28 10:00 where the deployment is")
	flags.StringVar(&to, "to", "", "when it ends")
	flags.StringVar(&event, "event", "", "the id of an event, for who or what could stand in")
	flags.StringVar(&group, "group", "", "only what is in this group all the time")
	flags.StringVar(&near, "near", "", "first what shares the most groups with this element")
	return administrative(s, command, func(j job) error {
		query := url.Values{"type": {j.args[0]}}
		for name, value := range map[string]string{"starts_at": from, "ends_at": to, "event": event} {
			if value != "" {
				query.Set(name, value)
			}
		}
		for name, value := range map[string]string{"group": group, "near": near} {
			if value == "" {
				continue
			}
			element, err := j.named(value)
			if err != nil {
				return err
			}
			query.Set(name, element.Text("id"))
		}
		elements, err := collect(j.c.List(j.ctx, "/api/free", "elements", query))
		if err != nil {
			return err
		}
		return j.list("elements", elements, field("id"), field("name"))
	})
}

// named returns the element that a text names: by its id, its import key, its whole name, or a part of its name that no
// other has.
func (j job) named(text string) (client.Record, error) {
	kind, _, keyed := strings.Cut(text, ":")
	id, isID := idOf(text)
	if keyed = keyed && slices.Contains(entityTypes, kind); keyed {
		found, err := j.elementID(text)
		if err != nil {
			return nil, err
		}
		id = found
	}
	if isID || keyed {
		return j.c.Get(j.ctx, onePath("/api/elements", id), "element")
	}
	for _, by := range []string{"name", "namelike"} {
		found, err := search(j, by, text)
		switch {
		case err != nil:
			return nil, err
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return nil, severalNamed(text, found)
		}
	}
	return nil, fmt.Errorf("no element has %q in its name", text)
}

// severalNamed says which elements a text may mean.
func severalNamed(text string, found []client.Record) error {
	const shown = 8
	var names []string
	for _, e := range found[:min(len(found), shown)] {
		names = append(names, fmt.Sprintf("%s (%s)", e.Text("id"), e.Text("name")))
	}
	if len(found) > shown {
		names = append(names, "…")
	}
	return fmt.Errorf("several elements are named like %q: give one of the ids %s", text, strings.Join(names, ", "))
}

// search returns the current elements of a name, or with a part of it; none is no error.
func search(j job, by, text string) ([]client.Record, error) {
	found, err := collect(j.c.List(j.ctx, "/api/elements", "elements", url.Values{by: {text}}))
	if failed := (*client.Error)(nil); errors.As(err, &failed) && failed.Code == 404 && !failed.Foreign {
		return nil, nil
	}
	return found, err
}

// completeNames completes a first argument by the names that the deployment has.
func completeNames(s surroundings) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, part string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 || part == "" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		at := connection{url: command.Flag("url").Value.String(), uuidFile: command.Flag("uuid-file").Value.String()}
		c, err := at.login(command.Context(), s)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		found, err := search(job{ctx: command.Context(), c: c}, "namelike", part)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var names []string
		for _, e := range found {
			names = append(names, e.Text("name"))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
