package main

import (
	"net/url"
	"strconv"

	"github.com/spf13/cobra"
)

const accessPath = "/api/admin/access/elements"

// accessFlags are the flags of access.
type accessFlags struct {
	logFlags
	element string
}

func accessCommand(s surroundings) *cobra.Command {
	var f accessFlags
	command := &cobra.Command{
		Use: "access", Short: "Show who has looked at whose detail or timetable, as whom, when and from where",
		Long: `Shows the log of who has looked at whom, the newest entry first. Whoever looks at itself is not in it, ` +
			`and equal looks
of an hour are one entry. Entries are kept for as long as accessLogDays says. The login is as for import.`,
		Example: `  belfryctl access --element 68 --since 2026-09-01
  belfryctl access --user anna.bell@school.example --limit 100000 --json > looks.json`,
		Args: cobra.NoArgs,
	}
	flags := command.Flags()
	flags.StringVar(&f.element, "element", "", "only who looked at this person; an id or a key such as Pupil:17")
	f.add(flags, "whom this user looked at")
	return administrative(s, command, func(j job) error { return runAccess(j, f) })
}

func runAccess(j job, f accessFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	query := url.Values{}
	if f.element != "" {
		element, err := j.elementID(f.element)
		if err != nil {
			return err
		}
		query.Set("element", strconv.FormatInt(element, 10))
	}
	if err := f.ask(j, query); err != nil {
		return err
	}
	entries, err := f.first(j.c.List(j.ctx, accessPath, "entries", query))
	if err != nil {
		return err
	}
	return j.list("entries", entries, field("at"), column{"user", actor}, field("what"), field("element_id"),
		field("from"))
}
