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
		Short: "Write an empty bundle to start from",
		Long: `Writes the files of a bundle, each with its headings and no rows, into the folder DIR, which
must be new or empty; or as the sheets of a workbook, where DIR ends in .xlsx. docs/bundle.md
says what belongs into each column. Remove the files, or the sheets, that you have nothing for:
with import --prune an empty one means that there is nothing of its kind any more. It asks no
server.`,
		Example: "  belfryctl template school/\n  belfryctl template school.xlsx",
	}, func(j job) error {
		if err := bundle.WriteTemplate(j.args[0]); err != nil {
			return err
		}
		if j.as.data() {
			return j.object(map[string]any{"template": j.args[0], "done": true})
		}
		_, err := fmt.Fprintf(s.out, "%s has an empty bundle\n", j.args[0])
		return err
	}, dataFormats...)
}

func untisCommand(s surroundings) *cobra.Command {
	var category, out string
	command := &cobra.Command{
		Use:   "untis GPU001.TXT",
		Short: "Make lessons.csv of a bundle from Untis' timetable",
		Long: `Reads GPU001.TXT, which Untis exports as its timetable, and writes lessons.csv of a bundle.
Short names of classes, teachers, rooms and subjects become keys of groups, staff, locations and
subjects, so these files of the bundle have Untis' short names as keys; periods.csv has Untis'
numbers of periods as names. All rows of a lesson in one period are one row. docs/bundle.md says
more. It asks no server.`,
		Example: "  belfryctl untis GPU001.TXT --category lesson --out school/lessons.csv",
		RunE: does(func(_ *cobra.Command, args []string) error {
			if category == "" {
				return &usageError{errors.New("--category takes the key of the lessons' category")}
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
	command.Flags().StringVar(&out, "out", "", "file to write, in place of the standard output")
	return command
}

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

func manCommand(s surroundings) *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write the manual pages of all commands into a folder",
		Long: `Writes a manual page of each command into DIR, which is made when it is missing. It asks no
server.`,
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
			_, err := fmt.Fprintf(s.out, "%s has the manual pages\n", args[0])
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
