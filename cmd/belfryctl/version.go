package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/pkg/service/release"
)

// build is what version prints.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"` // empty when built outside a checkout
	Go      string `json:"go"`
}

func versionCommand(s surroundings) *cobra.Command {
	var as *format
	command := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  belfryctl version -o json",
		RunE: does(func(*cobra.Command, []string) error {
			b := thisBuild()
			if as.data() {
				return as.object(s.out, b)
			}
			_, err := fmt.Fprintf(s.out, "belfryctl %s %s %s\n", b.Version, cmp.Or(b.Commit, "unknown-commit"), b.Go)
			return err
		}),
	}
	as = outputFlag(command, dataFormats)
	return command
}

// thisBuild returns the release, and the commit, which the Go toolchain stamps into every binary.
func thisBuild() build {
	b := build{Version: release.Version(), Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			b.Commit = setting.Value
		}
	}
	return b
}
