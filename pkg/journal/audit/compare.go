package audit

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// maxValue bounds a value in the audit, in characters. The rest of a longer one is left out, and where it can be no
// word is cut: an erasure would not find what is left of a name.
const maxValue = 200

// Value is a field of a record as the audit shows it.
type Value struct {
	Field  string
	Text   string // empty: without a value
	Hidden bool   // only a change may be shown
}

// Text is a field of text.
func Text(field, text string) Value { return Value{Field: field, Text: text} }

// ID is a field that names a record; 0: none.
func ID(field string, id int64) Value {
	if id == 0 {
		return Value{Field: field}
	}
	return Int(field, id)
}

// Int is a field that is a number.
func Int(field string, n int64) Value {
	return Value{Field: field, Text: strconv.FormatInt(n, 10)}
}

// Bool is a field that is true or false.
func Bool(field string, b bool) Value { return Value{Field: field, Text: strconv.FormatBool(b)} }

// Time is a field that is an instant; the zero time: none.
func Time(field string, t time.Time) Value {
	if t.IsZero() {
		return Value{Field: field}
	}
	return Value{Field: field, Text: t.UTC().Format(time.RFC3339)}
}

// IDs is a field that names several records.
func IDs(field string, ids []int64) Value {
	texts := sequence.Map(ids, func(id int64) string { return strconv.FormatInt(id, 10) })
	return Value{Field: field, Text: strings.Join(texts, ",")}
}

// Secret is a field of which only a change is shown. The text never leaves this package.
func Secret(field, text string) Value { return Value{Field: field, Text: text, Hidden: true} }

// Compare returns the differences between two states of a record: first the fields of after, in their order, then
// those that only before has. A record that was created or is deleted has no values on one side.
func Compare(before, after []Value) []Change {
	was := sequence.By(before, func(v Value) string { return v.Field })
	var changes []Change
	seen := make(map[string]bool, len(after))
	for _, v := range after {
		seen[v.Field] = true
		if old := was[v.Field]; old.Text != v.Text {
			changes = append(changes, change(v.Field, old, v))
		}
	}
	for _, v := range before {
		if !seen[v.Field] && v.Text != "" {
			changes = append(changes, change(v.Field, v, Value{Hidden: v.Hidden}))
		}
	}
	return changes
}

// Between returns the entries for a change of a record between two states, as New does: none when they are equal. A
// record without values before is created, and one without values after is deleted.
func Between(ctx context.Context, record Record, before, after []Value, besides ...Record) []Entry {
	changes := Compare(before, after)
	action := Update
	switch {
	case len(changes) == 0:
		return nil
	case len(before) == 0:
		action = Create
	case len(after) == 0:
		action = Delete
	}
	return New(ctx, action, record, changes, besides...)
}

func change(field string, before, after Value) Change {
	return Change{Field: field, From: shown(before), To: shown(after)}
}

func shown(v Value) *string {
	if v.Hidden || v.Text == "" {
		return nil
	}
	text := v.Text
	if utf8.RuneCountInString(text) > maxValue {
		runes := []rune(text)
		end := maxValue
		for end > maxValue/2 && runes[end] != ' ' {
			end--
		}
		if end == maxValue/2 { // it is no text of words
			end = maxValue
		}
		text = string(runes[:end]) + "…"
	}
	return &text
}

// Only returns the changes of those fields.
func Only(changes []Change, fields ...string) []Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return !slices.Contains(fields, c.Field) })
}

// Has says whether one of the changes is of that field.
func Has(changes []Change, field string) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return c.Field == field })
}
