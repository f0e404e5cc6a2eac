package csvfile

import (
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// fold makes headings equal that differ in case, spaces, hyphens and underscores alone: "Year group", year_group.
func fold(heading string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == ' ' || r == '_' || r == '-' || r == '\u00a0' {
			return -1
		}
		return r
	}, strings.TrimSpace(heading)))
}

// column is the name of the column that a heading means, "" when the file has no such column.
func (p *Pass) column(heading string) string { return p.columns[fold(heading)] }

// header places the columns of the first row. It returns false for a row that names no column, which ends the reading.
// After other faults the known columns are still checked.
func (p *Pass) header(names []string, line int) bool {
	if p.knows(names) == 0 {
		all := sequence.Map(p.sheet.Columns, func(c Column) string { return c.Name })
		p.stop(line, "header", "names no column of this file; the first row must name them: "+strings.Join(all, ","))
		return false
	}
	var unknown []string
	for i, name := range names {
		column := p.column(name)
		_, twice := p.position[column]
		switch {
		case strings.TrimSpace(name) == "":
			p.unnamed = append(p.unnamed, i)
		case column == "" && isData(name):
			p.stop(line, "header", "the first row must name the columns, in a line that ends with CRLF or LF")
			return false
		case column == "" && p.sheet.Extras != "" && strings.HasPrefix(fold(name), p.sheet.Extras):
		case column == "":
			unknown = append(unknown, strings.TrimSpace(name))
		case twice:
			p.Fault(line, column, "appears twice")
		default:
			p.position[column] = i
		}
	}
	for i, name := range unknown {
		reason := "is not a column of this file"
		if i < maxAlike { // further ones are counted
			reason += Meant(Nearest(name, p.absent()))
		}
		p.faultLike("unknown column", line, Brief(name), reason)
	}
	for _, c := range p.sheet.Columns {
		if _, ok := p.position[c.Name]; c.Required && !ok {
			p.Fault(line, c.Name, "the column is missing")
			p.Unsure = p.Unsure || c.Name == p.sheet.Columns[0].Name
		}
	}
	return true
}

// isData says that a cell of the first row is no misspelt heading but a password, or goes on with the next row, in a
// file whose lines end with CR alone. No fault repeats it.
func isData(name string) bool {
	name = strings.TrimSpace(name)
	return strings.Contains(name, "\r") || uuid.Validate(name) == nil
}

// absent lists the columns that the header doesn't name.
func (p *Pass) absent() []string {
	var names []string
	for _, c := range p.sheet.Columns {
		if _, ok := p.position[c.Name]; !ok {
			names = append(names, c.Name)
		}
	}
	return names
}

// checkUnnamed reports a row that has a text in a column without a name. Blank columns are not a fault.
func (r *Row) checkUnnamed() {
	for _, i := range r.pass.unnamed {
		if strings.TrimSpace(r.cells[i]) != "" {
			r.pass.faultLike("unnamed column", r.line(i), "row",
				"has a text in column "+strconv.Itoa(i+1)+", which has no heading")
		}
	}
}

// Named returns the name that a text equals, "" when there is none. Case, spaces, hyphens and underscores don't
// count, as in headings.
func Named(text string, names []string) string {
	if slices.Contains(names, text) {
		return text
	}
	folded := fold(text)
	for _, name := range names {
		if fold(name) == folded {
			return name
		}
	}
	return ""
}

// Meant is the question that a fault adds about the nearest name, "" without one.
func Meant(nearest string) string {
	if nearest == "" {
		return ""
	}
	return "; did you mean " + nearest + "?"
}

// Nearest is the name that a misspelt one most likely means, "" when none is near: up to a third of its letters may be
// missing, added or wrong.
func Nearest(name string, names []string) string {
	folded, nearest := []rune(fold(Brief(name))), ""
	least := len(folded)/3 + 1
	for _, n := range names {
		if d := distance(folded, []rune(fold(n))); d < least {
			nearest, least = n, d
		}
	}
	return nearest
}

// distance is Levenshtein's: the letters to insert, delete or replace.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
