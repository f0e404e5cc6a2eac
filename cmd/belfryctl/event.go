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
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/record/needle"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

const (
	eventPath = "/api/events"

	aboutEvents = `EVENT is an event's id, or an unambiguous part of its title, from today on or on the day of
--on.`
)

// eventCommand completes a command on the event that its first argument names, which may be a dry run.
func eventCommand(s surroundings, command *cobra.Command, work func(job, client.Record) error) *cobra.Command {
	command.Long += "\n\n" + aboutEvents
	on := command.Flags().String("on", "", "day (2026-11-28) of the event")
	dryRunFlag(command)
	return administrative(s, command, func(j job) error {
		event, err := j.event(j.args[0], *on)
		if err != nil {
			return err
		}
		return work(j, event)
	})
}

// event returns the event that a text names: by its id, or by its title on a day or, without a day, from today on.
func (j job) event(text, on string) (client.Record, error) {
	if id, ok := idOf(text); ok {
		return j.eventAt(id)
	}
	query, when := url.Values{"text": {text}, "limit": {"200"}}, "from today on"
	if on == "" {
		query.Set("start_date", time.Now().Format(time.DateOnly))
	} else {
		if _, err := dayOfFlag("--on: ", on); err != nil {
			return nil, err
		}
		query.Set("start_date", on)
		query.Set("end_date", on)
		when = "on " + on
	}
	const most = 1000 // of a title that many events have, none is meant
	found, err := first(j.c.List(j.ctx, eventPath, "events", query), most)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no event %s has %q in its title; --on searches another day", when, text)
	}
	meant, err := oneOf("events "+when, text, found, eventText, func(e client.Record) bool {
		return needle.Fold(e.Text("body")) == needle.Fold(text)
	})
	if err != nil {
		return nil, err
	}
	return j.eventAt(meant.ID("id"))
}

func (j job) eventAt(id int64) (client.Record, error) {
	return j.c.Get(j.ctx, onePath(eventPath, id)+"?include=category", "event")
}

// eventText describes an event: 12 (Chess, Tue 2026-11-24 15:00).
func eventText(event client.Record) string {
	e := client.As[api.EventSummary](event)
	return fmt.Sprintf("%d (%s, %s)", e.ID, flat(e.Body), timesOf(e).start())
}

// oneOf returns the record that a text means of those whose names have it, of which there are some: the only one, or
// the only one that it names exactly. Otherwise the error says which they are.
func oneOf(
	of, text string, found []client.Record, name func(client.Record) string, exactly func(client.Record) bool,
) (client.Record, error) {
	exact := slices.DeleteFunc(slices.Clone(found), func(r client.Record) bool { return !exactly(r) })
	if len(exact) > 0 {
		found = exact
	}
	if len(found) == 1 {
		return found[0], nil
	}
	const shown = 8
	names := sequence.Map(found[:min(len(found), shown)], name)
	if len(found) > shown {
		names = append(names, "…")
	}
	return nil, fmt.Errorf("several %s match %q: give one of the ids %s", of, text, strings.Join(names, ", "))
}

// showEvent prints an event with its elements.
func (j job) showEvent(event client.Record) error {
	if !j.as.data() {
		event["elements"] = elementNames(event)
	}
	return j.show(nil, "event", event, "id", "body", "starts_at", "ends_at", "all_day", "elements")
}

// elementNames lists an event's elements, with the statuses that need a decision.
func elementNames(event client.Record) string {
	var names []string
	for _, c := range event.Records("commitments") {
		name := c.Inner("element").Text("name")
		if status := c.Text("status"); status != "uncontrolled" {
			name += " (" + status + ")"
		}
		names = append(names, name)
	}
	for _, r := range event.Records("requests") {
		names = append(names, r.Text("quantity")+" of "+r.Inner("element").Text("name"))
	}
	return strings.Join(names, ", ")
}

// clashesIf is the value of clashes: refuse unless they are allowed.
func clashesIf(allowed bool) string {
	if allowed {
		return "allow"
	}
	return "refuse"
}

// trial ends a call that may be a dry run, which it says below a table. It returns the error of showing the table.
func (j job) trial(shown error) error {
	if shown != nil || !j.dryRun || !j.as.table() {
		return shown
	}
	_, err := fmt.Fprintln(j.s.out, "\ndry run: nothing was written")
	return err
}

// clock has the times of an event by the clocks of the deployment, whose zone the command does not know, so they are
// taken for UTC. The end is exclusive.
type clock struct {
	starts, ends time.Time
	allDay       bool
}

// minute is how a time of day is read and written.
const minute = "15:04"

// byClock reads a time of an answer.
func byClock(text string) (time.Time, error) {
	const seconds = "2006-01-02T15:04:05"
	if len(text) < len(seconds) {
		return time.Time{}, fmt.Errorf("%q is not a time in Belfry's format", text)
	}
	return time.Parse(seconds, text[:len(seconds)])
}

// clockOf reads the times of an answer.
func clockOf(starts, ends string, allDay bool) (c clock, err error) {
	c.allDay = allDay
	if c.starts, err = byClock(starts); err == nil {
		c.ends, err = byClock(ends)
	}
	return c, err
}

