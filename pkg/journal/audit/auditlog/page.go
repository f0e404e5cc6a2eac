package auditlog

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// This file serves all logs whose entries have a version 7 UUID as _id and the acting users in actors: the audit and
// the access log.

// Choice chooses entries by who and when, and says which page of them. Zero fields choose all.
type Choice struct {
	User  int64     // who it was, or had switched to who it was
	Since time.Time // not before
	After string    // the id of the entry to go on after
	Limit int       // at most
}

// Narrow adds the choice to a filter.
func (ch Choice) Narrow(filter bson.D) bson.D {
	if ch.User != 0 {
		filter = append(filter, bson.E{Key: "actors", Value: ch.User})
	}
	ids := bson.D{{Key: "$gt", Value: ""}} // always there, so that the ids' index serves a log as a whole
	if !ch.Since.IsZero() {
		ids = bson.D{{Key: "$gte", Value: mongostore.FirstUUID(ch.Since)}}
	}
	if ch.After != "" {
		ids = append(ids, bson.E{Key: "$lt", Value: ch.After})
	}
	return append(filter, bson.E{Key: "_id", Value: ids})
}

// mostRead bounds the entries of a page, in bytes as they are stored. An answer has at most 8 MiB of them, and an entry
// at most 16.
const mostRead = 16 << 20

// FindNewest returns entries that the filter chooses, the newest first: up to limit, or fewer when they are large, and
// the id after which to go on, "" at the end.
func FindNewest[D any](
	ctx context.Context, entries *mongo.Collection, filter bson.D, limit int, id func(D) string,
) (found []D, next string, err error) {
	newest := options.Find().SetSort(mongostore.By("-_id")).SetLimit(int64(limit) + 1)
	found, more, err := mongostore.FindUpTo[D](ctx, entries, mostRead, filter, newest)
	found, next = sequence.Page(found, limit, more, id)
	return found, next, err
}

// AnswerPage answers with a page of a log, each entry as a line with times in the zone. Next is the id after which the
// log goes on, "" at its end.
func AnswerPage[E, L any](
	c *fiber.Ctx, zone wiretime.Zone, entries []E, next string, lineOf func(E, wiretime.Zone) L, id func(L) string,
) error {
	lines := sequence.Map(entries, func(e E) L { return lineOf(e, zone) })
	return web.OKPage(c, "entries", lines, nextAfter(c, next),
		func(i int) web.Field { return nextAfter(c, id(lines[i])) })
}

// ReadChoice reads the choice of a request. Days in since are in the zone. Malformed when it is invalid.
func ReadChoice(c *fiber.Ctx, zone wiretime.Zone) (ch Choice, err error) {
	if ch.Limit, err = web.Limit(c); err != nil {
		return ch, err
	}
	if ch.User, err = web.QueryID(c, "user"); err != nil {
		return ch, err
	}
	if ch.Since, err = readSince(c.Query("since"), zone); err != nil {
		return ch, err
	}
	ch.After, err = readAfter(c)
	return ch, err
}

// readAfter reads the id of the entry after which a page begins; "" where there is none. The id may be that of an entry
// that the caller may not read, and contains its time, so clients get it sealed in a cursor.
func readAfter(c *fiber.Ctx) (string, error) {
	var first, last int64
	given, err := web.ReadPlace(c, &first, &last)
	if !given || err != nil {
		return "", err
	}
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:half], uint64(first))
	binary.BigEndian.PutUint64(id[half:], uint64(last))
	return id.String(), nil
}

// half is the number of bytes of an id in one number of a place.
const half = 8

// nextAfter is the cursor after the entry of an id; "": the log is at its end.
func nextAfter(c *fiber.Ctx, entry string) web.Field {
	id, err := uuid.Parse(entry)
	if err != nil {
		return web.NextPlace(c)
	}
	first, last := binary.BigEndian.Uint64(id[:half]), binary.BigEndian.Uint64(id[half:])
	return web.NextPlace(c, int64(first), int64(last))
}

// readSince takes a day, which begins at its midnight in the zone, or an instant with Z or an offset.
func readSince(text string, zone wiretime.Zone) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := wiretime.ParseDay(text); err == nil {
		return zone.Midnight(day), nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	return time.Time{},
		problem.New(problem.Malformed, "since is not a date (YYYY-MM-DD) or an instant (2026-09-07T08:00:00Z)")
}
