package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/cmd/belfryctl/demo"
)

func demoCommand(s surroundings) *cobra.Command {
	var options demo.Options
	var dir string
	command := &cobra.Command{
		Use:   "demo --out DIR",
		Short: "Write the bundle of a made-up school",
		Long: `Writes the bundle of a plausible school into the folder DIR, which must be new or empty: staff,
pupils, rooms, groups, a timetable without double-bookings, and all that happens beside lessons.
The same arguments give the same bytes. 1,000 pupils are about 56,000 events a year. It asks no
server; load the bundle with belfryctl import.

With --schools each school has a group of its own, which all that belongs to it is in, and keys
and people of its own; the categories of events are the same for all. Together they have at most
20,000 pupils.

The logins that it prints follow from the seed, so anybody can know them: don't load a demo into
a school that is in use.`,
		Example: `  belfryctl demo --out school/
  belfryctl demo --pupils 300 --years 2 --seed 7 --out school/
  belfryctl demo --schools 3 --pupils 300 --out district/`,
	}
	flags := command.Flags()
	flags.IntVar(&options.Pupils, "pupils", 1000, "pupils at a time, 10 to 20,000")
	flags.IntVar(&options.Schools, "schools", 1, "schools of so many pupils each, 1 to 100")
	flags.IntVar(&options.Years, "years", 1, "school years, 1 to 20")
	flags.Uint64Var(&options.Seed, "seed", 1, "another number gives another school")
	flags.IntVar(&options.LastYear, "last-year", demo.DefaultLastYear, "the last school year; 2026 is 2026/27")
	flags.StringVar(&dir, "out", "", "the folder to write to")
	return local(s, command, func(j job) error {
		if dir == "" {
			return &usageError{errors.New("--out is missing")}
		}
		if err := options.Check(); err != nil {
			return &usageError{err}
		}
		summary, err := demo.Generate(dir, options)
		if err != nil {
			return err
		}
		if j.as.data() {
			return j.object(summary)
		}
		return printSummary(s.out, dir, summary)
	}, dataFormats...)
}

func printSummary(w io.Writer, dir string, s demo.Summary) error {
	fmt.Fprintf(w, "%s: %s staff, %s pupils, %s locations, %s groups with %s memberships,\n", dir, number(s.Staff),
		number(s.Pupils), number(s.Locations), number(s.Groups), number(s.Memberships))
	fmt.Fprintf(w, "%s events (%s of them lessons) with %s commitments and %s requests, %s notes, %s users.\n\n",
		number(s.Events), number(s.Lessons), number(s.Commitments), number(s.Requests), number(s.Notes),
		number(s.Users))
	fmt.Fprintln(w, "Once it is imported, log in as one of these:")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "uuid\tname\tkind\tmay")
	school := ""
	for _, l := range s.Logins {
		if l.School != school {
			school = l.School
			if err := table.Flush(); err != nil {
				return err
			}
			fmt.Fprintf(w, "\n%s:\n", school)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", l.UUID, l.Name, l.Kind, l.May)
	}
	return table.Flush()
}