// timesOf are the times of an event to show, zero where the answer has none.
func timesOf(e api.EventSummary) clock {
	c, _ := clockOf(e.StartsAt, e.EndsAt, e.AllDay)
	return c
}

// moved returns the times after a move. When is a day, a time or both; until is the new end likewise, of whole days the
// last one. What neither says stays, and so does the length.
func (c clock) moved(when, until string) (clock, error) {
	starts, err := c.at(when, c.starts)
	if err != nil {
		return c, err
	}
	moved := clock{starts: starts, ends: starts.Add(c.ends.Sub(c.starts)), allDay: c.allDay}
	if until != "" {
		if moved.ends, err = c.at(until, starts); err != nil {
			return c, err
		}
		if c.allDay {
			moved.ends = moved.ends.AddDate(0, 0, 1)
		}
	}
	if moved.ends.Before(moved.starts) {
		return c, &usageError{errors.New("the end is before the start")}
	}
	return moved, nil
}

// at reads a time; missing parts are those of another time.
func (c clock) at(text string, other time.Time) (time.Time, error) {
	midnight := other.Truncate(24 * time.Hour)
	day, dayErr := time.Parse(time.DateOnly, text)
	if c.allDay {
		if dayErr != nil {
			return day, &usageError{fmt.Errorf("%q is not a day (2026-11-28); the event is of whole days", text)}
		}
		return day, nil
	}
	if dayErr == nil {
		return day.Add(other.Sub(midnight)), nil
	}
	if at, err := time.Parse(minute, text); err == nil {
		return midnight.Add(time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute), nil
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02T15:04"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return day, &usageError{fmt.Errorf("%q is neither a day (2026-11-28) nor a time (15:00), nor both", text)}
}

// fields are the times as the interface takes them.
func (c clock) fields() map[string]any {
	const minutes = "2006-01-02 15:04:05"
	return map[string]any{"starts_at": c.starts.Format(minutes), "ends_at": c.ends.Format(minutes)}
}

func moveCommand(s surroundings) *cobra.Command {
	var of move
	command := &cobra.Command{
		Use: "move EVENT WHEN", Short: "Move an event to another day or time",
		Long: `WHEN is a day (2026-11-28), a time (15:00) or both; what is missing stays the same. The event
keeps its length, unless --until is given. If one of its elements is already booked at the new
time, nothing is changed, unless --anyway is given. The other events of a series stay; see
"belfryctl series change".`,
		Example: "  belfryctl move 'House chess' '2026-12-02 15:30'\n" +
			"  belfryctl move 'Open day' 2026-12-05 --on 2026-11-28 --dry-run\n" +
			"  belfryctl move 12 15:00 --until 17:00 --anyway",
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := command.Flags()
	flags.StringVar(&of.until, "until", "", "new end, in the form of WHEN; for whole days, the last day")
	flags.BoolVar(&of.anyway, "anyway", false, "move the event even if an element is already booked")
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

func cancelCommand(s surroundings) *cobra.Command {
	var following, all bool
	command := &cobra.Command{
		Use: "cancel EVENT", Short: "Delete an event or its series",
		Long: `Deletes the event with its commitments, requests and notes. --following and --all delete other
events of its series too. Events that you may not delete are listed (exit code 4).`,
		Example: "  belfryctl cancel 'House chess' --on 2026-12-02\n" +
			"  belfryctl cancel 'Junior choir' --on 2027-01-26 --following --dry-run\n" +
			"  belfryctl cancel 13",
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := command.Flags()
	flags.BoolVar(&following, "following", false, "also delete the later events of its series")
	flags.BoolVar(&all, "all", false, "delete all events of its series")
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
			fmt.Fprintf(j.s.err, "event %s was not deleted\n", eventText(e))
		}
		if hidden := len(left) - len(stay); hidden > 0 {
			fmt.Fprintf(j.s.err, "events that you can't see and that were not deleted: %d\n", hidden)
		}
		return partly("you may not delete some events of the series")
	})
}

// inScope returns an event, with those of its series that a scope adds.
func (j job) inScope(event client.Record, scope string) ([]client.Record, error) {
	if scope == "one" {
		return []client.Record{event}, nil
	}
	id := event.ID("series_id")
	if id == 0 {
		return nil, fmt.Errorf("event %s does not belong to a series", eventText(event))
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

func noteCommand(s surroundings) *cobra.Command {
	var staff, pupils, guests bool
	command := &cobra.Command{
		Use: "note EVENT [TEXT]", Short: "Add a note to an event, or list its notes",
		Long: `Adds a note for staff, in Markdown. Without TEXT it lists the notes that you may see.`,
		Example: "  belfryctl note 'Open day' 'Bring a *packed lunch*.' --on 2026-11-28 --pupils\n" +
			"  belfryctl note 12",
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := command.Flags()
	flags.BoolVar(&staff, "staff", true, "show it to staff")
	flags.BoolVar(&pupils, "pupils", false, "show it to pupils")
	flags.BoolVar(&guests, "guests", false, "show it to guests")
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
