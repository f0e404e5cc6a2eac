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
		Short: "Update the notes on pupils who are elsewhere during their lessons",
		Long: `Checks the events that start on the given days and whose category has clash_check. An event with
pupils who are in another event at the same time gets a note for staff, which says how many are
elsewhere, who and where. Notes that are no longer right are changed or removed. The deployment
does the same every night; see BELFRY_CLASH_NOTES_AT.

The table lists the events with pupils elsewhere.`,
		Example: `  belfryctl clashes
  belfryctl clashes --from 2026-09-07 --to 2026-09-11 --dry-run
  belfryctl clashes --from 2026-09-07 -o json`,
	}
	flags := command.Flags()
	flags.StringVar(&from, "from", "",
		"first day (YYYY-MM-DD); today if only --to is given; without either, the days of the nightly check")
	flags.StringVar(&to, "to", "", "last day (default that of --from); at most 366 days")
	dryRunFlag(command)
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
