package load

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// Warning is something that looks wrong in a source and would change Belfry.
type Warning struct {
	Text string `json:"text"`
	// Confirm names what is so wrong that the source should not be loaded unchecked: a key, such as Pupil:17, or their
	// kind where many records are wrong. Empty: it may be loaded.
	Confirm string `json:"confirm,omitempty"`
}

func (w Warning) String() string { return "warning: " + w.Text }

const (
	// maxWarnings bounds the warnings of one kind of record and one cause that are given one by one, but for keys that
	// have to be confirmed.
	maxWarnings = 10
	// manyGone and manyKeys are the least numbers that stop a load, where they are a tenth of what there is.
	manyGone = 10
	manyKeys = 5
)

// Stored are the imported elements of Belfry of the types that a source has, by Type:key, and the names of its imported
// users, by User:key.
type Stored map[string]client.Record

// prefixOf begins the keys of a kind in Stored; it is empty of kinds that are not in it.
func prefixOf(kind bundle.Kind) string {
	switch entity := kind.EntityType(); {
	case entity != "":
		return entity + ":"
	case kind == bundle.Users:
		return "User:"
	}
	return ""
}

// ReadStored reads the imported elements of the source's types, also those that are no longer current, and the imported
// users. Requires the admin permission; an administrator of a school reads what belongs to it.
func ReadStored(ctx context.Context, c *client.Client, source Source) (Stored, error) {
	stored := Stored{}
	for _, kind := range bundle.Kinds() {
		prefix := prefixOf(kind)
		if prefix == "" || !source.Has(kind) {
			continue
		}
		var query url.Values
		if entity := kind.EntityType(); entity != "" {
			query = url.Values{"entity_type": {entity}}
		}
		for record, err := range records(ctx, c, listOf(kind), query) {
			if err != nil {
				return nil, err
			}
			switch key := record.Text("key"); {
			case key == "":
			case kind == bundle.Users:
				stored[prefix+key] = client.Record{"name": record["name"]} // all that is compared
			default: // an element's key has its type
				stored[key] = record
			}
		}
	}
	return stored, nil
}

// Ended counts the memberships that a source ends since a file of it lacks them, and those that there were.
type Ended struct {
	File      string
	Ended, Of int
}

// ender is a source that ends memberships.
type ender interface{ Ended() []Ended }

