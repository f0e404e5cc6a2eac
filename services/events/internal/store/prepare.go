package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/journal/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/journal/change/changelog"
	"github.com/belfry-schools/belfry/pkg/journal/outbox"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/absence"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// importKey is the name of the indexes that keep import keys unique.
const importKey = "import_key"

// rewriters is how many events are rewritten at a time.
const rewriters = 8

func eventIndexes() []mongostore.Index {
	return []mongostore.Index{
		unique(importKey, "key"),
		unique(idempotencyIndex, "receipts.key"),
		unique(commitmentIndex, "commitments.id"),
		unique(requestIndex, "requests.id"),
		partial("receipt_at", "receipts.at"),
		{Name: "commitment_periods", Keys: mongostore.By("commitment_periods")},
		partial("requests", "request_periods"),
		waitingIndex("commitment_states"),
		waitingIndex("outstanding_groups"),
		{Name: "series", Keys: mongostore.By("series_id", "series_place"), Where: mongostore.Exists("series_id")},
		// The start serves searches for parts of a month.
		{Name: "search_keys", Keys: mongostore.By("search_keys", "starts")},
		outbox.Index(),
		auditlog.Index(),
		changelog.Index(),
	}
}

// partial is an index of the documents that have a field.
func partial(name, field string) mongostore.Index {
	return mongostore.Index{Name: name, Keys: mongostore.By(field), Where: mongostore.Exists(field)}
}

// unique is partial, for a field of which no two documents have the same value.
func unique(name, field string) mongostore.Index {
	index := partial(name, field)
	index.Unique = true
	return index
}

// Prepare makes the indexes, and brings the events to the configured zone. Any number of pods may call it at once.
func Prepare(ctx context.Context, db *mongo.Database, zone wiretime.Zone) error {
	err := ensure(ctx, map[*mongo.Collection][]mongostore.Index{
		EventsCollection(db): eventIndexes(),
		categoriesCollection(db): {
			unique(importKey, "key"),
			{Name: "name_school", Keys: mongostore.By("name", "school_id"), Unique: true},
			auditlog.Index(),
		},
		seriesCollection(db): {unique("key", "key"), partial("key_at", "key_at"), partial("unmade", "unmade")},
	})
	if err != nil {
		return err
	}
	if err := Audit(db).Prepare(ctx); err != nil {
		return err
	}
	if err := Changes(db, 0).Prepare(ctx); err != nil {
		return err
	}
	return prepareZone(ctx, db, zone)
}

// ensure makes the indexes of collections.
func ensure(ctx context.Context, all map[*mongo.Collection][]mongostore.Index) error {
	for collection, indexes := range all {
		if err := mongostore.EnsureIndexes(ctx, collection, indexes); err != nil {
			return err
		}
	}
	return nil
}

const zoneID, zoneField = "zone", "name"

// prepareZone gives every event the periods of the zone when they were made for another. One pod works, under a lease,
// the others wait for it. An all-day event keeps its days: it moves to their midnights in the new zone. Each event is
// changed by itself, so a deployment that changes its zone has to wait. All replicas must change at once, since old
// ones write periods of the old zone.
func prepareZone(ctx context.Context, db *mongo.Database, zone wiretime.Zone) error {
	settings := settingsCollection(db)
	made, err := setting[string](ctx, settings, zoneID, zoneField)
	if err != nil || made == zone.String() {
		return err
	}
	return mongostore.WithLease(ctx, settings, "zone-lease", func(ctx context.Context) error {
		made, err := setting[string](ctx, settings, zoneID, zoneField) // another pod may have been at work meanwhile
		if err != nil || made == zone.String() {
			return err
		}
		if made != "" {
			if err := NewEvents(db, nil, zone, nil).rekey(ctx, made); err != nil {
				return err
			}
		}
		return set(ctx, settings, zoneID, zoneField, zone.String())
	})
}

