package csvfile

import (
	"fmt"
	"hash/maphash"
	"net/mail"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Limits of cells in characters, as in the API.
const (
	MaxKey   = 255
	MaxName  = 255
	MaxEmail = 254
	MaxText  = 4096
)

// Row checks the cells of one row while the caller makes a record of it. A cell whose column is missing, or whose
// text is invalid, reads as empty without a second fault.
type Row struct {
	pass  *Pass
	cells []string
	line  func(cell int) int
	bad   map[string]bool // columns that already have a fault
}

// Line is where the row begins.
func (r *Row) Line() int { return r.line(0) }

// Fault reports a cell. Further faults of the cell are ignored.
func (r *Row) Fault(column, format string, args ...any) {
	if r.bad[column] {
		return
	}
	if r.bad == nil {
		r.bad = map[string]bool{}
	}
	r.bad[column] = true
	fault := Fault{File: r.pass.sheet.File, Line: r.line(r.pass.position[column]), Column: column,
		Reason: fmt.Sprintf(format, args...)}
	if format == "%s" {
		format = fault.Reason
	}
	r.pass.faults.addLike(cause{fault.File, column, format}, fault)
}

// unreadable reports a cell that can't be read, in any column.
func (r *Row) unreadable(cell int, reason string) {
	for _, column := range r.pass.sheet.Columns {
		if at, ok := r.pass.position[column.Name]; ok && at == cell {
			r.Fault(column.Name, "%s", reason)
			return
		}
	}
	r.pass.faultLike("unreadable", r.line(cell), "row", reason)
}

// checkText refuses what no column may contain.
func (r *Row) checkText() {
	for _, column := range r.pass.sheet.Columns {
		switch text := r.Raw(column.Name); {
		case !utf8.ValidString(text):
			r.Fault(column.Name, "is not UTF-8, unlike the rest of the file")
		case r.pass.charset != nil && strings.ContainsRune(text, utf8.RuneError):
			r.Fault(column.Name, "has a character that can't be read")
		case strings.ContainsRune(text, 0):
			r.Fault(column.Name, "has a NUL character")
		}
	}
}

// Has reports whether the cell can be checked: its column is in the file, and it has no fault in this row.
func (r *Row) Has(column string) bool {
	_, ok := r.pass.position[column]
	return ok && !r.bad[column]
}

// Bad reports whether the cell has a fault.
func (r *Row) Bad(column string) bool { return r.bad[column] }

// LineOf is the line of a cell.
func (r *Row) LineOf(column string) int { return r.line(r.pass.position[column]) }

// Raw is a cell as it is.
func (r *Row) Raw(column string) string {
	if !r.Has(column) {
		return ""
	}
	return r.cells[r.pass.position[column]]
}

// Optional is a cell without the spaces around it.
func (r *Row) Optional(column string, limit int) string {
	text := strings.TrimSpace(r.Raw(column))
	if n := utf8.RuneCountInString(text); n > limit {
		r.Fault(column, "has %d characters, at most %d are allowed", n, limit)
		return ""
	}
	return text
}

// Required is Optional of a cell that must not be empty.
func (r *Row) Required(column string, limit int) string {
	text := r.Optional(column, limit)
	if text == "" && r.Has(column) {
		r.Fault(column, problem.Blank)
	}
	return text
}

// Name is a required text of one line. Names of elements are made of such texts.
func (r *Row) Name(column string) string { return r.OneLine(column, r.Required(column, MaxName)) }

// Word is an optional text of one line.
func (r *Row) Word(column string) string { return r.OneLine(column, r.Optional(column, MaxName)) }

// OneLine refuses a text of the column that has a line break or another control character, or nothing that can be seen.
func (r *Row) OneLine(column, text string) string {
	if strings.ContainsFunc(text, unicode.IsControl) {
		r.Fault(column, "has a line break or another control character")
		return ""
	}
	return r.seen(column, text, problem.Text{})
}

// Lines refuses a text of the column that has a control character other than line breaks and tabs.
func (r *Row) Lines(column, text string) string {
	return r.seen(column, text, problem.Text{Lines: true})
}

// seen refuses a text that the services refuse. The caller has checked its length.
func (r *Row) seen(column, text string, rule problem.Text) string {
	faults := problem.Fields{}
	rule.Most = len(text)
	rule.Check(faults, column, text)
	if len(faults) == 0 {
		return text
	}
	r.Fault(column, "%s", faults[column][0])
	return ""
}

// Key is the row's own key, of at most limit characters, which no other row of the file has. It cannot contain a
// semicolon, which separates references in a bundle.
func (r *Row) Key(column string, limit int) string {
	key := r.OneLine(column, r.Required(column, limit))
	if strings.Contains(key, ";") {
		r.Fault(column, "has a semicolon")
	}
	r.Unique(column, key, strconv.Quote(Brief(key)))
	return key
}

// Unique reports a value that an earlier row has in the column; the fault quotes it as shown.
func (r *Row) Unique(column, value, shown string) {
	if value == "" {
		return
	}
	lines := r.pass.Unique[column]
	if lines == nil {
		lines = &Lines{}
		r.pass.Unique[column] = lines
	}
	if first, twice := lines.Add(value, r.LineOf(column)); twice {
		r.Fault(column, "%s is already in line %d", shown, first)
	}
}

// Boolean is nil for an empty cell. People and spreadsheets write it in several ways.
func (r *Row) Boolean(column string) *bool {
	switch strings.ToLower(r.Optional(column, MaxText)) {
	case "":
	case "true", "yes", "1":
		return new(true)
	case "false", "no", "0":
		return new(false)
	default:
		r.Fault(column, "must be true or false")
	}
	return nil
}

// Integer is nil for an empty cell.
func (r *Row) Integer(column string) *int {
	text := r.Optional(column, MaxText)
	if text == "" {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		r.Fault(column, "is not a whole number")
		return nil
	}
	return new(int(n))
}

// Email is an address alone, without a name, or empty.
func (r *Row) Email(column string) string {
	text := r.Optional(column, MaxEmail)
	if text == "" {
		return ""
	}
	if address, err := mail.ParseAddress(text); err != nil || address.Address != text {
		r.Fault(column, "is not an e-mail address")
	}
	return text
}

// OneOf is one of the values, which the cell may write in any case, or empty.
func (r *Row) OneOf(column string, values ...string) string {
	text := r.Optional(column, MaxText)
	if text == "" {
		return ""
	}
	value := Named(text, values)
	if value == "" {
		r.Fault(column, "must be one of %s", strings.Join(values, ", "))
	}
	return value
}

// Lines are the distinct values of a column, each with its line. A bundle has hundreds of thousands of keys, so Lines
// keeps a hash of each value, some 30 bytes, and not the value. The hash has 128 bits, from two seeds that are random
// in each process: two of a million values collide with a probability of 1 in 10 to the 26, even if they are chosen.
type Lines struct {
	lines map[[2]uint64]int32
}

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func hashOf(value string) [2]uint64 {
	return [2]uint64{maphash.String(seeds[0], value), maphash.String(seeds[1], value)}
}

// Add keeps a value of a line, and returns the line of an earlier one that is the same.
func (l *Lines) Add(value string, line int) (first int, twice bool) {
	if l.lines == nil {
		l.lines = map[[2]uint64]int32{}
	}
	hash := hashOf(value)
	earlier, twice := l.lines[hash]
	if !twice {
		l.lines[hash] = int32(line)
	}
	return int(earlier), twice
}

// Of returns the line of a value. Nil Lines, of a column that need not be unique, have none.
func (l *Lines) Of(value string) (line int, ok bool) {
	if l == nil {
		return 0, false
	}
	found, ok := l.lines[hashOf(value)]
	return int(found), ok
}

// DateFormat is how a country writes dates. YYYY-MM-DD, which is never in doubt, is read beside it; of the others a day
// and a month may have one digit, and a year has four.
type DateFormat string

// DateFormats lists the formats.
func DateFormats() []DateFormat {
	return []DateFormat{"dd/mm/yyyy", "mm/dd/yyyy", "dd.mm.yyyy", "dd-mm-yyyy"}
}

// layouts are the formats as time has them.
var layouts = map[DateFormat]string{"dd/mm/yyyy": "2/1/2006", "mm/dd/yyyy": "1/2/2006", "dd.mm.yyyy": "2.1.2006",
	"dd-mm-yyyy": "2-1-2006"}

// day reads a date in the format.
func (f DateFormat) day(text string) (iso string, ok bool) {
	at, err := time.Parse(layouts[f], text)
	if err != nil || f == "" {
		return "", false
	}
	iso = at.Format(time.DateOnly)
	_, err = wiretime.ParseDay(iso)
	return iso, err == nil
}

// national says whether a text looks like a date that does not begin with its year.
func national(text string) bool {
	at := strings.IndexAny(text, "/.-")
	return at > 0 && at < len("yyyy") && strings.Count(text, text[at:at+1]) == 2
}

// date returns a date as YYYY-MM-DD. It reports one that is written otherwise.
func (r *Row) date(column, text string) (iso string, ok bool) {
	format := r.pass.sheet.Dates
	if _, err := wiretime.ParseDay(text); err == nil {
		return text, true
	}
	if iso, ok := format.day(text); ok {
		return iso, true
	}
	switch {
	case format != "":
		r.Fault(column, "is not a date as %s, which --dates says, or YYYY-MM-DD", format)
	case national(text) && r.pass.sheet.Quoted: // files of other programs have the dates of their standard
		r.Fault(column, "is not a date as YYYY-MM-DD; --dates says how others are written, such as %s",
			DateFormats()[0])
	default:
		r.Fault(column, problem.NotADay)
	}
	return "", false
}

// Day is nil for an empty cell.
func (r *Row) Day(column string) *string {
	text := r.Optional(column, MaxText)
	if text == "" {
		return nil
	}
	if iso, ok := r.date(column, text); ok {
		return &iso
	}
	return nil
}

// DateTime is a date, or a date and a time, whose date is read as Day reads it. The rest is the caller's to check.
func (r *Row) DateTime(column string) string {
	text := r.Optional(column, MaxText)
	date, rest := text, ""
	if end := strings.IndexAny(text, " T"); end > 0 {
		date, rest = text[:end], text[end:]
	}
	if iso, ok := r.pass.sheet.Dates.day(date); ok {
		return iso + rest
	}
	if national(date) {
		r.date(column, date)
		return ""
	}
	return text
}
