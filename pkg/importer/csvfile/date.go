package csvfile

import (
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

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
