package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// values tells what a dry run would change. It reads the stored records, except elements, and once what they refer to.
type values struct {
	client *client.Client
	zone   wiretime.Zone // the deployment's, for the times of events
	stored Stored        // has the elements
	tell   func(Listed)

	names map[string]map[int64]Name // of what rows refer to, by list and id; nil: not read yet
}

// listOf is the list below /api/admin/ of a kind that is not administrators: it has the records in the order of their
// ids, with all of their values.
func listOf(kind bundle.Kind) string {
	switch kind {
	case bundle.Users, bundle.EventCategories:
		return string(kind)
	case bundle.Memberships, bundle.Events, bundle.Notes:
		return "export/" + string(kind)
	}
	return Elements
}

// records reads such a list.
func records(ctx context.Context, c *client.Client, list string, query url.Values) iter.Seq2[client.Record, error] {
	return c.List(ctx, "/api/admin/"+list, path.Base(list), query)
}

// maxWindow is the most records that a page of a list has.
const maxWindow = 1000

// find reads the records of a kind with these ids. One that has gone is left out.
func (v *values) find(ctx context.Context, kind bundle.Kind, ids []int64) (map[int64]client.Record, error) {
	found := make(map[int64]client.Record, len(ids))
	list := listOf(kind)
	slices.Sort(ids)
	for len(ids) > 0 {
		first := ids[0]
		n, _ := slices.BinarySearch(ids, first+maxWindow)
		query := url.Values{
			"from_id": {strconv.FormatInt(first, 10)}, "limit": {strconv.FormatInt(ids[n-1]-first+1, 10)},
		}
		page, next, err := v.client.Page(ctx, "/api/admin/"+list, path.Base(list), query, "")
		if err != nil {
			return nil, err
		}
		last := first
		for _, r := range page {
			last = max(last, r.ID("id"))
			if _, wanted := slices.BinarySearch(ids, r.ID("id")); wanted {
				found[r.ID("id")] = r
			}
		}
		if next == "" {
			break
		}
		read, _ := slices.BinarySearch(ids, last+1)
		ids = ids[read:]
	}
	return found, nil
}

// batch tells each record of a batch.
func (v *values) batch(ctx context.Context, kind bundle.Kind, b *batch, answer client.Imported) error {
	stored, err := v.of(ctx, kind, answer)
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Code == http.StatusForbidden {
		stored, err = nil, nil // an administrator of a school may import what it can't list
	}
	if err != nil {
		return err
	}
	for _, record := range answer.Records {
		if record.Index < 0 || record.Index >= len(b.rows) {
			continue
		}
		row, before := b.rows[record.Index], stored[record.ID]
		l := Listed{Kind: kind, File: row.File, Line: row.Line, Key: row.Key, Result: record.Result}
		fields, err := fieldsOf(row)
		if err != nil {
			return err
		}
		l.Name = cmp.Or(personOf(row.Record), fields.Text("name"), fields.Text("body"))
		if before == nil && kind.EntityType() != "" {
			before = v.stored[prefixOf(kind)+row.Key]
		}
		if record.Result == "updated" && before != nil {
			l.Changes = v.changes(kind, row.Record, fields, before)
		}
		v.tell(l)
	}
	return nil
}

// of returns the stored records of a batch that would change, by id, and reads what they refer to.
func (v *values) of(ctx context.Context, kind bundle.Kind, answer client.Imported) (map[int64]client.Record, error) {
	var ids []int64
	for _, r := range answer.Records {
		if r.Result == "updated" {
			ids = append(ids, r.ID)
		}
	}
	if kind.EntityType() != "" || len(ids) == 0 {
		return nil, nil
	}
	stored, err := v.find(ctx, kind, ids)
	if err == nil && v.names == nil {
		v.names, err = ReadNames(ctx, v.client, keyOf)
	}
	if err == nil && kind == bundle.Notes {
		err = v.readEvents(ctx, stored)
	}
	return stored, err
}

