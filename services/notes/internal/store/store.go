// Package store keeps the notes in MongoDB: the collections notes, notes_totals and notes_leases.
package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/semaphore"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/journal/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/journal/change/changelog"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// schema is the shape of the documents written by this release.
const schema = 1

// service is the name of this one.
const service = "notes"

// counter names the ids of notes.
const counter = "notes"

// indexes of the collection notes.
var indexes = []mongostore.Index{
	// the notes of an event by id
	{Name: "event_id_1__id_1", Keys: mongostore.By("event_id", "_id")},
	// imported notes by key
	{Name: "key_1", Keys: mongostore.By("key"), Unique: true, Where: mongostore.Exists("key")},
	// one note for an idempotency key, and the sweep of old ones
	{Name: keyIndex, Keys: mongostore.By("ticket.key"), Unique: true, Where: mongostore.Exists("ticket.key")},
	{Name: "ticket.at_1", Keys: mongostore.By("ticket.at"), Where: mongostore.Exists("ticket.at")},
	auditlog.Index(),
	changelog.Index(),
	// one system note for an event on a topic, and system notes by their day
	{
		Name: "system.topic_1__event_id_1", Keys: mongostore.By("system.topic", "event_id"),
		Unique: true, Where: mongostore.Exists("system.topic"),
	},
	{
		Name:  "system.topic_1__system.day_1",
		Keys:  mongostore.By("system.topic", "system.day"),
		Where: mongostore.Exists("system.topic"),
	},
}

// Notes keeps notes. It is safe for concurrent use.
type Notes struct {
	*notes
	ids   *mongostore.IDs
	audit *auditlog.Log
	log   *changelog.Log // of changes

	totals *mongo.Collection        // what the notes of each event take; not audited
	queues *mongostore.WriterQueues // of those that reserve room, by event
	counts *semaphore.Weighted      // bounds the counts of events' notes that run at once

	releaseTime time.Duration // bounds the end of a reservation
}

// notes gets, changes and deletes notes as note.Store says.
type notes = journal.Collection[document, note.Note]

var _ note.Store = (*Notes)(nil)

// New returns the notes of a database. Keep is how long changes are kept.
func New(db *mongo.Database, ids *mongostore.IDs, keep time.Duration) *Notes {
	notes := collection(db)
	log := auditlog.New(db, service, notes)
	return &Notes{
		notes: journal.New(journal.Options[document, note.Note]{
			Collection: notes, Record: (*document).note, Set: (*document).set, Entry: entry,
			Follow: follow, Batches: changelog.NewBatches(db, service),
			Unique: func(n note.Note) string { return n.Key },
		}),
		ids: ids, audit: log,
		log: changelog.New(changelog.Options{
			DB: db, Service: service, Sources: []*mongo.Collection{notes}, Keep: keep, Entries: log.Record,
		}),
		totals: db.Collection("notes_totals"), queues: mongostore.NewWriterQueues(),
		counts:      semaphore.NewWeighted(countsAtOnce),
		releaseTime: releaseTime,
	}
}

func collection(db *mongo.Database) *mongo.Collection { return db.Collection("notes") }

// Audit is the notes' part of the audit.
func (s *Notes) Audit() *auditlog.Log { return s.audit }

// Changes is the log of changes of notes.
func (s *Notes) Changes() *changelog.Log { return s.log }

// Prepare makes the indexes. Any number of replicas may call it at once.
func (s *Notes) Prepare(ctx context.Context) error {
	return errors.Join(
		mongostore.EnsureIndexes(ctx, collection(s.totals.Database()), indexes), s.audit.Prepare(ctx),
		s.log.Prepare(ctx),
	)
}

// asWritten is the order in which notes were written: ids are taken in blocks, so those of two replicas interleave.
// Notes that do not say when are older than all that do.
var asWritten = mongostore.By("written", "_id")

func ofEvent(id int64) bson.D { return bson.D{{Key: "event_id", Value: id}} }

func withKeys(keys []string) bson.D { return mongostore.WhereExists("key", "$in", keys) }

// FindByKeys implements note.Store.
func (s *Notes) FindByKeys(ctx context.Context, keys []string) ([]note.Note, error) {
	return s.notes.Find(ctx, withKeys(keys),
		options.Find().SetProjection(bson.D{{Key: "key", Value: 1}, {Key: "import_hash", Value: 1}}))
}

// List implements note.Store.
func (s *Notes) List(ctx context.Context, eventID int64) ([]note.Note, error) {
	return s.notes.Find(ctx, ofEvent(eventID), options.Find().SetSort(asWritten))
}

// FindRead implements note.Store. What the store answers depends on the events, not on how many notes they have.
func (s *Notes) FindRead(ctx context.Context, eventIDs []int64, v fact.Viewer) ([]int64, error) {
	filter := ofEvents(eventIDs)
	if !v.Admin {
		filter = append(filter, readBy(v))
	}
	var ids []int64
	if err := s.notes.Reader().Distinct(ctx, "event_id", filter).Decode(&ids); err != nil {
		return nil, fmt.Errorf("find events with notes: %w", err)
	}
	slices.Sort(ids)
	return ids, nil
}

// readBy is change.Audience.Has for a viewer who is no admin.
func readBy(v fact.Viewer) bson.E {
	is := bson.A{bson.D{{Key: "visible_" + string(v.Kind), Value: true}}}
	if v.UserID != 0 {
		is = append(is, bson.D{{Key: "owner_id", Value: v.UserID}})
	}
	return bson.E{Key: "$or", Value: is}
}

// mostRead bounds the notes of a page, in bytes as they are stored, without their HTML.
const mostRead = 16 << 20

// ListAll implements note.Store, by the index of ids.
func (s *Notes) ListAll(ctx context.Context, after int64, limit int) (found []note.Note, more bool, err error) {
	o := options.Find().SetSort(mongostore.By("_id")).SetLimit(int64(limit)).
		SetProjection(bson.D{{Key: "html", Value: 0}, {Key: "audit", Value: 0}})
	filter := bson.D{
		{Key: "_id", Value: bson.D{{Key: "$gt", Value: after}}},
		{Key: "deleted", Value: bson.D{{Key: "$ne", Value: true}}},
	}
	return s.notes.FindUpTo(ctx, mostRead, filter, o)
}

// Insert implements note.Store.
func (s *Notes) Insert(ctx context.Context, n note.Note) (note.Note, error) {
	id, err := s.ids.Next(ctx, counter)
	if err != nil {
		return note.Note{}, err
	}
	n.ID = id
	stored, err := s.notes.InsertOne(ctx, n)
	if mongostore.DuplicateIndex(err) == keyIndex {
		err = idempotency.InProgress()
	}
	return stored, err
}

// InsertAll implements note.Store.
func (s *Notes) InsertAll(ctx context.Context, notes []note.Note) (map[int]bool, error) {
	first, err := s.ids.Take(ctx, counter, len(notes))
	if err != nil {
		return nil, err
	}
	for i := range notes {
		notes[i].ID = first + int64(i)
	}
	refused, err := s.notes.Insert(ctx, notes)
	taken := map[int]bool{}
	for _, r := range refused {
		taken[r.Index] = true
	}
	return taken, err
}
