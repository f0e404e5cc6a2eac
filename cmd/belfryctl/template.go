package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
)

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