// Warnings says what looks wrong with a source: keys of people and users that now mean someone else, keys that differ
// only in leading zeros, which spreadsheets remove, and the loss of too many elements of a type, or memberships of a
// file. Gone says which elements would no longer be current; nil: none.
func (s Stored) Warnings(source Source, gone func(reference string) bool) ([]Warning, error) {
	var all []Warning
	for _, kind := range bundle.Kinds() {
		if prefixOf(kind) == "" || !source.Has(kind) {
			continue
		}
		found, err := s.warnings(source, kind, gone)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if s, ok := source.(ender); ok {
		for _, e := range s.Ended() {
			if tooManyGone(e.Ended, e.Of) {
				all = append(all, Warning{Confirm: string(bundle.Memberships),
					Text: fmt.Sprintf("%d of %d memberships of %s would end", e.Ended, e.Of, e.File)})
			}
		}
	}
	return all, nil
}

// tooManyGone says whether enough are gone to stop a load: a tenth, or all of several, as by a file of only headings.
func tooManyGone(gone, of int) bool {
	return gone >= manyGone && gone*10 >= of || gone > 1 && gone == of
}

func (s Stored) warnings(source Source, kind bundle.Kind, isGone func(string) bool) ([]Warning, error) {
	others, zeros := warnings{}, warnings{}
	prefix, bare := prefixOf(kind), map[string]string{}
	gone, stays := 0, 0 // of the current elements that came from such a source
	for reference, record := range s {
		key, ok := strings.CutPrefix(reference, prefix)
		if !ok {
			continue
		}
		bare[strings.TrimLeft(key, "0")] = key
		if isGone != nil && kind.EntityType() != "" && record.Text("current") != "false" && isGone(reference) {
			gone++
		}
	}
	rows := 0
	for row, err := range source.Rows(kind) {
		if err != nil {
			return nil, err
		}
		rows++
		stored, known := s[prefix+row.Key]
		if known && stored.Text("current") != "false" {
			stays++
		}
		if other, ok := bare[strings.TrimLeft(row.Key, "0")]; ok && other != row.Key && !known {
			zeros = append(zeros, Warning{Text: fmt.Sprintf("%s:%d: the key %q differs from %q only in leading zeros",
				row.File, row.Line, row.Key, other)})
		}
		bare[strings.TrimLeft(row.Key, "0")] = row.Key
		was, is := stored.Text("name"), personOf(row.Record)
		if was != "" && is != "" && !shareAWord(was, is) {
			others = append(others, Warning{Confirm: prefix + row.Key,
				Text: fmt.Sprintf("%s:%d: the key %q was %s and is now %s", row.File, row.Line, row.Key, was, is)})
		}
	}
	all := slices.Concat(zeros.ofKeys(kind, rows, "differ from others only in leading zeros"),
		others.ofKeys(kind, rows, "now mean another person"))
	if tooManyGone(gone, gone+stays) {
		all = append(all, Warning{Confirm: string(kind),
			Text: fmt.Sprintf("%d of %d current %s from such files would no longer be current",
				gone, gone+stays, kind)})
	}
	return all, nil
}

// warnings are those of one cause.
type warnings []Warning

// ofKeys returns the first, how many more there are, and where they are many one to confirm in place of each. Keys that
// have to be confirmed one by one are all there.
func (w warnings) ofKeys(kind bundle.Kind, rows int, what string) []Warning {
	many := len(w) >= manyKeys && len(w)*10 >= rows
	if len(w) > 0 && w[0].Confirm != "" && !many {
		return w
	}
	all := slices.Clone(w[:min(len(w), maxWarnings)])
	for i := range all {
		all[i].Confirm = ""
	}
	if more := len(w) - len(all); more > 0 {
		all = append(all, Warning{Text: fmt.Sprintf("and %d more keys of %s %s", more, kind, what)})
	}
	if many {
		all = append(all, Warning{Confirm: string(kind),
			Text: fmt.Sprintf("%d of %d keys of %s %s", len(w), rows, kind, what)})
	}
	return all
}

// personOf is the name of a member of staff, a pupil or a user, "" for other records.
func personOf(record any) string {
	switch r := record.(type) {
	case bundle.StaffRecord:
		return r.Initials + " - " + r.Forename + " " + r.Surname
	case bundle.PupilRecord:
		return cmp.Or(r.KnownAs, r.Forename) + " " + r.Surname
	case bundle.UserRecord:
		return r.Name
	}
	return ""
}

// shareAWord says whether two names have a word in common: people who marry keep their forename. Single letters are in
// many names, and count only together.
func shareAWord(a, b string) bool {
	words := func(name string) []string {
		return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
	}
	within := func(some, all []string) bool {
		return !slices.ContainsFunc(some, func(w string) bool { return !slices.Contains(all, w) })
	}
	in, of := words(a), words(b)
	return within(in, of) || within(of, in) || slices.ContainsFunc(of, func(w string) bool {
		return utf8.RuneCountInString(w) > 1 && slices.Contains(in, w)
	})
}

// Listed is what a dry run says of one record.
type Listed struct {
	Kind    bundle.Kind   `json:"kind"`
	File    string        `json:"file,omitempty"` // none of one that is in Belfry alone
	Line    int           `json:"line,omitempty"`
	Key     string        `json:"key"`
	Name    string        `json:"name,omitempty"`
	Result  string        `json:"result"` // created, updated, unchanged, failed, retired or deleted
	Changes []FieldChange `json:"changes,omitempty"`
}

// FieldChange is a field that would change, with what is stored and what the row says. Of an event's elements these are
// those that go and those that come; of a decision the field is "status of Staff:17", or so. Long values are cut around
// where they differ. The uuid of a user is never among them.
type FieldChange struct {
	Field string `json:"field"`
	Old   string `json:"old"`
	New   string `json:"new"`
}

// String returns the record on one line: pupils.csv:8: changed 12 Ann Byrne: year_group: 8 → 9.
func (l Listed) String() string {
	text := map[string]string{"updated": "changed", "failed": "refused"}[l.Result]
	text = strings.TrimSpace(cmp.Or(text, l.Result) + " " + l.Key + " " + l.Name)
	if l.File != "" {
		text = fmt.Sprintf("%s:%d: %s", l.File, l.Line, text)
	}
	changes := sequence.Map(l.Changes, func(c FieldChange) string {
		return fmt.Sprintf("%s: %s → %s", c.Field, cmp.Or(c.Old, "(empty)"), cmp.Or(c.New, "(empty)"))
	})
	if len(changes) > 0 {
		text += ": " + strings.Join(changes, "; ")
	}
	return text
}

// fieldsOf is a row as the import gets it.
func fieldsOf(row bundle.Row) (client.Record, error) {
	text, err := json.Marshal(row.Record)
	if err != nil {
		return nil, err
	}
	return client.ParseRecord(text)
}

// maxCompared bounds the rows of a kind that MadeHere compares: the first that may be such.
const maxCompared = 1000

// maxID is above every id that a Belfry gives.
const maxID = 1 << 53

// MadeHere warns of an export that is imported into the Belfry that it came from: records made by hand there have no
// key, so they would be duplicated. An export gives them keys that end with their ids; for other sources it does
// nothing. Only elements and events are compared, since every Belfry has a first administrator and categories with the
// same names. Requires the admin permission.
func MadeHere(ctx context.Context, c *client.Client, source Source) ([]Warning, error) {
	if export, ok := source.(interface{ Exported() bool }); !ok || !export.Exported() {
		return nil, nil
	}
	var all []Warning
	v := &values{client: c}
	for _, kind := range bundle.Kinds() {
		if kind != bundle.Events && kind.EntityType() == "" || !source.Has(kind) {
			continue
		}
		rows, first, err := exportedRows(source, kind)
		if err != nil {
			return nil, err
		}
		stored, err := v.find(ctx, kind, slices.Collect(maps.Keys(rows)))
		if err != nil {
			return nil, err
		}
		twice := 0
		for id, r := range stored {
			if r.Text("key") == "" && sameName(kind, r, rows[id]) {
				twice++
			}
		}
		if twice > 0 {
			text := fmt.Sprintf("%s: of the %d rows from line %d on with keys made by an export, %d were made by hand "+
				"in this Belfry and would be duplicated", kind.File(), len(rows), first, twice)
			all = append(all, Warning{Confirm: string(kind), Text: text})
		}
	}
	return all, nil
}

// exportedRows are the first rows of a kind whose keys end with an id, as in an export, by that id, and the line of the
// first one.
func exportedRows(source Source, kind bundle.Kind) (rows map[int64]client.Record, first int, err error) {
	rows = map[int64]client.Record{}
	for row, err := range source.Rows(kind) {
		if err != nil {
			return nil, 0, err
		}
		id, err := strconv.ParseInt(row.Key[strings.LastIndex(row.Key, ":")+1:], 10, 64)
		if err != nil || id < 1 || id > maxID || !strings.Contains(row.Key, ":") {
			continue
		}
		first = cmp.Or(first, row.Line)
		fields, err := fieldsOf(row)
		if err != nil {
			return nil, 0, err
		}
		if rows[id] = fields; len(rows) == maxCompared {
			break
		}
	}
	return rows, first, nil
}

// sameName says whether a record that was made by hand is called as a row is.
func sameName(kind bundle.Kind, stored, row client.Record) bool {
	if entity := kind.EntityType(); entity != "" && stored.Text("entity_type") != entity {
		return false
	}
	fields := []string{"name"}
	switch kind {
	case bundle.Staff, bundle.Pupils:
		fields = []string{"forename", "surname"}
	case bundle.Events:
		fields = []string{"body"}
	}
	for _, field := range fields {
		if stored.Text(field) != row.Text(field) {
			return false
		}
	}
	return true
}

// findErased finds rows of people who have been erased, which stop the import; a dry run lists them among those that
// are refused. Once a person has been erased, it asks in a dry run which rows are of such people, and searches the
// source for rows that name them. Otherwise a load would find out halfway, and report only that the people whom rows
// name must exist.
func (l *importing) findErased(ctx context.Context, source Source) error {
	erasures, _, err := l.Client.Page(ctx, "/api/admin/erasures", "erasures", url.Values{"limit": {"1"}}, "")
	if err != nil || len(erasures) == 0 {
		return err
	}
	var rows []Refusal // their own, and those of their users, which no import takes; the first 1,000
	keys := erasedKeys{}
	for _, kind := range []bundle.Kind{bundle.Staff, bundle.Pupils, bundle.Users} {
		asking := &run{client: l.Client, source: source, options: Options{DryRun: true, Parallel: 1}, keeps: ofErased}
		asking.report.Kinds = []Tally{{Kind: kind}}
		if err := asking.kind(ctx, kind); err != nil {
			return err
		}
		rows = append(rows, asking.report.First...)
		for _, row := range asking.report.First {
			keys[prefixOf(kind)+row.Key] = true
		}
	}
	if len(rows) == 0 {
		return nil
	}
	l.stopped = &StoppedError{Why: WhyErased}
	if !l.DryRun {
		l.out.Refused, l.out.First = len(rows), rows
	}
	naming, err := keys.warnings(source)
	l.warn(naming...)
	return err
}

// ofErased says whether a row was refused because its person has been erased.
func ofErased(refused Refusal) bool { return slices.Contains(refused.Errors["key"], erasure.Refused) }

// erasedKeys are the keys of erased people and users, as Stored has them.
type erasedKeys map[string]bool

// warnings counts the other rows that name them, file by file.
func (k erasedKeys) warnings(source Source) (all []Warning, err error) {
	for _, kind := range bundle.Kinds() {
		rows, first := 0, bundle.Row{}
		for row, err := range source.Rows(kind) {
			if err != nil {
				return nil, err
			}
			if !k[prefixOf(kind)+row.Key] && k.namedBy(row.Record) {
				if rows++; rows == 1 {
					first = row
				}
			}
		}
		if rows > 0 {
			text := fmt.Sprintf("%s:%d: names people who have been erased", first.File, first.Line)
			if rows > 1 {
				text += fmt.Sprintf(" (and %d more like it)", rows-1)
			}
			all = append(all, Warning{Text: text})
		}
	}
	return all, nil
}

// namedBy says whether a record refers to one of them.
func (k erasedKeys) namedBy(record any) bool {
	user := func(key string) bool { return k[prefixOf(bundle.Users)+key] }
	switch r := record.(type) {
	case bundle.MembershipRecord:
		return k[r.Member]
	case bundle.MembershipChanges:
		return k[r.Member]
	case bundle.UserRecord:
		return k[r.Element] || r.StandsFor != nil && slices.ContainsFunc(*r.StandsFor, func(key string) bool {
			return k[form.Pupil+":"+key]
		})
	case bundle.AdministratorRecord:
		return k[r.Element] || user(r.User)
	case bundle.EventRecord:
		return k[form.Staff+":"+r.Organiser] || user(r.Owner) ||
			slices.ContainsFunc(r.Elements, func(key string) bool { return k[key] }) ||
			slices.ContainsFunc(r.Decisions, func(d bundle.Decision) bool {
				return k[d.Element] || user(d.DecidedBy) || user(d.AskedBy)
			})
	case bundle.NoteRecord:
		return user(r.Owner)
	}
	return false
}
