package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

// followEvery is the pause between two requests for changes.
const followEvery = 2 * time.Second

func followCommand(s surroundings) *cobra.Command {
	var since string
	var once bool
	command := &cobra.Command{
		Use: "follow", Short: "Show changes as they happen",
		Long: `Prints a line, or with -o json an object, for each change to an event, note, element or
membership that you may see, until it is interrupted. At the end it prints the token from which
--since continues.`,
		Example:           "  belfryctl follow\n  belfryctl follow --since \"$TOKEN\" --once -o json",
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := command.Flags()
	flags.StringVar(&since, "since", "", "token to continue from (default now)")
	flags.BoolVar(&once, "once", false, "end when there are no more changes")
	return administrative(s, command, func(j job) error { return j.follow(since, once) }, asTable, asJSON)
}

// follow prints changes from a token on: those of the list, then those of the stream until it ends. Where there is no
// stream, such as behind a proxy that cuts it, it polls the list.
func (j job) follow(token string, once bool) error {
	defer func() {
		if token != "" {
			fmt.Fprintf(j.s.err, "continue with --since %s\n", token)
		}
	}()
	for {
		if err := j.listed(&token); err != nil || once || j.ctx.Err() != nil {
			return err
		}
		if err := j.streamed(&token); err != nil {
			return err
		}
		select {
		case <-time.After(followEvery):
		case <-j.ctx.Done():
			return nil
		}
	}
}

// listed prints the changes of the list after a token, and moves the token to the end. An interrupt is the normal end,
// and no error.
func (j job) listed(token *string) error {
	for {
		changes, next, err := j.c.Changes(j.ctx, *token)
		if refused, ok := errors.AsType[*client.Error](err); ok && (refused.Code == 410 || refused.Code == 400) {
			*token = "" // nothing goes on with it
		}
		if j.ctx.Err() != nil {
			return nil //nolint:nilerr // it was ended
		}
		if err != nil {
			return err
		}
		atEnd := next == *token || *token == ""
		if err := j.tell(token, changes, next); err != nil || atEnd {
			return err
		}
	}
}

// streamed prints the changes of the stream until it ends. If the reason matters, the list gives it.
func (j job) streamed(token *string) error {
	var failed error // of the output
	_ = j.c.Stream(j.ctx, *token, func(changes []client.Record, next string) error {
		failed = j.tell(token, changes, next)
		return failed
	})
	return failed
}

// tell prints changes, and then updates the token.
func (j job) tell(token *string, changes []client.Record, next string) error {
	for _, c := range changes {
		if err := j.changed(c); err != nil {
			return err
		}
	}
	*token = next
	return nil
}

// changed prints one change.
func (j job) changed(r client.Record) error {
	if j.as.data() {
		return json.NewEncoder(j.s.out).Encode(r)
	}
	c := client.As[api.Change](r)
	about := ""
	switch {
	case c.EventID != 0:
		about = fmt.Sprintf(" of event %d", c.EventID)
	case c.GroupID != 0:
		about = fmt.Sprintf(" of %d in %d", c.MemberID, c.GroupID)
	}
	at, err := byClock(c.ChangedAt)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(j.s.out, "%s  %s %d%s %s\n", at.Format(time.DateTime), c.Kind, c.ID, about,
		j.s.paint(changeColours[c.Change], string(c.Change)))
	return err
}
