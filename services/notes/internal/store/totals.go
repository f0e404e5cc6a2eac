package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// The collection notes_totals keeps what the notes of each event take, so that writers in all replicas stay within the
// bounds. A writer reserves the room first. The total is never less than what is stored and what may still be stored
// under reservations. It is more after a deletion, a shorter text, a write that failed or a process that died: nothing
// is given back. So it is counted again before a writer is refused.

const (
	// reservedFor is how long a write may still come after its room was reserved: longer than any request lives, and
	// than clocks differ.
	reservedFor = 5 * time.Minute
	// releaseTime bounds the end of a reservation, which goes on when the request's deadline has passed.
	releaseTime = 10 * time.Second
	// countsAtOnce is how many events' notes are counted at once in a process: each count reads all notes of its event.
	countsAtOnce = 3
)

// totalsDocument has the event's id as its own.
type totalsDocument struct {
	mongostore.Head `bson:",inline"`

	Total    note.Size     `bson:"total"`
	Reserved []reservation `bson:"reserved"` // by writes that have not ended; part of the total
}

type reservation struct {
	Token string    `bson:"token"`
	At    time.Time `bson:"at"`
	Size  note.Size `bson:"size"`
}

// add reserves room and says whether there is as much.
func (d *totalsDocument) add(r reservation, limit note.Size) bool {
	total := d.Total.Plus(r.Size)
	if !total.Within(limit) {
		return false
	}
	d.Total, d.Reserved = total, append(d.Reserved, r)
	return true
}

// correct sets the total to what is stored and what may still come.
func (d *totalsDocument) correct(stored note.Size) {
	d.Reserved = slices.DeleteFunc(d.Reserved, func(r reservation) bool { return time.Since(r.At) > reservedFor })
	for _, r := range d.Reserved {
		stored = stored.Plus(r.Size)
	}
	d.Total = stored
}

// Within implements note.Store. The event's notes are read only when there is no room, or when the event had no notes
// before.
func (s *Notes) Within(ctx context.Context, eventID int64, size, limit note.Size, write func() error) error {
	if size == (note.Size{}) {
		return write()
	}
	r := reservation{Token: rand.Text(), At: time.Now().UTC(), Size: size}
	if err := s.reserve(ctx, eventID, r, limit); err != nil {
		return err
	}
	err := write()
	if err == nil || !mongostore.Unavailable(err) && ctx.Err() == nil { // else it may still be stored
		s.release(ctx, eventID, r.Token)
	}
	return err
}

// Total implements note.Store.
func (s *Notes) Total(ctx context.Context, eventID int64) (note.Size, error) {
	d, err := mongostore.Load[totalsDocument](ctx, s.totals, eventID)
	return d.Total, err
}

// reserve reserves room for a write; note.ErrFull when there is none, record.ErrNotFound when the total was deleted
// meanwhile, which happens only with its event. The writers of this process to one event take turns, so that its notes
// are not counted by all of them at once.
func (s *Notes) reserve(ctx context.Context, eventID int64, r reservation, limit note.Size) error {
	done, err := s.queues.Wait(ctx, eventID)
	if err != nil {
		return err
	}
	defer done()
	for {
		fits, version := false, int64(0)
		_, err := mongostore.Update(ctx, s.totals, eventID, func(d *totalsDocument) error {
			version = d.Version
			if fits = d.add(r, limit); !fits {
				return record.ErrUnchanged
			}
			return nil
		})
		if fits || err != nil && (version != 0 || !errors.Is(err, record.ErrNotFound)) {
			return err
		}
		counted, err := s.recount(ctx, eventID, version, r, limit)
		if counted || err != nil {
			return err
		}
	}
}

// recount corrects the total of an event at a version, 0 when it has none, and reserves room if there is some now;
// note.ErrFull when there is none, record.ErrNotFound as from reserve. False when another writer was first.
func (s *Notes) recount(
	ctx context.Context, eventID, version int64, r reservation, limit note.Size,
) (counted bool, err error) {
	if err := s.counts.Acquire(ctx, 1); err != nil {
		return false, fmt.Errorf("wait to count the notes of an event: %w", err)
	}
	stored, err := s.size(ctx, eventID)
	s.counts.Release(1)
	if err != nil {
		return false, err
	}
	fits := false
	if version == 0 {
		d := totalsDocument{Head: mongostore.Head{ID: eventID, Schema: schema}, Total: stored}
		if fits = d.add(r, limit); fits {
			err = mongostore.Insert(ctx, s.totals, &d)
		}
		if mongostore.IsDuplicateKey(err) {
			return false, nil
		}
	} else {
		_, err = mongostore.Update(ctx, s.totals, eventID, func(d *totalsDocument) error {
			if counted = d.Version == version; !counted {
				return record.ErrUnchanged
			}
			d.correct(stored)
			fits = d.add(r, limit)
			return nil
		})
		if err == nil && !counted {
			return false, nil
		}
	}
	if err == nil && !fits {
		err = note.ErrFull
	}
	return true, err
}

// size returns what the stored notes of an event take, without the system's on topics.
func (s *Notes) size(ctx context.Context, eventID int64) (total note.Size, err error) {
	fields := bson.D{{Key: "contents", Value: 1}, {Key: "html", Value: 1}, {Key: "system", Value: 1}}
	notes, err := s.notes.Find(ctx, ofEvent(eventID), options.Find().SetProjection(fields))
	for _, n := range notes {
		if n.Topic == "" {
			total = total.Plus(n.Size())
		}
	}
	return total, err
}

// release ends a reservation whose write is done, or will never be. One that could not be released counts until it
// expires.
func (s *Notes) release(ctx context.Context, eventID int64, token string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.releaseTime)
	defer cancel()
	_, _ = mongostore.Update(ctx, s.totals, eventID, func(d *totalsDocument) error {
		d.Reserved = slices.DeleteFunc(d.Reserved, func(r reservation) bool { return r.Token == token })
		return nil
	})
}