// readEvents reads the names of the events of notes.
func (v *values) readEvents(ctx context.Context, notes map[int64]client.Record) error {
	ids := map[int64]bool{}
	for _, n := range notes {
		ids[n.ID("event_id")] = true
	}
	events, err := v.find(ctx, bundle.Events, slices.Collect(maps.Keys(ids)))
	names := map[int64]Name{}
	for id, r := range events {
		names[id] = Name{Key: keyOf(r)}
	}
	v.names[string(bundle.Events)] = names
	return err
}

// keyOf is a record's key without a type; one that was made by hand has none, and is named by its name and id.
func keyOf(r client.Record) string {
	return cmp.Or(strings.TrimPrefix(r.Text("key"), r.Text("entity_type")+":"),
		fmt.Sprintf("%s (%s)", cmp.Or(r.Text("name"), r.Text("body")), r.Text("id")))
}

func (v *values) named(list string, id int64) (Name, error) { return v.names[list][id], nil }

func (v *values) element(id int64) string { return v.names["elements"][id].Reference }

func (v *values) user(id int64) string { return v.names["users"][id].Key }

// changes says what a row would change of its stored record, field by field. A user's uuid, a password of which Belfry
// has only a hash, is never among them.
func (v *values) changes(kind bundle.Kind, row any, fields, stored client.Record) []FieldChange {
	switch row := row.(type) {
	case bundle.UserRecord:
		all := v.keys(v.compare(kind, fields, stored), "admin_of", row.AdminOf, stored)
		return v.keys(all, "stands_for", row.StandsFor, stored)
	case bundle.MembershipRecord:
		return changed(nil, "spans", spansOf(stored.Records("spans")), spansOf(fields.Records("spans")))
	case bundle.MembershipChanges:
		return membershipChanges(fields, stored)
	case bundle.EventRecord:
		all := v.compare(kind, v.withTimes(fields, row), stored)
		return v.decisions(v.elementsOf(all, row, stored), row, stored)
	}
	return v.compare(kind, fields, stored)
}

// changed adds a change to others if the values differ.
func changed(others []FieldChange, field, was, is string) []FieldChange {
	if was == is {
		return others
	}
	was, is = brief(was, is)
	return append(others, FieldChange{Field: field, Old: was, New: is})
}

const (
	// maxValue bounds what is shown of a value, in characters.
	maxValue = 120
	// before is how many characters are shown of a long value before the first that differs.
	before = 20
)

// brief cuts two values that differ to one line each, where one is long around the first character that differs.
func brief(was, is string) (string, string) {
	a, b := []rune(strings.Join(strings.Fields(was), " ")), []rune(strings.Join(strings.Fields(is), " "))
	if string(a) == string(b) { // they differ in spaces and line breaks
		a, b = []rune(strconv.Quote(was)), []rune(strconv.Quote(is))
	}
	if max(len(a), len(b)) <= maxValue {
		return string(a), string(b)
	}
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	cut := func(text []rune) string {
		from := max(0, same-before)
		to := min(len(text), from+maxValue)
		shown := string(text[from:to])
		if from > 0 {
			shown = "…" + shown
		}
		if to < len(text) {
			shown += "…"
		}
		return shown
	}
	return cut(a), cut(b)
}

var (
	// defaults are what an empty cell means, by column.
	defaults = map[string]string{"current": "true", "pecking_order": "0", "kind": "staff", "visible_staff": "true"}
	// keeping are the columns whose empty cells change nothing.
	keeping = []string{"active", "duplicate_email"}
	// apart are the columns that compare leaves out.
	apart = []string{"key", "uuid", "elements", "admin_of", "stands_for"}
)

