// Package audit records who did what, as which user, to which record, when and from where (administration: audit). It
// is plain data: an [Entry] is stored inside the document whose change it describes, in the same atomic write. Package
// auditlog moves it from there to the service's audit, which is append-only.
//
// Entries hold no secrets. For a uuid, and a note's contents, they only say that it changed.
package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// Actor is the user who acts in a request, and from where. The zero Actor is the system itself.
type Actor struct {
	User     int64  `bson:"user,omitempty" json:"user,omitempty"`         // the effective user
	Original int64  `bson:"original,omitempty" json:"original,omitempty"` // who switched to it; 0: none
	From     string `bson:"from,omitempty" json:"from,omitempty"`         // address of the client
	Request  string `bson:"request,omitempty" json:"request,omitempty"`   // id of the request, as in the logs
	// Token is the id of the token for programs that the request came with, and TokenName its name; 0: with none.
	Token     int64  `bson:"token,omitempty" json:"token,omitempty"`
	TokenName string `bson:"token_name,omitempty" json:"token_name,omitempty"`
}

type key int

const (
	actorKey key = iota
	batchKey
	erasureKey
)

// WithActor returns a context in which the actor acts.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey, a)
}

// ActorOf returns the actor of the context: the system when there is none.
func ActorOf(ctx context.Context) Actor {
	a, _ := ctx.Value(actorKey).(Actor)
	return a
}

// Action is what was done.
type Action string

// The actions. Some of users and elements have names of their own, which say more than update.
const (
	Create     Action = "create"
	Update     Action = "update"
	Delete     Action = "delete"
	Decide     Action = "decide"      // a commitment's status, by an administrator of the element
	Allocate   Action = "allocate"    // items to a request
	Retire     Action = "retire"      // an element is no longer current
	Deactivate Action = "deactivate"  // a user can't log in any more
	RenewUUID  Action = "renew_uuid"  // of a user
	MakeToken  Action = "make_token"  // for programs, of a user
	EndToken   Action = "end_token"   // of a user
	EndSession Action = "end_session" // all sessions of a user, by an administrator
	Login      Action = "login"
	Switch     Action = "switch" // to another user
	Revert     Action = "revert" // to oneself again
	Import     Action = "import" // a batch that writes begins
	Imported   Action = "imported"
	Check      Action = "check" // who is absent from the events of days
	Erase      Action = "erase" // a person, or what names it in another record
)

// Of returns the action of a change between two states of a record, given by their ids; 0: the record is not stored.
func Of(before, after int64) Action {
	switch {
	case before == 0:
		return Create
	case after == 0:
		return Delete
	}
	return Update
}

// Batches is the type of record of the entries for imports, one for each batch.
const Batches = "Import"

// Record names a record by its type and id.
type Record struct {
	// Type is Event, Commitment, Request, Note, Element, Membership, Feed, User, EventCategory, Webhook, Import or
	// Absences.
	Type string
	ID   string // digits; of an import, text; of absences, the first day
}

// RecordOf names a record with an id.
func RecordOf(recordType string, id int64) Record {
	return Record{recordType, strconv.FormatInt(id, 10)}
}

// String is Event:12.
func (r Record) String() string { return r.Type + ":" + r.ID }

// Entry is one line of the audit.
type Entry struct {
	ID     string    `bson:"id"` // a version 7 UUID: unique, and in the order of time
	At     time.Time `bson:"at"` // UTC, to the millisecond
	Action Action    `bson:"action"`
	Record string    `bson:"record"` // Event:12
	// About lists by which records the entry is found: the record, its type, the records that are part of it and
	// those that it is part of.
	About   []string `bson:"about"`
	Actor   `bson:",inline"`
	Changes []Change `bson:"changes,omitempty"`
}

// Change is the change of one field. Nil: the field had, or has, no value, or is not shown.
type Change struct {
	Field string  `bson:"field" json:"field"`
	From  *string `bson:"from,omitempty" json:"from"`
	To    *string `bson:"to,omitempty" json:"to"`
}

// New returns the entry for an action of the context's actor, to be stored in the record's document. The entry is found
// by the records besides, too. It returns none within an import, whose batch has an entry as a whole; changes of rights
// have one even then, by Make.
func New(ctx context.Context, action Action, record Record, changes []Change, besides ...Record) []Entry {
	if InBatch(ctx) {
		return nil
	}
	return []Entry{Make(ctx, action, record, changes, besides...)}
}

// Make is New, but within an import it returns an entry as well.
func Make(ctx context.Context, action Action, record Record, changes []Change, besides ...Record) Entry {
	about := []string{record.String(), record.Type}
	for _, r := range besides {
		if !slices.Contains(about, r.String()) {
			about = append(about, r.String())
		}
	}
	if Erasing(ctx) {
		action, changes = Erase, withoutValues(changes)
	}
	return Entry{
		ID: uuid.Must(uuid.NewV7()).String(), // fails only where there is no randomness
		At: time.Now().UTC().Truncate(time.Millisecond), Action: action, Record: record.String(), About: about,
		Actor: ActorOf(ctx), Changes: changes,
	}
}

// WithErasure returns a context in which a person is erased: entries name the fields that change, without the values.
func WithErasure(ctx context.Context) context.Context {
	return context.WithValue(ctx, erasureKey, true)
}

// Erasing says whether a person is erased in the context.
func Erasing(ctx context.Context) bool { return ctx.Value(erasureKey) != nil }

func withoutValues(changes []Change) []Change {
	return sequence.Map(changes, func(c Change) Change { return Change{Field: c.Field} })
}

// Batch is an import that writes many records. Begin stores the entry of its start, once, before the first record.
type Batch interface {
	Begin(ctx context.Context) error
}

// WithBatch returns a context whose writes belong to the batch.
func WithBatch(ctx context.Context, b Batch) context.Context {
	return context.WithValue(ctx, batchKey, b)
}

// InBatch says whether the context's writes belong to a batch.
func InBatch(ctx context.Context) bool { return ctx.Value(batchKey) != nil }

// Begin must be called before any write that may be part of a batch; when it fails, nothing may be written. It does
// nothing when there is no batch, when the batch has begun, or in a dry run.
func Begin(ctx context.Context) error {
	b, ok := ctx.Value(batchKey).(Batch)
	if !ok || record.IsDryRun(ctx) {
		return nil
	}
	if err := b.Begin(ctx); err != nil {
		return fmt.Errorf("begin the audit of an import: %w", err)
	}
	return nil
}

// Read is what a user has read of another person.
type Read string

// The reads.
const (
	ReadDetail      Read = "detail"
	ReadCommitments Read = "commitments"
	ReadFreeBusy    Read = "freebusy"
	ReadTimetable   Read = "timetable" // one of many
	ReadEvents      Read = "events"    // found by a search for the person's events, or in a report of clashes
	ReadCalendar    Read = "calendar"
	ReadFeed        Read = "feed" // without a login; the user is the feed's
)

// Header carries the actor from one service to another. Services trust it because of the shared token beside it.
const Header = "Belfry-Actor"

// HeaderValue is the actor as Header carries it; "" for the system.
func (a Actor) HeaderValue() string {
	if a == (Actor{}) {
		return ""
	}
	text, err := json.Marshal(a)
	if err != nil {
		return "" // numbers and strings always encode
	}
	return string(text)
}

// ParseActor reads what HeaderValue wrote.
func ParseActor(text string) (Actor, error) {
	var a Actor
	if text == "" {
		return a, nil
	}
	err := json.Unmarshal([]byte(text), &a)
	return a, err
}
