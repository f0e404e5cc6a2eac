package bundle

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/belfry-schools/belfry/cmd/belfryctl/csvfile"
	"github.com/belfry-schools/belfry/pkg/principal"
)

// columnsTSV describes the columns of each file in their order, with a text on the file itself where column is empty.
//
//go:embed columns.tsv
var columnsTSV string

// described is a row of columns.tsv.
type described struct {
	kind                   Kind
	column, meaning, empty string
	required               bool
}

var descriptions = describe(columnsTSV)

func describe(text string) []described {
	var all []described
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n")[1:] {
		r := strings.Split(line, "\t")
		all = append(all, described{kind: Kind(r[0]), column: r[1], required: r[2] != "", meaning: r[3], empty: r[4]})
	}
	return all
}

// columnsOf returns the columns of a kind's file, with one for each permission of users.
func columnsOf(kind Kind) []csvfile.Column {
	var all []csvfile.Column
	for _, d := range descriptions {
		switch {
		case d.kind != kind || d.column == "":
		case d.column == "*permissions*":
			for _, name := range principal.PermissionNames() {
				all = append(all, csvfile.Column{Name: name})
			}
		default:
			all = append(all, csvfile.Column{Name: d.column, Required: d.required})
		}
	}
	return all
}

// ColumnsPage returns docs/columns.md, which says what each column means.
func ColumnsPage() string {
	var page strings.Builder
	page.WriteString(`# The columns of a bundle

What each column of [a bundle's files](bundle.md) means. Required columns are in bold. This page is generated
(` + "`make gen`" + `).
`)
	kind, table := Kind(""), false
	for _, d := range descriptions {
		if d.kind != kind {
			kind, table = d.kind, false
			fmt.Fprintf(&page, "\n## `%s`\n\n", kind.File())
		}
		if d.column == "" {
			page.WriteString(d.meaning + "\n\n")
			continue
		}
		if !table {
			table = true
			page.WriteString("| column | meaning | when empty |\n|---|---|---|\n")
		}
		name := d.column
		if d.required {
			name = "**" + name + "**"
		}
		fmt.Fprintf(&page, "| %s | %s | %s |\n", name, d.meaning, d.empty)
	}
	return page.String()
}
