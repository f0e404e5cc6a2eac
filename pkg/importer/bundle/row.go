package bundle

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Limits in characters and items, as in the API.
const (
	maxContents = 65536
	maxSchools  = 100
	maxPupils   = 20 // that a user stands for
	// MaxElements bounds the elements of an event's row.
	MaxElements = 1000
)

// Reserved is the prefix of the keys of elements that come from a OneRoster folder. A bundle has no such keys, so
// neither prunes the other's elements.
const Reserved = "oneroster:"

// row is a row with the rules of a bundle, in addition to those of any CSV file.
type row struct {
	*csvfile.Row
	pass *pass
}

func (r *row) key(column string) string {
	key := r.Key(column, csvfile.MaxKey)
	for prefix, owner := range map[string]string{Reserved: "OneRoster", LessonKeys: Lessons.File()} {
		if strings.HasPrefix(key, prefix) && !r.pass.index.exported {
			r.Fault(column, "begins with %q, which is reserved for %s", prefix, owner)
		}
	}
	return key
}

// password is a uuid. No fault repeats it.
func (r *row) password(column string) string {
	text := strings.TrimSpace(r.Raw(column))
	if text == "" {
		return ""
	}
	if len(text) != 36 || uuid.Validate(text) != nil {
		r.Fault(column, "is not a uuid (8-4-4-4-12 hexadecimal digits)")
		return ""
	}
	r.Unique(column, strings.ToLower(text), "this uuid")
	return text
}

// reference is a cell that holds the key of a row of another file.
func (r *row) reference(column string, kind Kind) string {
	key := r.Optional(column, csvfile.MaxKey)
	if key != "" {
		r.checkKey(column, kind, key)
	}
	return key
}

// checkKey checks that a row of the kind has the key, given without a type.
func (r *row) checkKey(column string, kind Kind, key string) {
	entity, _, typed := strings.Cut(key, ":")
	switch {
	case r.pass.index.has(kind, key):
	case typed && kindOf(entity) != "":
		r.Fault(column, "%q must be a key of %s alone, without a type", csvfile.Brief(key), r.pass.index.file(kind))
	default:
		r.resolve(column, kind, key)
	}
}

// contents is the Markdown of a note, as it is; it may be empty.
func (r *row) contents(column string) string {
	text := r.Raw(column)
	if n := utf8.RuneCountInString(text); n > maxContents {
		r.Fault(column, "has %d characters, at most %d are allowed", n, maxContents)
	}
	return r.Lines(column, text)
}

// element is a cell that holds Type:key.
func (r *row) element(column string) string {
	text := strings.TrimSpace(r.Raw(column))
	if text == "" {
		return ""
	}
	return r.checkElement(column, text)
}

// checkElement returns Type:key with the usual case of the type; any case is accepted.
func (r *row) checkElement(column, text string) string {
	entity, key, ok := strings.Cut(text, ":")
	kind := kindOf(entity)
	if !ok || kind == "" {
		meant := ""
		if ok {
			meant = csvfile.Nearest(entity, entities)
		}
		r.Fault(column, "%q is not Type:key, such as Staff:17%s", csvfile.Brief(text), csvfile.Meant(meant))
		return text
	}
	key = strings.TrimSpace(key)
	r.resolve(column, kind, key)
	if reference := kind.EntityType() + ":" + key; reference != text {
		return reference
	}
	return text
}

// resolve checks that a row of the kind has the key.
func (r *row) resolve(column string, kind Kind, key string) {
	if r.pass.index.has(kind, key) || r.pass.index.unsure[kind] {
		return
	}
	r.Fault(column, "no row of %s has the key %q", r.pass.index.file(kind), csvfile.Brief(key))
}

// list is a cell of references separated by semicolons, at most that many. It is nil if the cell is empty or has a
// fault, which calls them what.
func (r *row) list(column, what string, most int) []string {
	text := strings.TrimSpace(r.Raw(column))
	if text == "" {
		return nil
	}
	list := strings.Split(text, ";")
	if len(list) > most {
		r.Fault(column, "has %d %s, at most %d are allowed", len(list), what, most)
		return nil
	}
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
		if list[i] == "" {
			r.Fault(column, "has an empty entry between semicolons")
			return nil
		}
	}
	return list
}

// listed are the columns that list keys without types.
var listed = map[string]struct {
	kind Kind
	what string
	most int
}{"admin_of": {Groups, "schools", maxSchools}, "stands_for": {Pupils, "pupils", maxPupils}}

// keys is a list of keys of one kind, those of groups of schools. It is nil if the file lacks the column, and empty if
// the cell is.
func (r *row) keys(column string) *[]string {
	if !r.Has(column) {
		return nil
	}
	of := listed[column]
	list := append([]string{}, r.list(column, of.what, of.most)...)
	for i, key := range list {
		r.checkKey(column, of.kind, key)
		switch known := r.pass.index.has(of.kind, key); {
		case known && of.kind == Groups && !r.pass.index.schools[key]:
			r.Fault(column, "%q is not a current school in %s", csvfile.Brief(key), r.pass.index.file(Groups))
		case slices.Contains(list[:i], key):
			r.Fault(column, "%q appears twice", csvfile.Brief(key))
		}
	}
	return &list
}

// elements is the list of an event's elements. Only a resource group may occur more than once: each occurrence requests
// one more of its items.
func (r *row) elements(column string) []string {
	list := r.list(column, "elements", MaxElements)
	for i := range list {
		list[i] = r.checkElement(column, list[i])
		group, isGroup := strings.CutPrefix(list[i], "Group:")
		if slices.Contains(list[:i], list[i]) && !(isGroup && r.pass.index.resources[group]) {
			r.Fault(column, "%q appears twice, which only resource groups may", csvfile.Brief(list[i]))
		}
	}
	return list
}

// span checks the times of an event by the rules of the contract's set B.
func (r *row) span(starts, ends string, allDay *bool) {
	if !r.Has("starts_at") || !r.Has("ends_at") || r.Bad("all_day") {
		return
	}
	_, faults := r.pass.zone.NewSpan(wiretime.SpanFields{AllDay: allDay, StartsAt: &starts, EndsAt: &ends})
	for _, column := range []string{"starts_at", "ends_at"} {
		for _, reason := range faults[column] {
			r.Fault(column, "%s", reason)
		}
	}
}
