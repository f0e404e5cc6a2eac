package auditlog

import (
	"regexp"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

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
	Token      *token         `json:"token,omitempty"`
	From       *string        `json:"from"`
	Request    *string        `json:"request"`
	Changes    []audit.Change `json:"changes"`
}

// token is the token for programs that a request came with.
type token struct {
	ID   int64   `json:"id"`
	Name *string `json:"name"` // null: its user was erased
}

// Route is GET /api/admin/audit/SERVICE, the service's part of the audit. Days in since are those of the zone.
// Administrators of schools read their own part of it; with own nil, only admins may read it.
func (l *Log) Route(service string, zone wiretime.Zone, own *Own) web.Route {
	access := web.Admin
	if own != nil {
		access = web.SchoolAdmin
	}
	return web.At("GET /api/admin/audit/"+service, access, func(c *fiber.Ctx) error { return l.serve(c, zone, own) })
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
	return AnswerPage(c, zone, found, next, lineOf, func(l line) string { return l.ID })
}

func readQuery(c *fiber.Ctx, zone wiretime.Zone) (q Query, err error) {
	if q.Record = c.Query("record"); q.Record != "" && !recordPattern.MatchString(q.Record) {
		return q, problem.New(problem.Malformed, "record is not like Event:12 or Event")
	}
	q.Choice, err = ReadChoice(c, zone)
	return q, err
}

func lineOf(e audit.Entry, zone wiretime.Zone) line {
	l := line{ID: e.ID, At: zone.Format(e.At), Action: e.Action, Record: e.Record, Related: []string{},
		UserID: form.OrNull(e.User), OriginalID: form.OrNull(e.Original), From: form.OrNull(e.From),
		Request: form.OrNull(e.Request), Changes: inZone(e.Changes, zone)}
	if e.Token != 0 {
		l.Token = &token{e.Token, form.OrNull(e.TokenName)}
	}
	const own = 2 // the record and its type come first
	if len(e.About) > own {
		l.Related = e.About[own:]
	}
	return l
}

// inZone returns changes as the API shows them: times, which are stored in UTC, as in every other answer.
func inZone(changes []audit.Change, zone wiretime.Zone) []audit.Change {
	shown := append([]audit.Change{}, changes...)
	for i := range shown {
		for _, text := range []**string{&shown[i].From, &shown[i].To} {
			if *text == nil || !strings.HasSuffix(shown[i].Field, "_at") {
				continue
			}
			if at, err := wiretime.Parse(**text); err == nil {
				*text = new(zone.Format(at))
			}
		}
	}
	return shown
}
