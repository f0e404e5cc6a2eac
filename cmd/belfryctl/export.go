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
		Use: "export DIR", Short: "Write all that Belfry has as a bundle, which can be imported again",
		Long: `Writes people, places, groups, users, categories, events with what was decided of them, and
notes as the CSV files of a bundle into DIR, which is new, empty or an earlier export. An export
that was interrupted goes on where it was; until it is whole, an import refuses it. The files
hold what is confidential; they are for their owner alone.

What was made by hand gets a key of the address and its id (belfry.school.example:17). Uuids of
users are left out: Belfry knows no more than their hashes. So are the audit, calendar feeds,
webhooks and sessions. docs/bundle.md says what is carried how.`,
		Example: "  belfryctl export school/\n  belfryctl export school/ --since \"$TOKEN\"\n" +
			"  belfryctl export ann/ --element Staff:17 --ics",
	}
	flags := command.Flags()
	flags.StringVar(&o.Since, "since", "",
		"only the events, with their notes, that changed after this token, which an earlier export has printed")
	flags.StringVar(&element, "element", "",
		"only the events of this element, and what they refer to: an id or a key such as Staff:17")
	flags.BoolVar(&o.Calendars, "ics", false, "also a calendar of each person and place, or of the element")
	flags.StringVar(&o.Origin, "origin", "", "what the keys of what was made by hand begin with; the host of --url "+
		"unless given")
	return administrative(s, command, func(j job) error { return j.export(o, element) }, dataFormats...)
}

// export writes an export and prints a summary.
func (j job) export(o export.Options, element string) (err error) {
	if o.Since != "" && element != "" {
		return &usageError{errors.New("give --since or --element")}
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
	_, err = fmt.Fprintf(j.s.out, "go on with --since %s\n", report.Next)
	return err
}

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
