package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/cmd/belfryctl/untis"
	"github.com/belfry-schools/belfry/cmd/belfryctl/wholefile"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
)

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
