package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/belfry-schools/belfry/cmd/belfryctl/demo"
	"github.com/belfry-schools/belfry/cmd/belfryctl/untis"
	"github.com/belfry-schools/belfry/cmd/belfryctl/wholefile"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/service/release"
)

// local completes a command whose job has no client: it adds --output with the formats, all when none are given.
func local(s surroundings, command *cobra.Command, work func(job) error, formats ...format) *cobra.Command {
	if formats == nil {
		formats = allFormats
	}
	as := outputFlag(command, formats)
	command.RunE = does(func(command *cobra.Command, args []string) error {
		return work(job{ctx: command.Context(), s: s, args: args, as: *as, flags: command.Flags()})
	})
	return command
}

func templateCommand(s surroundings) *cobra.Command {
	return local(s, &cobra.Command{
		Use:   "template DIR",
		Short: "Write an empty bundle",
		Long: `Writes the files of a bundle, with headings and no rows, into the new or empty folder DIR, or as
sheets of a workbook if DIR ends in .xlsx. docs/bundle.md describes the columns. Remove the files
or sheets that you do not use: with import --prune, an empty one means that there are no records
of its kind any more. No server is needed.`,
		Example: "  belfryctl template school/\n  belfryctl template school.xlsx",
	}, func(j job) error {
		if err := bundle.WriteTemplate(j.args[0]); err != nil {
			return err
		}
		if j.as.data() {
			return j.object(map[string]any{"template": j.args[0], "done": true})
		}
		_, err := fmt.Fprintf(s.out, "Wrote an empty bundle to %s\n", j.args[0])
		return err
	}, dataFormats...)
}

func untisCommand(s surroundings) *cobra.Command {
	var category, out string
	command := &cobra.Command{
		Use:   "untis GPU001.TXT",
		Short: "Convert an Untis timetable to lessons.csv of a bundle",
		Long: `Reads GPU001.TXT, the timetable exported by Untis, and writes lessons.csv of a bundle. The short
names of classes, teachers, rooms and subjects in Untis are the keys of groups, staff, locations
and subjects in the bundle; the numbers of periods are the names in periods.csv. All rows of a
lesson in one period become one row. docs/bundle.md has the details. No server is needed.`,
		Example: "  belfryctl untis GPU001.TXT --category lesson --out school/lessons.csv",
		RunE: does(func(_ *cobra.Command, args []string) error {
			if category == "" {
				return &usageError{errors.New("--category is missing: the key of the lessons' category")}
			}
			lessons, err := untis.Read(args[0])
			if faults, ok := errors.AsType[*csvfile.FaultsError](err); ok {
				printFirst(s.err, faults.First, faults.Total-faults.Listed(min(len(faults.First), maxShown)))
			}
			if err != nil {
				return err
			}
			write := func(w io.Writer) error {
				file := csvfile.NewWriter(w)
				_ = file.Write(untis.Columns) // Error has what went wrong
				for _, l := range lessons {
					_ = file.Write(l.Cells(category))
				}
				file.Flush()
				return file.Error()
			}
			if out == "" {
				return write(s.out)
			}
			return wholefile.Create(out, write)
		}),
	}
	command.Flags().StringVar(&category, "category", "", "key of the lessons' category in eventcategories.csv")
	command.Flags().StringVar(&out, "out", "", "file to write (default standard output)")
	return command
}

func demoCommand(s surroundings) *cobra.Command {
	var options demo.Options
	var dir string
	command := &cobra.Command{
		Use:   "demo --out DIR",
		Short: "Write the bundle of a made-up school",
		Long: `Writes a plausible school into the new or empty folder DIR: staff, pupils, rooms, groups, a
timetable without double bookings, and events besides lessons. The same arguments give the same
bytes. 1,000 pupils have about 57,000 events a year. No server is needed; load the bundle with
belfryctl import.

With --schools, each school has its own people, rooms and groups, all of them in the school's
group (Group:s1-own), and a group of its rooms (Group:s1-rooms); its keys begin with s1-, s2-
and so on. The schools share the categories of events and have at most 20,000 pupils together.
The only admin belongs to no school; each head administers their school.

The logins that it prints are derived from the seed, so anyone can know them: never load a demo
into a school that is in use.`,
		Example: `  belfryctl demo --out school/
  belfryctl demo --pupils 300 --years 2 --seed 7 --out school/
  belfryctl demo --schools 3 --pupils 300 --out district/`,
	}
	flags := command.Flags()
	flags.IntVar(&options.Pupils, "pupils", 1000, "number of pupils at any time, 10 to 20,000")
	flags.IntVar(&options.Schools, "schools", 1, "number of schools, each with that many pupils, 1 to 100")
	flags.IntVar(&options.Years, "years", 1, "number of school years, 1 to 20")
	flags.Uint64Var(&options.Seed, "seed", 1, "seed of the random names and timetables")
	flags.IntVar(&options.LastYear, "last-year", demo.DefaultLastYear, "last school year; 2026 is 2026/27")
	flags.StringVar(&dir, "out", "", "folder to write to")
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

func manCommand(s surroundings) *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write manual pages into a folder",
		Long:    `Writes a manual page for each command into DIR, which is created if needed. No server is needed.`,
		Example: "  belfryctl man ~/.local/share/man/man1",
		RunE: does(func(command *cobra.Command, args []string) error {
			const folder = 0o755
			if err := os.MkdirAll(args[0], folder); err != nil {
				return err
			}
			header := &doc.GenManHeader{Section: "1", Source: "Belfry " + release.Version(), Manual: "Belfry"}
			if err := doc.GenManTree(command.Root(), header, args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(s.out, "Wrote the manual pages to %s\n", args[0])
			return err
		}),
	}
}

// build is what version prints.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"` // empty when built outside a checkout
	Go      string `json:"go"`
}

func versionCommand(s surroundings) *cobra.Command {
	return local(s, &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  belfryctl version -o json",
	}, func(j job) error {
		b := thisBuild()
		if j.as.data() {
			return j.object(b)
		}
		_, err := fmt.Fprintf(s.out, "belfryctl %s %s %s\n", b.Version, cmp.Or(b.Commit, "unknown-commit"), b.Go)
		return err
	}, dataFormats...)
}

// thisBuild returns the release, and the commit, which the Go toolchain stamps into every binary.
func thisBuild() build {
	b := build{Version: release.Version(), Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				b.Commit = setting.Value
			}
		}
	}
	return b
}
