package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/cmd/belfryctl/export"
)

func exportPerson(s surroundings) *cobra.Command {
	var out string
	command := &cobra.Command{
		Use: "export ELEMENT", Short: "Write what Belfry keeps about one person as an archive",
		Long: `Writes what Belfry keeps about a member of staff or a pupil into a new zip archive of JSON and
CSV that people can read: the record and its users, groups with their days, events with what was
decided and those that name the person, notes by the person and those that name it, who has
looked at it, and the audit. Its README.txt says what is in which file, and what is not there.
It is for its owner alone; who hands it out reads it before, since notes and reasons name
others, too.

It reads all events and notes, page by page. Only an administrator of all schools may do it.`,
		Example: "  belfryctl people export Pupil:17 --out pupil-17.zip",
	}
	command.Flags().StringVar(&out, "out", "", "the archive, a new file; person-ID.zip unless given")
	return administrative(s, command, func(j job) error {
		id, err := j.elementID(j.args[0])
		if err != nil {
			return err
		}
		if out == "" {
			out = fmt.Sprintf("person-%d.zip", id)
		}
		rows, err := export.Person(j.ctx, j.c, id, out)
		if err != nil {
			return err
		}
		if j.as.data() {
			return j.object(map[string]any{"archive": out, "records": rows})
		}
		for _, name := range slices.Sorted(maps.Keys(rows)) {
			fmt.Fprintf(j.s.out, "%12s  %8s\n", name, number(rows[name]))
		}
		_, err = fmt.Fprintf(j.s.out, "written to %s\n", out)
		return err
	}, dataFormats...)
}