// rekey rewrites all events. After an interruption, the next start begins again.
func (s *Events) rekey(ctx context.Context, made string) error {
	old, err := wiretime.LoadZone(made)
	if err != nil {
		return fmt.Errorf("the zone that events were stored for: %w", err)
	}
	cursor, err := s.events.Reader().Find(ctx, bson.D{}, options.Find().SetProjection(bson.D{{Key: "_id", Value: 1}}))
	if err != nil {
		return fmt.Errorf("list events: %w", err)
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(rewriters)
	for cursor.Next(gctx) {
		var d struct {
			ID int64 `bson:"_id"`
		}
		if err := cursor.Decode(&d); err != nil {
			return errors.Join(fmt.Errorf("list events: %w", err), g.Wait())
		}
		g.Go(func() error { return s.rekeyEvent(gctx, d.ID, old) })
	}
	return errors.Join(g.Wait(), cursor.Err(), cursor.Close(ctx))
}

func (s *Events) rekeyEvent(ctx context.Context, id int64, old wiretime.Zone) error {
	err := s.events.Rewrite(ctx, id, func(d *eventDocument) error {
		if d.Deleted {
			return record.ErrUnchanged
		}
		e := d.event()
		if e.Span.AllDay && midnights(old, e.Span) {
			e.Span.Starts, e.Span.Ends = s.zone.Bounds(old.Days(e.Span.Starts, e.Span.Ends))
		}
		d.set(e, s.zone, s.titles)
		return nil
	})
	if errors.Is(err, record.ErrNotFound) { // deleted since it was listed
		return nil
	}
	return err
}

// midnights says whether an all-day span still lies at the midnights of a zone; if not, an interrupted run has moved
// it.
func midnights(zone wiretime.Zone, s wiretime.Span) bool {
	return s.Starts.Equal(zone.Midnight(zone.DayOf(s.Starts))) && s.Ends.Equal(zone.Midnight(zone.DayOf(s.Ends)))
}

// The names of the indexes that keep the ids of commitments and of requests unique over all events. Such an index
// allows the same id twice within one document, so checkIDs checks that.
const (
	commitmentIndex = "unique_commitment_id"
	requestIndex    = "unique_request_id"
)

func commitmentFilter(id int64) bson.D { return mongostore.WhereExists("commitments.id", "$eq", id) }

func requestFilter(id int64) bson.D { return mongostore.WhereExists("requests.id", "$eq", id) }

// checkIDs returns an error when two commitments or two requests of an event have the same id.
func checkIDs(ctx context.Context, e *event.Event) error {
	if record.IsDryRun(ctx) { // what is new has none
		return nil
	}
	commitments := sequence.By(e.Commitments, func(c event.Commitment) int64 { return c.ID })
	requests := sequence.By(e.Requests, func(r event.Request) int64 { return r.ID })
	if len(commitments) < len(e.Commitments) || len(requests) < len(e.Requests) {
		return fmt.Errorf("event %d has a commitment or a request twice", e.ID)
	}
	return nil
}

// settingsCollection has one document, with one field, for each value that all replicas share.
func settingsCollection(db *mongo.Database) *mongo.Collection { return db.Collection("event_settings") }

// setting returns the field of a setting, the zero value when it was never set.
func setting[T any](ctx context.Context, settings *mongo.Collection, id, field string) (value T, err error) {
	found, err := settings.FindOne(ctx, bson.D{{Key: "_id", Value: id}}).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return value, nil
	}
	if err == nil {
		err = found.Lookup(field).Unmarshal(&value)
	}
	return value, failed(err, "read the setting "+id)
}

// set sets the field of a setting.
func set(ctx context.Context, settings *mongo.Collection, id, field string, value any) error {
	change := bson.D{{Key: "$set", Value: bson.D{{Key: field, Value: value}}}}
	_, err := settings.UpdateOne(ctx, bson.D{{Key: "_id", Value: id}}, change, options.UpdateOne().SetUpsert(true))
	return failed(err, "change the setting "+id)
}

// failed wraps an error with what was being done; nil stays nil.
func failed(err error, doing string) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// Nights remembers the nightly check of absences in the collection event_settings. It implements absence.Nights.
type Nights struct{ settings *mongo.Collection }

var _ absence.Nights = Nights{}

// NewNights returns the store.
func NewNights(db *mongo.Database) Nights { return Nights{settingsCollection(db)} }

const nightID, nightField = "absences", "done"

// Done implements absence.Nights.
func (n Nights) Done(ctx context.Context) (time.Time, error) {
	return setting[time.Time](ctx, n.settings, nightID, nightField)
}

// SetDone implements absence.Nights.
func (n Nights) SetDone(ctx context.Context, at time.Time) error {
	return set(ctx, n.settings, nightID, nightField, at)
}

// Lead implements absence.Nights.
func (n Nights) Lead(ctx context.Context, work func(context.Context) error) error {
	return mongostore.WithLease(ctx, n.settings, "absences-lease", work)
}