// compare compares cells. An empty one means what is in defaults, or false where the record has a boolean.
func (v *values) compare(kind bundle.Kind, fields, stored client.Record) (all []FieldChange) {
	for _, c := range kind.Described() {
		before, _ := Cell(c, stored, v.named) // named has no error
		after := cmp.Or(fields.Text(c.Name), defaults[c.Name])
		switch {
		case slices.Contains(apart, c.Name), after == "" && slices.Contains(keeping, c.Name):
			continue
		case after == "" && before == "true":
			after = "false"
		case after == "false" && before == "", after == "" && before == "false":
			continue
		}
		all = changed(all, c.Name, before, after)
	}
	return all
}

// keys adds a change of a user's list of elements, which a row gives by their keys; nil changes nothing.
func (v *values) keys(all []FieldChange, field string, given *[]string, stored client.Record) []FieldChange {
	if given == nil {
		return all
	}
	before := sequence.Map(stored.IDs(field), func(id int64) string { return v.names["elements"][id].Key })
	return changed(all, field, sorted(before), sorted(*given))
}

// sorted lists keys in their order.
func sorted(keys []string) string { return strings.Join(slices.Sorted(slices.Values(keys)), ";") }

// spansOf are the days of a membership as text, those that overlap or adjoin as one.
func spansOf(spans []client.Record) string {
	runs := sequence.Map(spans, func(s client.Record) wiretime.Days { return client.As[bundle.Span](s).Days() })
	return strings.Join(sequence.Map(wiretime.MergeDays(runs), daysText), ", ")
}

func daysText(days wiretime.Days) string {
	switch first, last := days.First == wiretime.FirstDay, days.Last == wiretime.LastDay; {
	case first && last:
		return "always"
	case first:
		return "until " + days.Last.String()
	case last:
		return "from " + days.First.String()
	}
	return days.First.String() + " to " + days.Last.String()
}

// membershipChanges compares what a row of a roster says of a membership with all that is stored of it.
func membershipChanges(fields, stored client.Record) []FieldChange {
	var said []string
	for _, change := range fields.Records("changes") {
		if before := change.Text("ends_before"); before != "" {
			said = append(said, "ends before "+before)
			continue
		}
		said = append(said, spansOf([]client.Record{change}))
	}
	return changed(nil, "spans", spansOf(stored.Records("spans")), strings.Join(said, ", "))
}

// withTimes are the fields of an event with its times as answers have them.
func (v *values) withTimes(fields client.Record, row bundle.EventRecord) client.Record {
	span, _ := v.zone.NewSpan(wiretime.SpanFields{AllDay: row.AllDay, StartsAt: &row.StartsAt, EndsAt: &row.EndsAt})
	shown := v.instant
	if span.AllDay {
		shown = func(at time.Time) string { return v.zone.DayOf(at).String() }
	}
	fields = maps.Clone(fields)
	fields["starts_at"], fields["ends_at"] = shown(span.Starts), shown(span.Ends)
	return fields
}

// instant is a time as text, without milliseconds.
func (v *values) instant(at time.Time) string { return withoutZeros(v.zone.Format(at)) }

func withoutZeros(text string) string { return strings.Replace(text, ".000", "", 1) }

// elementsOf says which elements are removed and added. A resource group counts as often as it is requested, and keeps
// its allocations as long as it is named at all.
func (v *values) elementsOf(all []FieldChange, row bundle.EventRecord, stored client.Record) []FieldChange {
	wanted := map[string]int{}
	for _, element := range row.Elements {
		wanted[element]++
	}
	had, allocated := map[string]int{}, map[int64]int{}
	for _, c := range stored.Records("commitments") {
		if request := c.ID("request_id"); request != 0 {
			allocated[request]++
			continue
		}
		had[v.element(c.ID("element_id"))]++
	}
	for _, r := range stored.Records("requests") {
		group := v.element(r.ID("element_id"))
		had[group] += int(r.ID("quantity"))
		if wanted[group] > 0 {
			wanted[group] = max(wanted[group], allocated[r.ID("id")])
		}
	}
	return changed(all, "elements", beyond(had, wanted), beyond(wanted, had))
}

