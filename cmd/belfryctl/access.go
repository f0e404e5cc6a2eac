package main

import (
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

const accessPath = "/api/admin/access/elements"

func accessCommand(s surroundings) *cobra.Command {
	var f logFlags
	var element string
	command := &cobra.Command{
		Use: "access", Short: "Show who has read whose detail or timetable, as which user, when and from where",
		Long: `Shows the log of reads of people's data, the newest entry first. It leaves out users who read
their own, and equal reads of an hour are one entry. Entries are kept for as long as
accessLogDays says. The login is as for import.`,
		Example: `  belfryctl access --element 68 --since 2026-09-01
  belfryctl access --user anna.bell@school.example --limit 100000 -o json > reads.json`,
	}
	flags := command.Flags()
	flags.StringVar(&element, "element", "", "only reads of this person; an id or a key such as Pupil:17")
	f.add(flags, "what this user read")
	return administrative(s, command, func(j job) error { return runAccess(j, f, element) })
}

func runAccess(j job, f logFlags, element string) error {
	query := url.Values{}
	if err := f.ask(j, query); err != nil {
		return err
	}
	if err := addIDs(query, j.elementID, map[string]string{"element": element}); err != nil {
		return err
	}
	entries, err := first(j.c.List(j.ctx, accessPath, "entries", query), f.limit)
	if err != nil {
		return err
	}
	person := func(e api.Look) string { return fmt.Sprintf("Element:%d", e.ElementID) }
	named, err := j.namesOf(entries, func(r client.Record) []string {
		e := client.As[api.Look](r)
		return append(actors(e.UserID, e.OriginalID), person(e))
	})
	if err != nil {
		return err
	}
	const heads = "at,user,user_name,what,element_id,element_name,from"
	return list(j, "entries", entries, heads, func(e api.Look) []any {
		return []any{e.At, actor(e.UserID, e.OriginalID), named.of(actors(e.UserID, e.OriginalID)...), e.What,
			e.ElementID, named[person(e)], e.From}
	})
}
