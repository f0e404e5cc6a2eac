// Package store keeps the notes in MongoDB: the collections notes and notes_deleted_events.
package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/ifmatch"
	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// schema is the shape of the documents written by this release.
const schema = 1

// counter names the ids of notes.
const counter = "notes"

// indexes of the collection notes: the first serves the notes of an event in order of id, the second the keys of the import,
// the third lets an idempotency key make one note, the fourth serves the sweep of these keys, and the last two the system's notes: an event has one on a topic, and they are
// found by the day that they were written for.
var indexes = []mongostore.Index{
	{Name: "event_id_1__id_1", Keys: bson.D{{Key: "event_id", Value: 1}, {Key: "_id", Value: 1}}},
	{Name: "key_1", Keys: bson.D{{Key: "key", Value: 1}}, Unique: true, Where: exists("key")},
	{Name: keyIndex, Keys: bson.D{{Key: "ticket.key", Value: 1}}, Unique: true, Where: exists("ticket.key")},
	{Name: "ticket.at_1", Keys: bson.D{{Key: "ticket.at", Value: 1}}, Where: exists("ticket.at")},
	auditlog.Index(),
	{Name: "system.topic_1__event_id_1", Keys: bson.D{{Key: "system.topic", Value: 1}, {Key: "event_id", Value: 1}}, Unique: true, Where: exists("system.topic")},
	{Name: "system.topic_1__system.day_1", Keys: bson.D{{Key: "system.topic", Value: 1}, {Key: "system.day", Value: 1}}, Where: exists("system.topic")},
}

func exists(field string) bson.D {
	return bson.D{{Key: field, Value: bson.D{{Key: "$exists", Value: true}}}}
}

// markIndexes of the collection notes_deleted_events serve the sweep.
var markIndexes = []mongostore.Index{
	{Name: "at_1", Keys: bson.D{{Key: "at", Value: 1}}},
}

// document is a note as it is stored.
type document struct {
	mongostore.Head `bson:",inline"`

	Key          string `bson:"key,omitempty"`
	ImportHash   string `bson:"import_hash,omitempty"`
	EventID      int64  `bson:"event_id"`
	OwnerID      *int64 `bson:"owner_id"` // null: the system's
	Contents     string `bson:"contents"`
	VisibleGuest bool   `bson:"visible_guest"`
	VisibleStaff bool   `bson:"visible_staff"`
	VisiblePupil bool   `bson:"visible_pupil"`
	HTML         string `bson:"html"`
	Markup       int    `bson:"markup"`

	IdempotencyKey *keyDocument    `bson:"ticket,omitempty"`
	System         *systemDocument `bson:"system,omitempty"`

	journal.Tail `bson:",inline"`
}

// Notes keeps notes. It is safe for concurrent use.
type Notes struct {
	notes *journal.Collection[document, note.Note]
	marks *mongo.Collection // of deleted events; not records, and not audited
	ids   *mongostore.IDs
	audit *auditlog.Log
}

var _ note.Store = (*Notes)(nil)

// New returns the notes of a database.
func New(db *mongo.Database, ids *mongostore.IDs) *Notes {
	notes := collection(db)
	return &Notes{
		notes: journal.New(journal.Options[document, note.Note]{
			Collection: notes, Record: (*document).note, Set: (*document).set, Entry: entry,
		}),
		marks: db.Collection("notes_deleted_events"), ids: ids, audit: auditlog.New(db, "notes", notes),
	}
}

func collection(db *mongo.Database) *mongo.Collection { return db.Collection("notes") }

// Audit is the notes' part of the audit.
func (s *Notes) Audit() *auditlog.Log { return s.audit }

// Prepare makes the indexes. Any number of replicas may call it at once.
func (s *Notes) Prepare(ctx context.Context) error {
	if err := mongostore.EnsureIndexes(ctx, collection(s.marks.Database()), indexes); err != nil {
		return err
	}
	return errors.Join(mongostore.EnsureIndexes(ctx, s.marks, markIndexes), s.audit.Prepare(ctx))
}

