package main

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/cmd/belfryctl/export"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
)

func exportCommand(s surroundings) *cobra.Command {
	var o export.Options
	var element string
	command := &cobra.Command{
		Use: "export DIR", Short: "Write all data as a bundle that can be imported",
		Long: `Writes people, places, groups, users, categories, events with their commitments and decisions,
and notes as a bundle of CSV files. DIR is a new or empty folder, or has an earlier export. Only
the user who runs the command can read the files, which include confidential data.

After an interruption, a full disk, or more than a minute without Belfry the export is
incomplete, and import refuses it: run the command again to continue. With --element it starts
from the beginning.

Records made by hand get a key of the address and their id (belfry.school.example:17). Uuids
(Belfry stores only their hashes), the audit, calendar feeds, webhooks and sessions are not
exported. docs/bundle.md has the details.`,
		Example: "  belfryctl export school/\n  belfryctl export school/ --since \"$TOKEN\"\n" +
			"  belfryctl export ann/ --element Staff:17 --ics",
	}
	flags := command.Flags()
	flags.StringVar(&o.Since, "since", "",
		"only events and notes changed since an earlier export, which printed this token")
	flags.StringVar(&element, "element", "",
		"only events of this element and what they refer to; an id or a key such as Staff:17")
	flags.BoolVar(&o.Calendars, "ics", false, "also write a calendar of each person and place, or of the element")
	flags.StringVar(&o.Origin, "origin", "", "prefix of the keys of records made by hand (default the host of --url)"+
		"unless given")
	return administrative(s, command, func(j job) error { return j.export(o, element) }, dataFormats...)
}

// export writes an export and prints a summary.
func (j job) export(o export.Options, element string) (err error) {
	if o.Since != "" && element != "" {
		return &usageError{errors.New("give either --since or --element")}
	}
	o.Dir = j.args[0]
	if o.Origin == "" {
		address, err := url.Parse(j.url)
		if err != nil {
			return err
		}
		o.Origin = address.Hostname()
	}
	if element != "" {
		if o.Element, err = j.elementID(element); err != nil {
			return err
		}
	}
	if isTerminal(j.s.err) {
		o.Progress = func(file string, rows int) { fmt.Fprintf(j.s.err, "%s: %s\n", file, number(rows)) }
	}
	report, err := export.Run(j.ctx, j.c, o)
	if err != nil {
		return err
	}
	if j.as.data() {
		return j.object(report)
	}
	for _, kind := range append(bundle.Kinds(), bundle.Commitments) {
		fmt.Fprintf(j.s.out, "%22s  %8s\n", kind.File(), number(report.Rows[kind.File()]))
	}
	for _, what := range report.LeftOut[:min(len(report.LeftOut), maxShown)] {
		fmt.Fprintf(j.s.err, "left out: %s\n", what)
	}
	if more := len(report.LeftOut) - maxShown; more > 0 {
		fmt.Fprintf(j.s.err, "left out: %s more\n", number(more))
	}
	_, err = fmt.Fprintf(j.s.out, "continue with --since %s\n", report.Next)
	return err
}

func exportPerson(s surroundings) *cobra.Command {
	var out string
	command := &cobra.Command{
		Use: "export ELEMENT", Short: "Write all data about one person as an archive",
		Long: `Writes a new zip archive of JSON and CSV files about a member of staff or a pupil: the record and
its users, groups with their days, events with decisions, events and notes that name the person,
notes by the person, who has viewed the person's data, and the audit. Its README.txt says what
each file has and what is not included. If the disk is full or Belfry is down for more than a
minute, no file is left.

Only its owner can read the archive. Read it before you hand it out, because notes and reasons
name other people too. Only administrators of all schools may run this command.`,
		Example: "  belfryctl people export Pupil:17 --out pupil-17.zip",
	}
	command.Flags().StringVar(&out, "out", "", "file to create (default person-ID.zip)")
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