// beyond lists, in their order, what one has more of than another.
func beyond(one, other map[string]int) string {
	var more []string
	for name, n := range one {
		for range n - other[name] {
			more = append(more, name)
		}
	}
	slices.Sort(more)
	return strings.Join(more, ";")
}

// decisions compares what the row says was decided with what is known of it.
func (v *values) decisions(all []FieldChange, row bundle.EventRecord, stored client.Record) []FieldChange {
	requests := map[int64]string{}
	known := map[[2]string]client.Record{} // by element and group
	for _, r := range stored.Records("requests") {
		group := v.element(r.ID("element_id"))
		requests[r.ID("id")] = group
		known[[2]string{group}] = client.Record{"status": "requested", "asked_by": r["asked_by"]}
	}
	for _, c := range stored.Records("commitments") {
		known[[2]string{v.element(c.ID("element_id")), requests[c.ID("request_id")]}] = c
	}
	for _, d := range row.Decisions {
		was := known[[2]string{d.Element, d.Request}]
		of := " of " + d.Element
		if d.AskedBy != "" { // else who is known stays
			all = changed(all, "asked_by"+of, v.user(was.ID("asked_by")), d.AskedBy)
		}
		if d.Status == "uncontrolled" {
			if d.Request == "" {
				continue // the row says no more
			}
			d.DecidedBy, d.DecidedAt = "", ""
		}
		all = changed(all, "status"+of, was.Text("status"), d.Status)
		all = changed(all, "reason"+of, was.Text("reason"), d.Reason)
		all = changed(all, "decided_by"+of, v.user(was.ID("decided_by")), d.DecidedBy)
		if at, err := wiretime.Parse(d.DecidedAt); err == nil { // else it is when the row is imported
			all = changed(all, "decided_at"+of, withoutZeros(was.Text("decided_at")), v.instant(at))
		}
	}
	return all
}

// The lists that rows refer to.
const (
	Elements   = "elements"
	Users      = "users"
	Categories = "eventcategories"
)

// Name is how rows refer to a record.
type Name struct {
	Key        string
	Reference  string // Type:key of an element
	Controlled bool
	School     bool // a current one
}

// ReadNames returns the names of elements, users and categories, by list and id. KeyOf is a record's key without a
// type. Requires the admin permission; an administrator of a school reads those of it.
func ReadNames(
	ctx context.Context, c *client.Client, keyOf func(client.Record) string,
) (map[string]map[int64]Name, error) {
	lists := map[string]map[int64]Name{}
	for _, list := range []string{Elements, Users, Categories} {
		lists[list] = map[int64]Name{}
		for r, err := range records(ctx, c, list, nil) {
			if err != nil {
				return nil, err
			}
			is := func(field string) bool { return r.Text(field) == "true" }
			key := keyOf(r)
			lists[list][r.ID("id")] = Name{Key: key, Reference: r.Text("entity_type") + ":" + key,
				Controlled: is("controlled"), School: is("school") && is("current")}
		}
	}
	return lists, nil
}

// Cell is a record's cell in a column of a bundle other than its key. A reference is an id, whose name named returns.
func Cell(c bundle.Column, r client.Record, named func(list string, id int64) (Name, error)) (string, error) {
	id := cmp.Or(r.ID(c.Name+"_id"), r.ID(c.Name))
	switch c.Check {
	case "element":
		name, err := named(Elements, id)
		return name.Reference, err
	case "key of":
		list := c.Of
		if bundle.Kind(list).EntityType() != "" {
			list = Elements
		}
		name, err := named(list, id)
		return name.Key, err
	case "time":
		return cellOfTime(r, c.Name), nil
	case bundle.Permission:
		return r.Inner("permissions").Text(c.Name), nil
	}
	return r.Text(c.Name), nil
}

// cellOfTime is a time of an event in a bundle: a day, or an instant without its milliseconds, which are zero.
func cellOfTime(r client.Record, field string) string {
	text := r.Text(field)
	if r.Text("all_day") == "true" {
		return text[:len("2026-09-07")]
	}
	return withoutZeros(text)
}
