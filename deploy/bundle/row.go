package bundle

import (
	"fmt"
	"math"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Limits in characters and items. Those of body, contents and elements are the API's.
const (
	maxKey      = 255
	maxName     = 255
	maxEmail    = 254
	maxText     = 4096 // descriptions, and the body of an event
	maxContents = 65536
	maxElements = 1000
)

const blank = "can't be blank"

// row checks the cells of one row while its record is made. The cell of a column that the file does not have, or of one whose
// text can't be used, reads as empty without another fault.
type row struct {
	pass  *pass
	cells []string
	line  func(cell int) int
	bad   map[string]bool // columns that already have a fault
}

// fault reports a cell, once.
func (r *row) fault(column, format string, args ...any) {
	if r.bad[column] {
		return
	}
	if r.bad == nil {
		r.bad = map[string]bool{}
	}
	r.bad[column] = true
	r.pass.fault(r.line(r.pass.position[column]), column, fmt.Sprintf(format, args...))
}

// checkText refuses what no column may hold.
func (r *row) checkText() {
	for _, column := range r.pass.sheet.columns {
		switch text := r.raw(column.name); {
		case !utf8.ValidString(text):
			r.fault(column.name, "is not UTF-8")
		case strings.ContainsRune(text, 0):
			r.fault(column.name, "has a NUL character")
		}
	}
}

// has tells whether the column is there to be judged.
func (r *row) has(column string) bool {
	_, ok := r.pass.position[column]
	return ok && !r.bad[column]
}

// raw is a cell as it is.
func (r *row) raw(column string) string {
	if !r.has(column) {
		return ""
	}
	return r.cells[r.pass.position[column]]
}

// optional is a cell without the spaces around it.
func (r *row) optional(column string, limit int) string {
	text := strings.TrimSpace(r.raw(column))
	if n := utf8.RuneCountInString(text); n > limit {
		r.fault(column, "has %d characters, at most %d are allowed", n, limit)
		return ""
	}
	return text
}

func (r *row) required(column string, limit int) string {
	text := r.optional(column, limit)
	if text == "" && r.has(column) {
		r.fault(column, blank)
	}
	return text
}

// name is a required text of one line, as everything that becomes the name of an element is.
func (r *row) name(column string) string { return r.line1(column, r.required(column, maxName)) }

// word is an optional text of one line.
func (r *row) word(column string) string { return r.line1(column, r.optional(column, maxName)) }

func (r *row) line1(column, text string) string {
	if strings.ContainsFunc(text, unicode.IsControl) {
		r.fault(column, "has a line break or another control character")
		return ""
	}
	return text
}

// key is the row's own key. It can't hold the semicolon, which parts the references of a cell.
func (r *row) key() string {
	key := r.line1("key", r.required("key", maxKey))
	if strings.Contains(key, ";") {
		r.fault("key", "has a semicolon")
	}
	r.unique("key", key, strconv.Quote(brief(key)))
	return key
}

// unique reports a value that an earlier row has in the column; shown is how the fault calls it.
func (r *row) unique(column, value, shown string) {
	if value == "" {
		return
	}
	lines := r.pass.unique[column]
	if lines == nil {
		lines = map[string]int{}
		r.pass.unique[column] = lines
	}
	if first, ok := lines[value]; ok {
		r.fault(column, "%s is already in line %d", shown, first)
		return
	}
	// A copy: a part of the row would keep all of it in memory.
	lines[strings.Clone(value)] = r.line(r.pass.position[column])
}

// boolean is nil for an empty cell.
func (r *row) boolean(column string) *bool {
	var value bool
	switch r.optional(column, maxText) {
	case "":
		return nil
	case "true":
		value = true
	case "false":
	default:
		r.fault(column, "must be true or false")
		return nil
	}
	return &value
}

func (r *row) integer(column string) *int {
	text := r.optional(column, maxText)
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < math.MinInt32 || n > math.MaxInt32 {
		r.fault(column, "is not a whole number")
		return nil
	}
	return &n
}

// day is nil for an empty cell.
func (r *row) day(column string) *string {
	text := r.optional(column, maxText)
	if text == "" {
		return nil
	}
	if _, err := wiretime.ParseDay(text); err != nil {
		r.fault(column, "is not a date (YYYY-MM-DD)")
		return nil
	}
	return &text
}

func (r *row) email(column string) string {
	text := r.optional(column, maxEmail)
	if text == "" {
		return ""
	}
	if address, err := mail.ParseAddress(text); err != nil || address.Address != text {
		r.fault(column, "is not an e-mail address")
	}
	return text
}

// password is a uuid. No fault repeats it.
func (r *row) password(column string) string {
	text := strings.TrimSpace(r.raw(column))
	if text == "" {
		return ""
	}
	if len(text) != 36 || uuid.Validate(text) != nil {
		r.fault(column, "is not a uuid (8-4-4-4-12 hexadecimal digits)")
		return ""
	}
	r.unique(column, strings.ToLower(text), "this uuid")
	return text
}

func (r *row) oneOf(column string, values ...string) string {
	text := r.optional(column, maxText)
	if text != "" && !slices.Contains(values, text) {
		r.fault(column, "must be one of %s", strings.Join(values, ", "))
	}
	return text
}

// reference is a cell that holds the key of a row of another file.
func (r *row) reference(column string, kind Kind) string {
	key := r.optional(column, maxKey)
	entity, _, typed := strings.Cut(key, ":")
	switch {
	case key == "" || r.pass.index.has(kind, key):
	case typed && kindOf(entity) != "":
		r.fault(column, "%q must be a key of %s alone, without a type", brief(key), kind.File())
	default:
		r.resolve(column, kind, key)
	}
	return key
}

// contents is the Markdown of a note, as it is; it may be empty.
func (r *row) contents() string {
	text := r.raw("contents")
	if n := utf8.RuneCountInString(text); n > maxContents {
		r.fault("contents", "has %d characters, at most %d are allowed", n, maxContents)
	}
	return text
}

func (r *row) requiredReference(column string, kind Kind) string {
	key := r.reference(column, kind)
	if key == "" && r.has(column) {
		r.fault(column, blank)
	}
	return key
}

// element is a cell that holds Type:key.
func (r *row) element(column string) string {
	text := strings.TrimSpace(r.raw(column))
	if text != "" {
		r.checkElement(column, text)
	}
	return text
}

func (r *row) requiredElement(column string) string {
	text := r.element(column)
	if text == "" && r.has(column) {
		r.fault(column, blank)
	}
	return text
}

func (r *row) checkElement(column, text string) {
	entity, key, ok := strings.Cut(text, ":")
	kind := kindOf(entity)
	if !ok || kind == "" {
		r.fault(column, "%q is not Type:key, such as Staff:17", brief(text))
		return
	}
	r.resolve(column, kind, key)
}

// resolve checks that a row of the kind has the key.
func (r *row) resolve(column string, kind Kind, key string) {
	if r.pass.index.has(kind, key) || r.pass.index.unsure[kind] {
		return
	}
	r.fault(column, "no row of %s has the key %q", kind.File(), brief(key))
}

// elements is the list of an event's elements, parted by semicolons. Only a resource group may come more than once: each time
// asks for one more of its items.
func (r *row) elements(column string) []string {
	text := strings.TrimSpace(r.raw(column))
	if text == "" {
		return nil
	}
	list := strings.Split(text, ";")
	if len(list) > maxElements {
		r.fault(column, "has %d elements, at most %d are allowed", len(list), maxElements)
		return nil
	}
	for i, element := range list {
		list[i] = strings.TrimSpace(element)
		if list[i] == "" {
			r.fault(column, "has an empty place between semicolons")
			return nil
		}
		r.checkElement(column, list[i])
		group, isGroup := strings.CutPrefix(list[i], "Group:")
		if slices.Contains(list[:i], list[i]) && !(isGroup && r.pass.index.resources[group]) {
			r.fault(column, "%q is there twice, which only a resource group may be", brief(list[i]))
		}
	}
	return list
}

// span checks the times of an event by the rules of the contract's set B.
func (r *row) span(starts, ends string, allDay *bool) {
	if !r.has("starts_at") || !r.has("ends_at") || r.bad["all_day"] {
		return
	}
	_, faults := r.pass.zone.NewSpan(wiretime.SpanFields{AllDay: allDay, StartsAt: &starts, EndsAt: &ends})
	for _, column := range []string{"starts_at", "ends_at"} {
		for _, reason := range faults[column] {
			r.fault(column, "%s", reason)
		}
	}
}

// brief shortens what a fault repeats.
func brief(text string) string {
	const limit = 60
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return text
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
