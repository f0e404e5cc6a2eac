package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/record/needle"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

func swapCommand(s surroundings) *cobra.Command {
	var dryRun, anyway bool
	command := &cobra.Command{
		Use: "swap EVENT NAME [OTHER-EVENT] OTHER-NAME", Short: "Replace an element of an event, or exchange two",
		Long: "Replaces what the event has as NAME by the element OTHER-NAME, such as a teacher by a cover. With " +
			"OTHER-EVENT the two events exchange NAME and OTHER-NAME,\nsuch as their rooms. Where another event " +
			"takes one up, nothing is changed, unless --anyway. NAME is a part of a name that one element of the " +
			"event has.\n\n" + aboutNames,
		Example: "  belfryctl swap 'House chess' 'Great Hall' Gym\n" +
			"  belfryctl swap 'Year 9 drama' 'Great Hall' 'Band practice' 'Music room' --dry-run\n" +
			"  belfryctl swap 14 gordon Staff:18 --anyway",
		Args: cobra.RangeArgs(3, 4), ValidArgsFunction: cobra.NoFileCompletions,
	}
	command.Flags().BoolVar(&anyway, "anyway", false, "take what is booked already, too")
	var on string
	command.Flags().StringVar(&on, "other-on", "", "the day of OTHER-EVENT")
	return eventCommand(s, command, &dryRun, func(j job, event client.Record) error {
		exchange, err := j.exchange(event, on)
		if err != nil {
			return err
		}
		return j.swap(exchange, anyway, dryRun)
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

// commitmentOf returns the commitment of an event to the element that a text names: by id, name, or a part of it.
func commitmentOf(event client.Record, text string) (client.Record, error) {
	id, _ := idOf(text)
	var found []client.Record
	for _, c := range event.Records("commitments") {
		e := client.As[api.EventCommitment](c).Element
		switch {
		case id == e.ID, strings.EqualFold(e.Name, text):
			return c, nil
		case id == 0 && needle.New(text).In(e.Name):
			found = append(found, c)
		}
	}
	which := eventText(client.As[api.EventSummary](event))
	switch len(found) {
	case 0:
		has := cmp.Or(elementNames(event), "none")
		return nil, fmt.Errorf("event %s has no element %q; it has %s", which, text, has)
	case 1:
		return found[0], nil
	}
	return nil, several("elements of event "+which, text, found, func(c client.Record) string {
		e := client.As[api.EventCommitment](c).Element
		return fmt.Sprintf("%d (%s)", e.ID, e.Name)
	})
}

// swap replaces the elements, of each event in one write. Each of two that are exchanged is taken by the other event
// until that gives it up: clashes with other events are those of dry runs.
func (j job) swap(exchange []swapping, anyway, dryRun bool) error {
	if len(exchange) > 1 && !anyway {
		if err := j.mustBeFree(exchange); err != nil {
			return err
		}
	}
	var changed []client.Record
	for i, w := range exchange {
		clashes := clashesIf(anyway || len(exchange) > 1)
		replaced, err := j.c.Replace(j.writing(dryRun), w.event.ID("id"), w.replacement(), clashes)
		reasons := strings.Join(sequence.Map(replaced.Failures, reasonOf), "; ")
		if err == nil && reasons != "" {
			err = fmt.Errorf("%s %s; event %s is as it was", w.element.Name, reasons,
				eventText(client.As[api.EventSummary](w.event)))
		}
		if err != nil && i > 0 && !dryRun { // both events change, or none
			first := exchange[0]
			back := []client.Replacement{{Element: first.element.ID, With: first.replacement()[0].Element}}
			_, undone := j.c.Replace(j.ctx, first.event.ID("id"), back, "allow")
			err = errors.Join(err, undone)
		}
		if err != nil {
			return err
		}
		changed = append(changed, replaced.Event)
	}
	for _, event := range changed {
		if err := j.showEvent(event); err != nil {
			return err
		}
	}
	if !dryRun {
		return nil
	}
	return j.trial(nil)
}

func (w swapping) replacement() []client.Replacement {
	return []client.Replacement{{Element: w.commitment.Inner("element").ID("id"), With: w.element.ID}}
}

// mustBeFree fails when an event that is none of the two takes up what they exchange.
func (j job) mustBeFree(exchange []swapping) error {
	for i, w := range exchange {
		tried, err := j.c.Replace(client.DryRun(j.ctx), w.event.ID("id"), w.replacement(), "report")
		if err != nil {
			return err
		}
		for _, c := range tried.Clashes {
			if c.Inner("event").ID("id") != exchange[1-i].event.ID("id") {
				return fmt.Errorf("already booked at that time: %s; nothing is changed", w.element.Name)
			}
		}
	}
	return nil
}
