package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/belfry-schools/belfry/pkg/service/release"
)

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
