// Command rights prints docs/rights.md: the table of who may do what.
package main

import (
	"fmt"
	"os"

	"github.com/belfry-schools/belfry/test/rights"
)

func main() {
	rows, err := rights.Table()
	if err != nil {
		fmt.Fprintln(os.Stderr, "rights:", err)
		os.Exit(1)
	}
	fmt.Print(rights.Page(rows))
}