// Load implements note.Store.
func (s *Notes) Load(ctx context.Context, id int64) (note.Note, error) {
	n, err := s.notes.Get(ctx, id)
	return n, record.Missing(err, note.Record, id)
}

// OfEvent implements note.Store.
func (s *Notes) OfEvent(ctx context.Context, eventID int64) ([]note.Note, error) {
	return s.find(ctx, ofEvent(eventID), options.Find().SetSort(byID))
}

var byID = bson.D{{Key: "_id", Value: 1}}

func ofEvent(id int64) bson.D { return bson.D{{Key: "event_id", Value: id}} }

// Insert implements note.Store.
func (s *Notes) Insert(ctx context.Context, n note.Note) (note.Note, error) {
	id, err := s.ids.Next(ctx, counter)
	if err != nil {
		return note.Note{}, err
	}
	n.ID = id
	stored, err := s.notes.InsertOne(ctx, n)
	if mongostore.IsDuplicateKey(err) && strings.Contains(err.Error(), keyIndex) {
		err = idempotency.InProgress()
	}
	return stored, err
}

// Update implements note.Store.
func (s *Notes) Update(ctx context.Context, id int64, change func(*note.Note) error) (note.Note, error) {
	n, err := s.notes.Change(ctx, id, change)
	return n, record.Missing(err, note.Record, id)
}

// Delete implements note.Store.
func (s *Notes) Delete(ctx context.Context, id, ownerID int64, match ifmatch.Match) error {
	return s.delete(ctx, id, func(n *note.Note) error {
		if ownerID == 0 || n.OwnerID != ownerID { // nobody owns the system's notes
			return record.ErrNotFound
		}
		return match.Check(n.Version)
	})
}

func (s *Notes) delete(ctx context.Context, id int64, may func(*note.Note) error) error {
	return record.Missing(s.notes.Delete(ctx, id, may), note.Record, id)
}

func (s *Notes) find(ctx context.Context, filter bson.D, o *options.FindOptionsBuilder) ([]note.Note, error) {
	return s.notes.Find(ctx, filter, o)
}

func (d *document) note() note.Note {
	n := note.Note{
		ID: d.ID, Version: d.Version, EventID: d.EventID, Contents: d.Contents,
		Visible: note.Visibility{Guest: d.VisibleGuest, Staff: d.VisibleStaff, Pupil: d.VisiblePupil},
		HTML:    d.HTML, Markup: d.Markup, Key: d.Key, ImportHash: d.ImportHash,
	}
	if d.OwnerID != nil {
		n.OwnerID = *d.OwnerID
	}
	if d.IdempotencyKey != nil {
		n.IdempotencyKey = idempotency.Key{ID: d.IdempotencyKey.Key, Body: d.IdempotencyKey.Body}
	}
	if d.System != nil {
		n.Topic, n.Day = d.System.Topic, d.System.Day
	}
	return n
}

// set makes the document say n. The key of the request that made the note stays as it is stored.
func (d *document) set(n note.Note) {
	key := d.IdempotencyKey
	if key == nil && n.IdempotencyKey.Given() {
		key = &keyDocument{Key: n.IdempotencyKey.ID, Body: n.IdempotencyKey.Body, At: time.Now().UTC()}
	}
	*d = document{
		Head: mongostore.Head{ID: n.ID, Schema: schema}, Key: n.Key, ImportHash: n.ImportHash, EventID: n.EventID, Contents: n.Contents,
		VisibleGuest: n.Visible.Guest, VisibleStaff: n.Visible.Staff, VisiblePupil: n.Visible.Pupil, HTML: n.HTML, Markup: n.Markup,
		IdempotencyKey: key,
	}
	if n.OwnerID != 0 {
		d.OwnerID = &n.OwnerID
	}
	if n.Topic != "" {
		d.System = &systemDocument{n.Topic, n.Day}
	}
}
