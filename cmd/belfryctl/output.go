package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// format is how a command prints its result: the value of --output.
type format string

const (
	asTable format = "table"
	asWide  format = "wide" // a table with all columns
	asCSV   format = "csv"  // all columns, for spreadsheets
	asNames format = "name" // the id of each record, as other commands take it
	asJSON  format = "json"
	asYAML  format = "yaml"
)

// allFormats are those of a command that prints records; others print a text, or dataFormats.
var (
	allFormats  = []format{asTable, asWide, asCSV, asNames, asJSON, asYAML}
	dataFormats = []format{asTable, asJSON, asYAML}
)

// Set implements pflag.Value; a command checks the format against those that it has.
func (f *format) Set(text string) error {
	if !slices.Contains(allFormats, format(text)) {
		return fmt.Errorf("there are %s", joined(allFormats))
	}
	*f = format(text)
	return nil
}

// String implements pflag.Value.
func (f *format) String() string { return string(*f) }

// Type implements pflag.Value.
func (*format) Type() string { return "FORMAT" }

func joined(formats []format) string {
	return strings.Join(sequence.Map(formats, func(f format) string { return string(f) }), ", ")
}

// outputFlag adds -o to a command that prints in the given formats, and refuses others.
func outputFlag(command *cobra.Command, formats []format) *format {
	as := asTable
	command.Flags().VarP(&as, "output", "o", "how to print the result: "+joined(formats))
	complete(command, "output", strings.Split(joined(formats), ", ")...)
	command.PreRunE = func(*cobra.Command, []string) error {
		if !slices.Contains(formats, as) {
			return &usageError{fmt.Errorf("--output: this command has no %q; it has %s", as, joined(formats))}
		}
		return nil
	}
	return &as
}

// data says whether the result is one object for programs.
func (f format) data() bool { return f == asJSON || f == asYAML }

// table says whether the result is for people, who are told more than the records.
func (f format) table() bool { return f == asTable || f == asWide }

