package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

func clashesCommand(s surroundings) *cobra.Command {
	var from, to string
	command := &cobra.Command{
		Use:   "clashes",
		Short: "Find pupils who are elsewhere during their lessons, and bring the notes that say so up to date",
		Long: `Checks the events of categories with clash_check that start on the days, and finds the pupils of
each whom another event takes up at the same time. Each such event gets a note for staff that
says who, where, and how many of how many; notes that are no longer right are changed or
removed. The deployment does the same by itself every night; see BELFRY_CLASH_NOTES_AT. Running
it again changes nothing that is still right.

The table has the events with pupils elsewhere. The login is as for import.`,
		Example: `  belfryctl clashes
  belfryctl clashes --from 2026-09-07 --to 2026-09-11 --dry-run
  belfryctl clashes --from 2026-09-07 -o json`,
	}
	flags := command.Flags()
	flags.StringVar(&from, "from", "",
		"the first day (YYYY-MM-DD); today when only --to is given, the days of the nightly check when neither is")
	flags.StringVar(&to, "to", "", "the last day; that of --from when only that is given; at most 366 days")
	flags.Bool(dryRun, false, "find the same and write nothing")
	return administrative(s, command, func(j job) error { return runClashes(j, from, to) })
}

func runClashes(j job, from, to string) error {
	for flag, day := range map[string]string{"--from": from, "--to": to} {
		if _, err := dayOfFlag(flag+": ", day); day != "" && err != nil {
			return err
		}
	}
	last := time.Now()
	found, err := j.c.CheckAbsences(j.ctx, from, to, j.dryRun, func(a client.Absences, next string) {
		if time.Since(last) >= every {
			last = time.Now()
			fmt.Fprintf(j.s.err, "%s events before %s, %s with pupils elsewhere\n", number(a.Checked), next,
				number(len(a.Clashes)))
		}
	})
	if err != nil {
		return err
	}
	if j.as.data() {
		return j.object(found)
	}
	err = list(j, "clashes", found.Clashes, "event_id,when,body,elsewhere,note", func(a api.AbsentPupils) []any {
		return []any{a.Event.ID, a.Event.StartsAt, a.Event.Body, fmt.Sprintf("%d of %d", a.Elsewhere, a.Pupils), a.Note}
	})
	if err != nil || !j.as.table() {
		return err
	}
	what := "notes"
	if j.dryRun {
		what = "notes would be"
	}
	_, err = fmt.Fprintf(j.s.out,
		"\n%s to %s: %s events checked; %s: %s created, %s updated, %s unchanged, %s removed\n", found.StartDate,
		found.EndDate, number(found.Checked), what, number(found.Created), number(found.Updated),
		number(found.Unchanged), number(found.Removed))
	return err
}
