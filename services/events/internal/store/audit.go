package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/journal/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/journal/change/changelog"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/notice"
)

// service is the name of this one.
const service = "events"

// maxRelated bounds the commitments and requests by which one entry is found; larger changes are found by the event.
const maxRelated = 100

// Audit is events' part of the audit.
func Audit(db *mongo.Database) *auditlog.Log {
	return auditlog.New(db, service, EventsCollection(db), categoriesCollection(db), webhooksCollection(db))
}

// Changes is the log of changes of events.
func Changes(db *mongo.Database, keep time.Duration) *changelog.Log {
	return changelog.New(changelog.Options{
		DB: db, Service: service, Sources: []*mongo.Collection{EventsCollection(db)}, Keep: keep,
		Entries: Audit(db).Record,
	})
}

// eventEntry is the audit entry for a change of an event with its commitments and requests; none when nothing differs.
// A side without an id means that the event is created or deleted. The entry is that of the commitment or request if
// only one changes, and is found by all that the change touches.
func eventEntry(ctx context.Context, before, after event.Event) []audit.Entry {
	d := differenceOf(before, after)
	changes := audit.Compare(eventValues(before), eventValues(after))
	if len(changes) == 0 {
		return nil
	}
	action, record := d.what(before, after, changes)
	related := append([]audit.Record{audit.RecordOf("Event", max(before.ID, after.ID))}, d.records...)
	related = related[:min(len(related), maxRelated)]
	besides := slices.DeleteFunc(related, func(r audit.Record) bool { return r == record })
	return audit.New(ctx, action, record, changes, besides...)
}

// FindDeleted implements event.Store, by the audit's entries for the deletions, which have all fields of the events.
// They are much larger than the result, and are read a part at a time.
func (s *Events) FindDeleted(ctx context.Context, ids []int64) ([]event.Event, error) {
	leave, err := s.wait(ctx, len(ids) > manyIDs)
	if err != nil {
		return nil, err
	}
	defer leave()
	var found []event.Event
	left := slices.Clone(ids)
	for size, more := 0, true; more; {
		whole := sequence.Map(left, func(id int64) audit.Record { return audit.RecordOf(event.Record, id) })
		var entries []audit.Entry
		if entries, more, err = s.audit.FindActions(ctx, audit.Delete, whole); err != nil {
			return nil, err
		}
		if more && len(entries) == 0 {
			return nil, errors.New("find deleted events: an entry exceeds what is read at once")
		}
		read := map[int64]bool{}
		for _, entry := range entries {
			e := deletedBy(entry)
			if size += commitmentSize * len(e.Commitments); size > mostRead {
				return nil, tooMany(true, nil)
			}
			found, read[e.ID] = append(found, e), true
		}
		left = slices.DeleteFunc(left, func(id int64) bool { return read[id] })
	}
	return found, nil
}

// deletedBy is the event that the audit entry of a deletion describes, with the fields that FindDeleted returns.
func deletedBy(entry audit.Entry) event.Event {
	id := strings.TrimPrefix(entry.Record, event.Record+":")
	e := event.Event{ID: idIn(&id)}
	for _, c := range entry.Changes {
		restore(&e, c)
	}
	return e
}

// restore gives an event what it had before the change that deleted it.
func restore(e *event.Event, c audit.Change) {
	part, field, _ := strings.Cut(c.Field, ".")
	switch {
	case c.Field == "event_category_id":
		e.CategoryID = idIn(c.From)
	case c.Field == "owner_id":
		e.OwnerID = idIn(c.From)
	case c.Field == "organiser_id":
		e.OrganiserID = idIn(c.From)
	case part == "commitments" && strings.HasSuffix(field, ".element_id"):
		e.Commitments = append(e.Commitments, event.Commitment{ElementID: idIn(c.From)})
	case part == "requests" && strings.HasSuffix(field, ".element_id"):
		e.Requests = append(e.Requests, event.Request{ElementID: idIn(c.From)})
	}
}

// idIn is the id that a change names, 0 where it names none.
func idIn(text *string) (id int64) {
	if text != nil {
		id, _ = strconv.ParseInt(*text, 10, 64)
	}
	return id
}

// difference has the commitments and requests that exist on one side only, and those that differ.
type difference struct {
	added, removed, moved  []event.Commitment // moved: of another status than before
	asked, dropped, resize []event.Request
	records                []audit.Record // of all of these
}

func differenceOf(before, after event.Event) difference {
	var d difference
	var commitments, requests []audit.Record
	d.added, d.removed, d.moved, commitments = compare(before.Commitments, after.Commitments,
		func(c event.Commitment) audit.Record { return audit.RecordOf("Commitment", c.ID) })
	d.asked, d.dropped, d.resize, requests = compare(before.Requests, after.Requests,
		func(r event.Request) audit.Record { return audit.RecordOf("Request", r.ID) })
	d.records = slices.Concat(commitments, requests)
	return d
}

// compare returns the items on one side only, those that differ, as they are after, and the records of all of these.
func compare[T comparable](
	before, after []T, recordOf func(T) audit.Record,
) (added, removed, changed []T, records []audit.Record) {
	was := sequence.By(before, recordOf)
	for _, a := range after {
		r := recordOf(a)
		b, existed := was[r]
		delete(was, r)
		switch {
		case !existed:
			added = append(added, a)
		case a != b:
			changed = append(changed, a)
		default:
			continue
		}
		records = append(records, r)
	}
	for _, b := range before {
		if _, gone := was[recordOf(b)]; gone {
			removed, records = append(removed, b), append(records, recordOf(b))
		}
	}
	return added, removed, changed, records
}

