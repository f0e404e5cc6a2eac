package auditlog

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/web"
)

// What follows is for all logs of who did something, whose entries have a version 7 UUID as _id and who it was in
// actors: the audit's, and that of who has looked at whom.

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
	newest := options.Find().SetSort(bson.D{{Key: "_id", Value: -1}}).SetLimit(int64(limit) + 1)
	found, more, err := mongostore.FindUpTo[D](ctx, entries, mostRead, filter, newest)
	if len(found) > limit {
		found, more = found[:limit], true
	}
	if more {
		next = id(found[len(found)-1])
	}
	return found, next, err
}

// AnswerPage answers with a page of a log. Next is the id after which the log goes on, "" at its end. Id is the id of
// the i-th line.
func AnswerPage[L any](c *fiber.Ctx, lines []L, next string, id func(i int) string) error {
	return web.OKPage(c, "entries", lines, nextAfter(c, next), func(i int) web.Field { return nextAfter(c, id(i)) })
}
