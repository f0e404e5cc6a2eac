package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/deploy/admin/client"
)

// followEvery is the pause between two looks for changes.
const followEvery = 2 * time.Second

func followCommand(s surroundings) *cobra.Command {
	var since string
	var once bool
	command := &cobra.Command{
		Use: "follow", Short: "Show what is created, changed and deleted, as it happens",
		Long: "Prints a line for each change of an event, a note, an element or a membership that you may see, from " +
			"now on or from a token on, until it is\nended. With --json each is one object. At the end it says by " +
			"which token it goes on.",
		Example: "  belfryctl follow\n  belfryctl follow --since \"$TOKEN\" --once --json",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := command.Flags()
	flags.StringVar(&since, "since", "", "the token to go on from; now unless given")
	flags.BoolVar(&once, "once", false, "end where there is nothing more for now")
	return administrative(s, command, func(j job) error { return j.follow(since, once) })
}

// follow prints changes from a token on.
func (j job) follow(token string, once bool) error {
	defer func() {
		if token != "" {
			fmt.Fprintf(j.s.err, "go on with --since %s\n", token)
		}
	}()
	for {
		changes, next, err := j.c.Changes(j.ctx, token)
		if refused := (*client.Error)(nil); errors.As(err, &refused) && (refused.Code == 410 || refused.Code == 422) {
			token = "" // nothing goes on with it
		}
		if j.ctx.Err() != nil { // it was ended, which is how it is meant to end
			return nil
		}
		if err != nil {
			return err
		}
		for _, c := range changes {
			if err := j.changed(c); err != nil {
				return err
			}
		}
		atEnd := next == token || token == ""
		token = next
		switch {
		case atEnd && once:
			return nil
		case atEnd:
			select {
			case <-time.After(followEvery):
			case <-j.ctx.Done():
				return nil
			}
		}
	}
}

// changed prints one change.
func (j job) changed(c client.Record) error {
	if j.json {
		return json.NewEncoder(j.s.out).Encode(c)
	}
	about := ""
	switch {
	case c.Text("event_id") != "":
		about = " of event " + c.Text("event_id")
	case c.Text("group_id") != "":
		about = fmt.Sprintf(" of %s in %s", c.Text("member_id"), c.Text("group_id"))
	}
	_, err := fmt.Fprintf(j.s.out, "%s %s  %s %s%s %s\n", dayOf(c.Text("changed_at")).Format(time.DateOnly),
		secondsOf(c.Text("changed_at")), c.Text("kind"), c.Text("id"), about,
		j.s.paint(changeColours[c.Text("change")], c.Text("change")))
	return err
}

// secondsOf is the 09:00:00 of 2026-09-07T09:00:00.000+01:00.
func secondsOf(text string) string {
	const clock = len("2026-09-07T")
	return text[min(clock, len(text)):min(clock+len("09:00:00"), len(text))]
}
