// Command columns prints docs/columns.md: what each column of a bundle means.
package main

import (
	"fmt"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
)

func main() { fmt.Print(bundle.ColumnsPage()) }