// what returns the action, and the record that it was done to.
func (d difference) what(before, after event.Event, changes []audit.Change) (audit.Action, audit.Record) {
	whole := audit.RecordOf("Event", max(before.ID, after.ID))
	switch {
	case before.ID == 0:
		return audit.Create, whole
	case after.ID == 0:
		return audit.Delete, whole
	case len(audit.Compare(basics(before), basics(after))) > 0:
		return audit.Update, whole
	}
	switch counts := [6]int{len(d.added), len(d.removed), len(d.moved), len(d.asked), len(d.dropped), len(d.resize)}; {
	case counts == [6]int{0, 0, 1, 0, 0, 0} && audit.Has(changes, commitmentField(d.moved[0].ID, "status")):
		return audit.Decide, audit.RecordOf("Commitment", d.moved[0].ID)
	case counts == [6]int{0, 1, 0, 0, 0, 0}:
		return audit.Delete, audit.RecordOf("Commitment", d.removed[0].ID)
	case counts == [6]int{0, len(d.removed), 0, 0, 1, 0}:
		return audit.Delete, audit.RecordOf("Request", d.dropped[0].ID)
	case counts == [6]int{0, 0, 0, 0, 0, 1}:
		return audit.Update, audit.RecordOf("Request", d.resize[0].ID)
	case counts == [6]int{len(d.added), 0, 0, 0, 0, 0} && d.added[0].RequestID != 0:
		return audit.Allocate, audit.RecordOf("Request", d.added[0].RequestID)
	}
	return audit.Update, whole
}

// basics are the fields of an event itself, in the order of the API.
func basics(e event.Event) []audit.Value {
	if e.ID == 0 {
		return nil
	}
	values := []audit.Value{audit.Text("key", e.Key)}
	for _, t := range e.Texts.All() {
		values = append(values, audit.Text(t.Name, *t.Value))
	}
	return append(
		values, audit.ID("event_category_id", e.CategoryID), audit.Time("starts_at", e.Span.Starts),
		audit.Time("ends_at", e.Span.Ends), audit.Bool("all_day", e.Span.AllDay), audit.ID("owner_id", e.OwnerID),
		audit.ID("organiser_id", e.OrganiserID), audit.ID("series_id", e.SeriesID),
	)
}

// eventValues are all fields of an event, those of its commitments and requests by their ids.
func eventValues(e event.Event) []audit.Value {
	values := basics(e)
	for _, c := range e.Commitments {
		values = append(
			values,
			audit.ID(commitmentField(c.ID, "element_id"), c.ElementID),
			audit.Text(commitmentField(c.ID, "status"), string(c.Status)),
			audit.ID(commitmentField(c.ID, "request_id"), c.RequestID),
			audit.Text(commitmentField(c.ID, "reason"), c.Reason),
		)
	}
	for _, r := range e.Requests {
		values = append(
			values,
			audit.ID(requestField(r.ID, "element_id"), r.ElementID),
			audit.Int(requestField(r.ID, "quantity"), int64(r.Quantity)),
		)
	}
	return values
}

func commitmentField(id int64, field string) string {
	return fmt.Sprintf("commitments.%d.%s", id, field)
}

func requestField(id int64, field string) string {
	return fmt.Sprintf("requests.%d.%s", id, field)
}

// categoryEntry is the audit entry for a change of a category. For an import it has only what decides who sees and uses
// the events that are in it already.
func categoryEntry(ctx context.Context, before, after category.Category) []audit.Entry {
	record, was, values := audit.RecordOf(category.Record, after.ID), categoryValues(before), categoryValues(after)
	if before.ID == 0 || !audit.InBatch(ctx) {
		return audit.Between(ctx, record, was, values)
	}
	changes := audit.Only(audit.Compare(was, values), "school_id", "schoolwide", "privileged", "confidential")
	if len(changes) == 0 {
		return nil
	}
	return []audit.Entry{audit.Make(ctx, audit.Update, record, changes)}
}

func categoryValues(c category.Category) []audit.Value {
	if c.ID == 0 {
		return nil
	}
	values := []audit.Value{
		audit.Text("key", c.Key),
		audit.Text("name", c.Name),
		audit.Int("pecking_order", int64(c.PeckingOrder)),
	}
	if c.School != 0 {
		values = append(values, audit.ID("school_id", c.School))
	}
	for _, flag := range category.FlagNames() {
		values = append(values, audit.Bool(flag, c.Flag(flag)))
	}
	return values
}

func webhookEntry(ctx context.Context, before, after notice.Webhook) []audit.Entry {
	record := audit.RecordOf(notice.WebhookRecord, max(before.ID, after.ID))
	return audit.Between(ctx, record, webhookValues(before), webhookValues(after))
}

// webhookValues are the values that the audit compares. For an endpoint's address, which may contain a key, and for the
// secret, only the fact of a change is recorded.
func webhookValues(w notice.Webhook) []audit.Value {
	if w.ID == 0 {
		return nil
	}
	kinds := sequence.Map(w.Kinds, func(k event.NoticeKind) string { return string(k) })
	values := []audit.Value{
		audit.Secret("url", w.URL),
		audit.Text("kinds", strings.Join(kinds, ",")),
		audit.Bool("active", w.Active),
		audit.Secret("secret", w.Secret.Reveal()),
	}
	if w.SchoolID != 0 {
		values = append(values, audit.ID("school_id", w.SchoolID))
	}
	return values
}
