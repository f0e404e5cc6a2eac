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
