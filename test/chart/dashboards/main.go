// Command dashboards writes the Grafana dashboards of the chart, one JSON file each, from the table in boards.go. No
// maintained Go library that makes them could be had; what Belfry needs of Grafana's format is in grafana.go.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: dashboards FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "dashboards: %v\n", err)
		os.Exit(1)
	}
}

// write writes each dashboard to a file with the name of its uid.
func write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, b := range boards {
		text, err := b.json()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, b.uid+".json"), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