// object prints a value as JSON, or the same as YAML.
func (f format) object(w io.Writer, value any) error {
	if f != asYAML {
		return printJSON(w, value)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if text, err = yaml.JSONToYAML(text); err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

func printJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// object prints a value for programs.
func (j job) object(value any) error { return j.as.object(j.s.out, value) }

// list prints records: in a table a line of cells for each, as an object the records as they were answered, under the
// name. Heads are separated by commas; those after a semicolon are for wide and csv alone.
func list[T any](j job, name string, records []client.Record, heads string, cells func(T) []any) error {
	if j.as.data() {
		return j.object(map[string]any{name: append([]client.Record{}, records...)})
	}
	shown, more, _ := strings.Cut(heads, ";")
	columns := strings.Split(shown, ",")
	if j.as != asTable && more != "" {
		columns = append(columns, strings.Split(more, ",")...)
	}
	lines := [][]any{}
	for _, r := range records {
		line := cells(client.As[T](r))
		lines = append(lines, line[:len(columns)])
	}
	return j.lines(columns, lines)
}

// lines prints lines of cells below their heads.
func (j job) lines(heads []string, lines [][]any) error {
	switch j.as {
	case asNames:
		at := max(0, slices.IndexFunc(heads, func(h string) bool { return h == "id" || strings.HasSuffix(h, "_id") }))
		for _, line := range lines {
			if id := plainText(line[at]); id != "" {
				fmt.Fprintln(j.s.out, id)
			}
		}
		return nil
	case asCSV:
		w := csvfile.NewWriter(j.s.out)
		_ = w.Write(heads) // Error has what went wrong
		for _, line := range lines {
			texts := make([]string, len(line))
			for i, cell := range line {
				if d, is := cell.(dated); is {
					cell = d.day.Format(time.DateOnly) + d.rest
				}
				texts[i] = plainText(cell)
			}
			_ = w.Write(texts)
		}
		w.Flush()
		return w.Error()
	}
	_, err := io.WriteString(j.s.out, j.s.paintTable(table(heads, lines)))
	return err
}

// listed reads records and prints them as list does.
func listed[T any](j job, name string, records iter.Seq2[client.Record, error], heads string,
	cells func(T) []any) error {
	read, err := collect(records)
	if err != nil {
		return err
	}
	return list(j, name, read, heads, cells)
}

// table aligns cells below their heads, and says at which rune of the lines the statuses begin; -1: there are none.
func table(heads []string, lines [][]any) (text string, status int) {
	var made strings.Builder
	w := tabwriter.NewWriter(&made, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(heads, "\t"))
	for _, line := range lines {
		cells := sequence.Map(line, cellText)
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	_ = w.Flush() // into memory
	first, _, _ := strings.Cut(made.String(), "\n")
	return made.String(), strings.Index(first, "status") // heads are in ASCII: a byte is a rune
}

// cellText is a value in a line: - when it is empty.
func cellText(value any) string { return cmp.Or(flat(plainText(value)), "-") }

// plainText is a value as a text.
func plainText(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case json.Marshaler:
		text, _ := v.MarshalJSON() // a union has kept what was answered
		return strings.Trim(string(text), `"`)
	}
	return fmt.Sprint(value)
}

// dated is a cell that begins with a day. People are shown its weekday; a spreadsheet would not know it for a day then.
type dated struct {
	day  time.Time
	rest string
}

func (d dated) String() string { return d.day.Format("Mon "+time.DateOnly) + d.rest }

// orNone returns "" for the id 0, which the client reads where there is none.
func orNone(id int64) any {
	if id == 0 {
		return ""
	}
	return id
}

// flat keeps a text in its cell.
func flat(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\t' || r == '\n' || r == '\r' }), " ")
}

// show prints one record, unless there is an error: a line for each of the given fields that it has, or an object that
// holds the record under the name.
func (j job) show(err error, name string, record client.Record, fields ...string) error {
	if err != nil {
		return err
	}
	if j.as.data() {
		return j.object(map[string]any{name: record})
	}
	heads, line := []string{}, []any{}
	for _, f := range fields {
		if _, has := record[f]; !has {
			continue
		}
		text := record.Text(f)
		if f == "permissions" {
			text = fmt.Sprint(client.As[granted](record.Inner(f)))
		}
		heads, line = append(heads, f), append(line, text)
	}
	if !j.as.table() {
		return j.lines(heads, [][]any{line})
	}
	w := tabwriter.NewWriter(j.s.out, 0, 0, 2, ' ', 0)
	for i, head := range heads {
		fmt.Fprintf(w, "%s\t%s\n", head, cellText(line[i]))
	}
	return w.Flush()
}

// done prints what a command did that has no record to print: a sentence, or the same as an object. The command has
// dataFormats.
func (j job) done(what string, id int64, sentence string, arguments ...any) error {
	if j.as.data() {
		return j.object(map[string]any{what: id, "done": true})
	}
	_, err := fmt.Fprintf(j.s.out, sentence+"\n", arguments...)
	return err
}

// secret prints a secret of a record alone, unless there is an error; in an object beside the id. The command has
// dataFormats.
func (j job) secret(err error, what string, id int64, name, secret string) error {
	if err != nil {
		return err
	}
	if j.as.data() {
		return j.object(map[string]any{what: id, name: secret})
	}
	_, err = fmt.Fprintln(j.s.out, secret)
	return err
}

// colour is an attribute of a terminal's text; 0: none.
type colour int

const (
	bold   colour = 1
	red    colour = 31
	green  colour = 32
	yellow colour = 33
)

// statusColours are the colours of a commitment's status; a status that needs no decision has none.
var statusColours = map[string]colour{"requested": yellow, "rejected": red, "confirmed": green}

// changeColours are the colours of changes.
var changeColours = map[api.ChangeChange]colour{"created": green, "deleted": red}

// coloured says whether output is: on a terminal that can, and unless NO_COLOR is set (https://no-color.org).
func (s surroundings) coloured() bool {
	if s.env("NO_COLOR") != "" || s.env("TERM") == "dumb" {
		return false
	}
	return isTerminal(s.out)
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// paint returns a text in a colour, where output is coloured.
func (s surroundings) paint(c colour, text string) string {
	if c == 0 || !s.coloured() {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", c, text)
}

// paintTable colours an aligned table: its head, and the statuses in the column that begins at a rune of each line;
// -1: there is none.
func (s surroundings) paintTable(table string, status int) string {
	if !s.coloured() {
		return table
	}
	var painted strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(table, "\n"), "\n") {
		switch runes := []rune(line); {
		case i == 0:
			line = s.paint(bold, line)
		case status >= 0 && status < len(runes):
			word, rest, _ := strings.Cut(string(runes[status:]), " ")
			line = string(runes[:status]) + s.paint(statusColours[word], word)
			if rest != "" {
				line += " " + rest
			}
		}
		painted.WriteString(line + "\n")
	}
	return painted.String()
}
