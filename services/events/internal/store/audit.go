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
	changes := audit.Compare(eventValues(before), eventValues(after))
	if len(changes) == 0 {
		return nil
	}
	commitments := compare(before.Commitments, after.Commitments,
		func(c event.Commitment) audit.Record { return audit.RecordOf("Commitment", c.ID) })
	requests := compare(before.Requests, after.Requests,
		func(r event.Request) audit.Record { return audit.RecordOf("Request", r.ID) })
	action, record := what(before, after, changes, commitments, requests)
	whole := []audit.Record{audit.RecordOf("Event", max(before.ID, after.ID))}
	related := slices.Concat(whole, commitments.records, requests.records)
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
	return e
}

// idIn is the id that a change names, 0 where it names none.
func idIn(text *string) (id int64) {
	if text != nil {
		id, _ = strconv.ParseInt(*text, 10, 64)
	}
	return id
}

// difference has the commitments or the requests that exist on one side only, and those that differ, as they are after.
type difference[T any] struct {
	added, removed, changed []T
	records                 []audit.Record // of all of these
}

func compare[T comparable](before, after []T, recordOf func(T) audit.Record) (d difference[T]) {
	was := sequence.By(before, recordOf)
	for _, a := range after {
		r := recordOf(a)
		b, existed := was[r]
		delete(was, r)
		switch {
		case !existed:
			d.added = append(d.added, a)
		case a != b:
			d.changed = append(d.changed, a)
		default:
			continue
		}
		d.records = append(d.records, r)
	}
	for _, b := range before {
		if _, gone := was[recordOf(b)]; gone {
			d.removed, d.records = append(d.removed, b), append(d.records, recordOf(b))
		}
	}
	return d
}

// what returns the action, and the record that it was done to.
func what(
	before, after event.Event, changes []audit.Change, c difference[event.Commitment], r difference[event.Request],
) (audit.Action, audit.Record) {
	whole := audit.RecordOf("Event", max(before.ID, after.ID))
	switch {
	case before.ID == 0:
		return audit.Create, whole
	case after.ID == 0:
		return audit.Delete, whole
	case len(audit.Compare(basics(before), basics(after))) > 0:
		return audit.Update, whole
	}
	one := len(c.records)+len(r.records) == 1
	switch {
	case one && len(c.changed) == 1 && audit.Has(changes, commitmentField(c.changed[0].ID, "status")):
		return audit.Decide, c.records[0]
	case one && len(c.removed) == 1:
		return audit.Delete, c.records[0]
	case len(r.records) == 1 && len(r.removed) == 1 && len(c.records) == len(c.removed):
		return audit.Delete, r.records[0]
	case one && len(r.changed) == 1:
		return audit.Update, r.records[0]
	case len(r.records) == 0 && len(c.records) == len(c.added) && c.added[0].RequestID != 0:
		return audit.Allocate, audit.RecordOf("Request", c.added[0].RequestID)
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
