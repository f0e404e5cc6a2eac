package auditlog

import (
	"encoding/binary"
	"regexp"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// timestamp is how an entry's time is shown: UTC, to the millisecond.
const timestamp = "2006-01-02T15:04:05.000Z07:00"

// recordPattern matches the filter record: a type, with an id or without.
var recordPattern = regexp.MustCompile(`^[A-Z][A-Za-z]{1,31}(:[0-9a-z-]{1,32})?$`)

// line is an entry as the API shows it.
type line struct {
	ID         string         `json:"id"`
	At         string         `json:"at"`
	Action     audit.Action   `json:"action"`
	Record     string         `json:"record"`
	Related    []string       `json:"related"`     // other records by which it is found
	UserID     *int64         `json:"user_id"`     // the effective user; null: the system
	OriginalID *int64         `json:"original_id"` // who had switched to it; null: none
	From       *string        `json:"from"`
	Request    *string        `json:"request"`
	Changes    []audit.Change `json:"changes"`
}

// Route is GET /api/admin/audit/SERVICE, the service's part of the audit. Days in since are those of the zone.
// Administrators of schools read their own part of it; with own nil it is for admins alone.
func (l *Log) Route(service string, zone wiretime.Zone, own *Own) web.Route {
	access := web.Admin
	if own != nil {
		access = web.SchoolAdmin
	}
	return web.Route{
		Method: fiber.MethodGet, Path: "/api/admin/audit/" + service, Access: access,
		Handler: func(c *fiber.Ctx) error { return l.serve(c, zone, own) },
	}
}

// serve answers a page of the audit.
func (l *Log) serve(c *fiber.Ctx, zone wiretime.Zone, own *Own) error {
	q, err := readQuery(c, zone)
	if err != nil {
		return err
	}
	var found []audit.Entry
	var next string
	if p := web.Principal(c); p.Permissions.Admin {
		found, next, err = l.Find(c.UserContext(), q)
	} else {
		found, next, err = l.FindOwn(c.UserContext(), p, q, *own)
	}
	if err != nil {
		return err
	}
	lines := make([]line, len(found))
	for i, e := range found {
		lines[i] = lineOf(e)
	}
	return AnswerPage(c, lines, next, func(i int) string { return lines[i].ID })
}

func readQuery(c *fiber.Ctx, zone wiretime.Zone) (q Query, err error) {
	if q.Limit, err = web.Limit(c); err != nil {
		return q, err
	}
	if q.Record = c.Query("record"); q.Record != "" && !recordPattern.MatchString(q.Record) {
		return q, problem.New(problem.Malformed, "record is not like Event:12 or Event")
	}
	if q.User, err = web.QueryID(c, "user"); err != nil {
		return q, err
	}
	if q.Since, err = ReadSince(c.Query("since"), zone); err != nil {
		return q, err
	}
	q.After, err = ReadAfter(c)
	return q, err
}

// ReadAfter reads the id of the entry after which a page begins, "" where there is none. The id may be of an entry that
// the caller may not read, and says when it was made: so a client has it in a cursor.
func ReadAfter(c *fiber.Ctx) (string, error) {
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

// half is how many bytes of an id are one number of a place.
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

// ReadSince takes a day, which begins at its midnight in the zone, or an instant with Z or an offset.
func ReadSince(text string, zone wiretime.Zone) (time.Time, error) {
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

func lineOf(e audit.Entry) line {
	l := line{ID: e.ID, At: e.At.UTC().Format(timestamp), Action: e.Action, Record: e.Record, Related: []string{},
		Changes: e.Changes}
	const own = 2 // the record and its type come first
	if len(e.About) > own {
		l.Related = e.About[own:]
	}
	if e.User != 0 {
		l.UserID = &e.User
	}
	if e.Original != 0 {
		l.OriginalID = &e.Original
	}
	if e.From != "" {
		l.From = &e.From
	}
	if e.Request != "" {
		l.Request = &e.Request
	}
	if l.Changes == nil {
		l.Changes = []audit.Change{}
	}
	return l
}
