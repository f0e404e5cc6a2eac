package load

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/cmd/belfryctl/bundle"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// values reads what Belfry has of the records that a dry run would change, but for elements, which Stored has. It reads
// no more than these, and what they refer to once.
type values struct {
	client *client.Client
	zone   wiretime.Zone

	elements, users, categories map[int64]string // by which rows refer to them; nil: not read yet
	events                      map[int64]string // those of the batch's notes
}

// list is where records are listed in the order of their ids, with all of their values.
type list struct{ path, part string }

// listOf is the list of a kind that is not administrators.
func listOf(kind bundle.Kind) list {
	switch kind {
	case bundle.Memberships:
		return list{"/api/admin/export/memberships", "memberships"}
	case bundle.Users:
		return list{"/api/admin/users", "users"}
	case bundle.EventCategories:
		return list{"/api/admin/eventcategories", "eventcategories"}
	case bundle.Events:
		return list{"/api/admin/export/events", "events"}
	case bundle.Notes:
		return list{"/api/admin/export/notes", "notes"}
	}
	return list{"/api/admin/elements", "elements"}
}

// maxWindow is the most records that a page of a list has.
const maxWindow = 1000

// find reads the records of a kind with these ids. One that has gone is left out.
func (v *values) find(ctx context.Context, kind bundle.Kind, ids []int64) (map[int64]client.Record, error) {
	found := make(map[int64]client.Record, len(ids))
	from := listOf(kind)
	slices.Sort(ids)
	for len(ids) > 0 {
		first := ids[0]
		n, _ := slices.BinarySearch(ids, first+maxWindow)
		query := url.Values{
			"from_id": {strconv.FormatInt(first, 10)}, "limit": {strconv.FormatInt(ids[n-1]-first+1, 10)},
		}
		page, next, err := v.client.Page(ctx, from.path, from.part, query, "")
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
	if err != nil {
		return nil, err
	}
	if kind == bundle.Notes {
		if err := v.readEvents(ctx, stored); err != nil {
			return nil, err
		}
	}
	return stored, v.readNames(ctx, kind)
}

// readNames reads by which names rows of a kind refer to elements, users and categories.
func (v *values) readNames(ctx context.Context, kind bundle.Kind) (err error) {
	read := func(names *map[int64]string, path, part string) {
		if *names != nil || err != nil {
			return
		}
		*names = map[int64]string{}
		for r, failed := range v.client.List(ctx, path, part, nil) {
			if failed != nil {
				*names, err = nil, failed
				return
			}
			(*names)[r.ID("id")] = nameOf(r)
		}
	}
	if slices.Contains([]bundle.Kind{bundle.Events, bundle.EventCategories, bundle.Memberships, bundle.Users}, kind) {
		read(&v.elements, "/api/admin/elements", "elements")
	}
	if kind == bundle.Events || kind == bundle.Notes {
		read(&v.users, "/api/admin/users", "users")
	}
	if kind == bundle.Events {
		read(&v.categories, "/api/admin/eventcategories", "eventcategories")
	}
	return err
}

// readEvents reads the names of the events of notes.
func (v *values) readEvents(ctx context.Context, notes map[int64]client.Record) error {
	ids := map[int64]bool{}
	for _, n := range notes {
		ids[n.ID("event_id")] = true
	}
	wanted := make([]int64, 0, len(ids))
	for id := range ids {
		wanted = append(wanted, id)
	}
	events, err := v.find(ctx, bundle.Events, wanted)
	v.events = map[int64]string{}
	for id, r := range events {
		v.events[id] = nameOf(r)
	}
	return err
}

// nameOf is how rows refer to a record, its key; one that was made by hand has none, and is named by its name and id.
func nameOf(r client.Record) string {
	return cmp.Or(r.Text("key"), fmt.Sprintf("%s (%s)", cmp.Or(r.Text("name"), r.Text("body")), r.Text("id")))
}

// changes says what a row would change of its stored record, field by field. The uuid of a user is never among them.
func (v *values) changes(kind bundle.Kind, row any, fields, stored client.Record) []FieldChange {
	switch row := row.(type) {
	case bundle.UserRecord:
		return v.user(row, fields, stored)
	case bundle.EventCategoryRecord:
		was := func(column string) string {
			if column == "school" {
				return strings.TrimPrefix(v.elements[stored.ID("school_id")], bundle.Groups.EntityType()+":")
			}
			return stored.Text(column)
		}
		return compare(kind.Columns(), was, fields.Text, map[string]string{"pecking_order": "0"})
	case bundle.MembershipRecord:
		return changed(nil, "spans", spansOf(stored.Records("spans")), spansOf(fields.Records("spans")))
	case bundle.MembershipChanges:
		return membershipChanges(fields, stored)
	case bundle.EventRecord:
		return v.event(row, fields, stored)
	case bundle.NoteRecord:
		was := func(column string) string {
			switch column {
			case "event":
				return v.events[stored.ID("event_id")]
			case "owner":
				return v.users[stored.ID("owner_id")]
			}
			return stored.Text(column)
		}
		return compare(kind.Columns(), was, fields.Text, map[string]string{"visible_staff": "true"})
	}
	return nil
}

// changed adds a change to others, if it is one.
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

// compare compares columns. An empty cell of the row means what is in defaults, or false where the record has a
// boolean.
func compare(columns []string, was, is func(column string) string, defaults map[string]string) (all []FieldChange) {
	for _, column := range columns {
		if column == "key" {
			continue
		}
		before, after := was(column), cmp.Or(is(column), defaults[column])
		if after == "" && (before == "true" || before == "false") {
			after = "false"
		}
		if before == "" && after == "false" {
			continue
		}
		all = changed(all, column, before, after)
	}
	return all
}

// user compares a user, but for its uuid, of which Belfry has no more than a hash and which is a password.
func (v *values) user(row bundle.UserRecord, fields, stored client.Record) []FieldChange {
	permissions := stored.Inner("permissions")
	was := func(column string) string {
		if _, is := permissions[column]; is {
			return permissions.Text(column)
		}
		if column == "element" {
			return v.elements[stored.ID("element_id")]
		}
		return stored.Text(column)
	}
	columns := slices.DeleteFunc(bundle.Users.Columns(), func(column string) bool {
		return column == "uuid" || column == "admin_of"
	})
	// Who was locked out stays so where the row does not say whether it is active.
	all := compare(columns, was, fields.Text, map[string]string{"kind": "staff", "active": stored.Text("active")})
	if row.AdminOf == nil {
		return all
	}
	var administered []string
	for _, id := range stored.IDs("admin_of") {
		administered = append(administered, strings.TrimPrefix(v.elements[id], bundle.Groups.EntityType()+":"))
	}
	return changed(all, "admin_of", sorted(administered), sorted(*row.AdminOf))
}

// sorted lists keys in their order.
func sorted(keys []string) string { return strings.Join(slices.Sorted(slices.Values(keys)), ";") }

// spansOf are the days of a membership as text, those that overlap or adjoin as one.
func spansOf(spans []client.Record) string {
	runs := make([]wiretime.Days, len(spans))
	for i, s := range spans {
		runs[i] = wiretime.Days{First: dayOr(s.Text("first_day"), wiretime.FirstDay),
			Last: dayOr(s.Text("last_day"), wiretime.LastDay)}
	}
	texts := make([]string, 0, len(runs))
	for _, days := range wiretime.MergeDays(runs) {
		texts = append(texts, daysText(days))
	}
	return strings.Join(texts, ", ")
}

// dayOr is a day of a row that was checked, or of an answer.
func dayOr(text string, open wiretime.Day) wiretime.Day {
	if day, err := wiretime.ParseDay(text); err == nil {
		return day
	}
	return open
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

// event compares an event: its fields, which elements go and come, and what was decided of those of which the row says
// so.
func (v *values) event(row bundle.EventRecord, fields, stored client.Record) (all []FieldChange) {
	apart := []string{"key", "category", "starts_at", "ends_at", "all_day", "organiser", "owner", "elements"}
	for _, column := range bundle.Events.Columns() {
		if !slices.Contains(apart, column) {
			all = changed(all, column, stored.Text(column), fields.Text(column))
		}
	}
	all = changed(all, "category", v.categories[stored.ID("category_id")], row.Category)
	all = v.times(all, row, stored)
	organiser := strings.TrimPrefix(v.elements[stored.ID("organiser_id")], bundle.Staff.EntityType()+":")
	all = changed(all, "organiser", organiser, row.Organiser)
	all = changed(all, "owner", v.users[stored.ID("owner_id")], row.Owner)
	all = v.elementsOf(all, row, stored)
	return v.decisions(all, row, stored)
}

// times compares when an event is.
func (v *values) times(all []FieldChange, row bundle.EventRecord, stored client.Record) []FieldChange {
	span, _ := v.zone.NewSpan(wiretime.SpanFields{AllDay: row.AllDay, StartsAt: &row.StartsAt, EndsAt: &row.EndsAt})
	shown := func(at time.Time, allDay bool) string {
		if allDay {
			return v.zone.DayOf(at).String()
		}
		return v.instant(at)
	}
	allDay := stored.Text("all_day") == "true"
	all = changed(all, "starts_at", shown(timeOf(stored, "starts_at"), allDay), shown(span.Starts, span.AllDay))
	all = changed(all, "ends_at", shown(timeOf(stored, "ends_at"), allDay), shown(span.Ends, span.AllDay))
	return changed(all, "all_day", fmt.Sprint(allDay), fmt.Sprint(span.AllDay))
}

// instant is a time as text, without milliseconds.
func (v *values) instant(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return strings.Replace(v.zone.Format(at), ".000", "", 1)
}

// timeOf is a time of an answer, zero where it has none.
func timeOf(r client.Record, field string) time.Time {
	at, err := wiretime.Parse(r.Text(field))
	if err != nil {
		return time.Time{}
	}
	return at
}

// elementsOf says which elements go and which come. A resource group counts as often as it is requested, and keeps what
// is allocated as long as it is named at all.
func (v *values) elementsOf(all []FieldChange, row bundle.EventRecord, stored client.Record) []FieldChange {
	wanted, given := map[string]int{}, map[string]bool{}
	for _, element := range row.Elements {
		wanted[element]++
		given[element] = true
	}
	had, allocated := map[string]int{}, map[int64]int{}
	for _, c := range stored.Records("commitments") {
		if request := c.ID("request_id"); request != 0 {
			allocated[request]++
			continue
		}
		had[v.elements[c.ID("element_id")]]++
	}
	for _, r := range stored.Records("requests") {
		group, quantity := v.elements[r.ID("element_id")], r.ID("quantity")
		had[group] += int(quantity)
		if given[group] {
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
		group := v.elements[r.ID("element_id")]
		requests[r.ID("id")] = group
		known[[2]string{group}] = client.Record{"status": "requested", "asked_by": r["asked_by"]}
	}
	for _, c := range stored.Records("commitments") {
		known[[2]string{v.elements[c.ID("element_id")], requests[c.ID("request_id")]}] = c
	}
	for _, d := range row.Decisions {
		was := known[[2]string{d.Element, d.Request}]
		of := " of " + d.Element
		if d.AskedBy != "" { // else who is known stays
			all = changed(all, "asked_by"+of, v.users[was.ID("asked_by")], d.AskedBy)
		}
		if d.Status == "uncontrolled" {
			if d.Request == "" {
				continue // the row says no more
			}
			d.DecidedBy, d.DecidedAt = "", ""
		}
		all = changed(all, "status"+of, was.Text("status"), d.Status)
		all = changed(all, "reason"+of, was.Text("reason"), d.Reason)
		all = changed(all, "decided_by"+of, v.users[was.ID("decided_by")], d.DecidedBy)
		if at, err := wiretime.Parse(d.DecidedAt); err == nil { // else it is when the row is imported
			all = changed(all, "decided_at"+of, v.instant(timeOf(was, "decided_at")), v.instant(at))
		}
	}
	return all
}
