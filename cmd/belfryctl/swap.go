package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/record/needle"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

func swapCommand(s surroundings) *cobra.Command {
	var anyway bool
	command := &cobra.Command{
		Use:   "swap EVENT NAME [OTHER-EVENT] OTHER-NAME",
		Short: "Replace an element of an event, or exchange elements of two events",
		Long: `Replaces the event's element NAME with OTHER-NAME, such as a teacher with a cover. With
OTHER-EVENT, the two events exchange NAME and OTHER-NAME, such as their rooms. If an element is
already booked at that time, nothing is changed, unless --anyway is given. NAME is an unambiguous
part of the name of one of the event's elements.

` + aboutNames,
		Example: "  belfryctl swap 'House chess' 'Great Hall' Gym\n" +
			"  belfryctl swap 'Year 9 drama' 'Great Hall' 'Band practice' 'Music room' --dry-run\n" +
			"  belfryctl swap 14 gordon Staff:18 --anyway",
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	command.Flags().BoolVar(&anyway, "anyway", false, "use elements that are already booked, too")
	var on string
	command.Flags().StringVar(&on, "other-on", "", "day of OTHER-EVENT")
	return eventCommand(s, command, func(j job, event client.Record) error {
		exchange, err := j.exchange(event, on)
		if err != nil {
			return err
		}
		return j.swap(exchange, anyway)
	})
}

// swapping is an element that an event gets in place of another one.
type swapping struct {
	event      client.Record
	commitment client.Record // that goes
	element    api.Element   // that comes
}

// exchange reads what the arguments after the event say: one swap, or two of an exchange.
func (j job) exchange(event client.Record, on string) ([]swapping, error) {
	gone, err := commitmentOf(event, j.args[1])
	if err != nil {
		return nil, err
	}
	if len(j.args) == 3 {
		element, err := j.named(j.args[2])
		if err != nil {
			return nil, err
		}
		return []swapping{{event, gone, client.As[api.Element](element)}}, nil
	}
	other, err := j.event(j.args[2], on)
	if err != nil {
		return nil, err
	}
	if other.ID("id") == event.ID("id") {
		return nil, &usageError{errors.New("the two events are the same")}
	}
	theirs, err := commitmentOf(other, j.args[3])
	if err != nil {
		return nil, err
	}
	return []swapping{
		{event, gone, client.As[api.EventCommitment](theirs).Element},
		{other, theirs, client.As[api.EventCommitment](gone).Element},
	}, nil
}

// commitmentOf returns the commitment of an event to the element that a text names: by its id, its whole name, or a
// part of its name that no other has.
func commitmentOf(event client.Record, text string) (client.Record, error) {
	id, _ := idOf(text)
	is := func(c client.Record) bool { return strings.EqualFold(c.Inner("element").Text("name"), text) }
	var found []client.Record
	for _, c := range event.Records("commitments") {
		e := client.As[api.EventCommitment](c).Element
		switch {
		case id == e.ID:
			return c, nil
		case is(c), id == 0 && needle.New(text).In(e.Name):
			found = append(found, c)
		}
	}
	which := eventText(event)
	if len(found) == 0 {
		has := cmp.Or(elementNames(event), "none")
		return nil, fmt.Errorf("event %s has no element %q; it has %s", which, text, has)
	}
	name := func(c client.Record) string { return elementText(c.Inner("element")) }
	return oneOf("elements of event "+which, text, found, name, is)
}

// exchangeTimeout bounds the two writes of an exchange, and then what a failed one takes.
const exchangeTimeout = time.Minute

// swap replaces the elements, of each event in one write. Two events that exchange elements both change, or none: dry
// runs come first, and from then on an interrupt stops nothing.
func (j job) swap(exchange []swapping, anyway bool) error {
	if len(exchange) > 1 {
		if err := j.mustBePossible(exchange, anyway); err != nil {
			return err
		}
		var end context.CancelFunc
		j.ctx, end = context.WithTimeout(context.WithoutCancel(j.ctx), exchangeTimeout)
		defer end()
	}
	var changed []client.Record
	for i, w := range exchange {
		clashes := clashesIf(anyway || len(exchange) > 1)
		replaced, err := j.c.Replace(j.ctx, w.event.ID("id"), w.replacement(), clashes)
		reasons := strings.Join(sequence.Map(replaced.Failures, reasonOf), "; ")
		if err == nil && reasons != "" {
			err = fmt.Errorf("%s %s; event %s is unchanged", w.element.Name, reasons, eventText(w.event))
		}
		if err != nil && len(exchange) > 1 && !j.dryRun {
			replaced.Event, err = j.settle(exchange[:i], w, err)
		}
		if err != nil {
			return err
		}
		changed = append(changed, replaced.Event)
	}
	return j.trial(j.showSwapped(changed))
}

// showSwapped prints the events of a swap: that of one as other commands do, two as a list but for tables.
func (j job) showSwapped(events []client.Record) error {
	if len(events) > 1 && !j.as.table() {
		return list(j, "events", events, "id,body,starts_at,ends_at,all_day,elements", func(r client.Record) []any {
			e := client.As[api.EventSummary](r)
			return []any{e.ID, e.Body, e.StartsAt, e.EndsAt, e.AllDay, elementNames(r)}
		})
	}
	for _, event := range events {
		if err := j.showEvent(event); err != nil {
			return err
		}
	}
	return nil
}

func (w swapping) replacement() []client.Replacement {
	return []client.Replacement{{Element: w.commitment.Inner("element").ID("id"), With: w.element.ID}}
}

// settle returns the event of a write that failed, if it was stored and only its answer was lost. Otherwise it undoes
// the swaps before it, and returns the error.
func (j job) settle(before []swapping, w swapping, failed error) (client.Record, error) {
	ctx, end := context.WithTimeout(context.WithoutCancel(j.ctx), exchangeTimeout)
	defer end()
	answer, refused := errors.AsType[*client.Error](failed)
	if refused = refused && !answer.Foreign && answer.Code < http.StatusInternalServerError; !refused {
		event, err := j.c.Get(ctx, onePath(eventPath, w.event.ID("id")), "event")
		if err != nil {
			return nil, fmt.Errorf("event %s may or may not have changed: %w", eventText(w.event),
				errors.Join(failed, err))
		}
		if slices.ContainsFunc(event.Records("commitments"), func(c client.Record) bool {
			return c.Inner("element").ID("id") == w.element.ID
		}) {
			return event, nil
		}
	}
	for _, b := range before {
		back := []client.Replacement{{Element: b.element.ID, With: b.replacement()[0].Element}}
		_, undone := j.c.Replace(ctx, b.event.ID("id"), back, "allow")
		failed = errors.Join(failed, undone)
	}
	return nil, failed
}

// mustBePossible fails when a replacement is refused or, unless anyway, an event other than the two books what they
// exchange. Each of the two books its own until it gives it up.
func (j job) mustBePossible(exchange []swapping, anyway bool) error {
	for i, w := range exchange {
		tried, err := j.c.Replace(client.DryRun(j.ctx), w.event.ID("id"), w.replacement(), "report")
		if err != nil {
			return err
		}
		for _, c := range tried.Clashes {
			if !anyway && c.Inner("event").ID("id") != exchange[1-i].event.ID("id") {
				return fmt.Errorf("already booked at that time: %s; nothing is changed", w.element.Name)
			}
		}
	}
	return nil
}
