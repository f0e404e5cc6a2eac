package csvfile

import (
	"encoding/csv"
	"io"
	"strings"
	"unicode"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// Spreadsheets calculate a cell that begins like a formula, such as =HYPERLINK(…), even in another person's text. So an
// apostrophe is put before it, as OWASP says of "CSV injection", and taken away by a Pass of a Quoted sheet. A program
// that expects another separator may begin a cell after each comma, semicolon, tab, line break and quote, inside a
// quoted cell too: there the rule is the same, except for control characters.

// formulas returns where in a cell a formula may begin, after any apostrophes.
func formulas(cell string) (places []int) {
	first, begins := true, true
	for i, r := range cell {
		if first && unicode.IsControl(r) || begins && strings.ContainsRune("=+-@＝＋－＠", r) {
			places = append(places, i)
		}
		first = first && r == '\''
		begins = begins && r == '\'' || strings.ContainsRune(",;\t\r\n\"", r)
	}
	return places
}

// Quote returns a cell in which no spreadsheet finds a formula. Unquote is its inverse.
func Quote(cell string) string {
	return rewrite(cell, func(before string) string { return before + "'" })
}

// Unquote returns the cell that Quote was given. Other texts stay as they are, except a formula with an apostrophe
// before it.
func Unquote(cell string) string {
	return rewrite(cell, func(before string) string { return strings.TrimSuffix(before, "'") })
}

// rewrite changes the text before each formula, back to the formula before.
func rewrite(cell string, before func(string) string) string {
	places := formulas(cell)
	if places == nil {
		return cell
	}
	var text strings.Builder
	from := 0
	for _, at := range places {
		text.WriteString(before(cell[from:at]))
		from = at
	}
	text.WriteString(cell[from:])
	return text.String()
}

// Writer writes a CSV file for people, and quotes its cells. Flush writes what it has buffered.
type Writer struct{ csv.Writer }

// NewWriter returns a writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{*csv.NewWriter(w)} }

// Write writes a row.
func (w *Writer) Write(cells []string) error {
	quoted := sequence.Map(cells, Quote)
	return w.Writer.Write(quoted)
}
