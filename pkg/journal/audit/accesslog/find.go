package accesslog

import (
	"context"

	"github.com/gofiber/fiber/v2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/journal/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Query chooses entries. Zero fields choose all.
type Query struct {
	Element int64
	auditlog.Choice
}

// Find returns entries, the newest first, and the id after which to go on, "" at the end. The queue of
// this process is written first.
func (l *Log) Find(ctx context.Context, q Query) (entries []Entry, next string, err error) {
	if err := l.write(ctx); err != nil {
		return nil, "", err
	}
	return auditlog.FindNewest(ctx, l.entries, q.filter(), q.Limit, func(e Entry) string { return e.ID })
}

func (q Query) filter() bson.D {
	filter := bson.D{}
	if q.Element != 0 {
		filter = append(filter, bson.E{Key: "element", Value: q.Element})
	}
	return q.Narrow(filter)
}

// line is an entry as the API shows it.
type line struct {
	ID         string     `json:"id"`
	At         string     `json:"at"`
	UserID     int64      `json:"user_id"`     // the effective user
	OriginalID *int64     `json:"original_id"` // who had switched to it; null: none
	ElementID  int64      `json:"element_id"`
	What       audit.Read `json:"what"`
	From       *string    `json:"from"`
}

func lineOf(e Entry, zone wiretime.Zone) line {
	return line{ID: e.ID, At: zone.Format(e.At), UserID: e.User, OriginalID: form.OrNull(e.Original),
		ElementID: e.Element, What: e.What, From: form.OrNull(e.From)}
}

// Route is GET /api/admin/access/SERVICE, the service's part of the log. Days in since are in the zone.
func (l *Log) Route(service string, zone wiretime.Zone) web.Route {
	return web.At("GET /api/admin/access/"+service, web.Admin, func(c *fiber.Ctx) error { return l.serve(c, zone) })
}

// serve answers a page of the log.
func (l *Log) serve(c *fiber.Ctx, zone wiretime.Zone) error {
	q, err := readQuery(c, zone)
	if err != nil {
		return err
	}
	found, next, err := l.Find(c.UserContext(), q)
	if err != nil {
		return err
	}
	return auditlog.AnswerPage(c, zone, found, next, lineOf, func(l line) string { return l.ID })
}

func readQuery(c *fiber.Ctx, zone wiretime.Zone) (q Query, err error) {
	if q.Element, err = web.QueryID(c, "element"); err != nil {
		return q, err
	}
	q.Choice, err = auditlog.ReadChoice(c, zone)
	return q, err
}
