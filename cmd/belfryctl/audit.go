package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/service/names"
)

// maxAudit bounds how many entries one call shows.
const maxAudit = 100_000

// logFlags are the flags that audit and access share.
type logFlags struct {
	user, since string
	limit       int
}

// add adds the flags to a command. Did says what an entry of a user is.
func (f *logFlags) add(flags *pflag.FlagSet, did string) {
	flags.StringVar(&f.user, "user", "", "only "+did+", itself or switched to another; an id or an e-mail address")
	flags.StringVar(&f.since, "since", "",
		"only entries since a day, an instant (2026-09-07T08:00:00Z), or for a duration up to now (90m, 24h)")
	flags.IntVar(&f.limit, "limit", 100, "maximum number of entries, 1 to 100,000")
}

// ask adds the flags to a query.
func (f *logFlags) ask(j job, query url.Values) error {
	if f.limit < 1 || f.limit > maxAudit {
		return &usageError{errors.New("--limit takes 1 to 100000")}
	}
	query.Set("limit", strconv.Itoa(min(f.limit, 1000)))
	if f.since != "" {
		query.Set("since", sinceText(f.since))
	}
	return addIDs(query, j.userID, map[string]string{"user": f.user})
}

// ofSchools are the services whose audit an administrator of schools may read, limited to these schools.
var ofSchools = []string{"identity", "elements", "events"}

// auditFlags are the flags of audit.
type auditFlags struct {
	logFlags
	record   string
	services []string
}

func auditCommand(s surroundings) *cobra.Command {
	var f auditFlags
	command := &cobra.Command{
		Use: "audit", Short: "Show who changed which record, when, as which user and from where",
		Long: `Shows the entries of all services together, newest first.

--record takes a record such as Event:12, or a type: User, Element, Membership, Event,
Commitment, Request, EventCategory, Note, Import, Webhook. It also finds entries of related
records: a decision on a commitment is found by its event. A batch of an import has two entries,
import and imported, and none for each record. The values of uuids and the texts of notes are
not recorded, only that they changed. Administrators of schools see the entries of their
schools' users, elements, memberships, categories and webhooks, and of events whose elements all
belong to their schools.`,
		Example: `  belfryctl audit --since 24h
  belfryctl audit --record Event:12
  belfryctl audit --user anna.bell@school.example --since 2026-09-01 --limit 500 -o json`,
	}
	flags := command.Flags()
	flags.StringVar(&f.record, "record", "", "only entries about this record or type of record")
	f.add(flags, "what this user did")
	flags.StringSliceVar(&f.services, "service", names.WithData(), "only entries of these services")
	complete(command, "service", names.WithData()...)
	return administrative(s, command, func(j job) error { return runAudit(j, f) })
}

func runAudit(j job, f auditFlags) error {
	for _, service := range f.services {
		if !slices.Contains(names.WithData(), service) {
			return &usageError{fmt.Errorf("%q is not a service; there are %s", service,
				strings.Join(names.WithData(), ", "))}
		}
	}
	query := queryOf(map[string]string{"record": f.record})
	if err := f.ask(j, query); err != nil {
		return err
	}
	if !j.given("service") {
		admin, err := j.isAdmin()
		if err != nil {
			return err
		}
		if !admin {
			f.services = ofSchools
		}
	}
	entries, err := first(j.c.Audit(j.ctx, f.services, query), f.limit)
	if err != nil {
		return err
	}
	named, err := j.namesOf(entries, func(r client.Record) []string {
		e := client.As[api.AuditEntry](r)
		return append(actors(e.UserID, e.OriginalID), e.Record)
	})
	if err != nil {
		return err
	}
	const heads = "at,service,user,user_name,action,record,record_name,from,changes;id,related"
	return list(j, "entries", entries, heads, func(r client.Record) []any {
		e := client.As[api.AuditEntry](r)
		return []any{e.At, r.Text("service"), actor(e.UserID, e.OriginalID),
			named.of(actors(e.UserID, e.OriginalID)...), e.Action, e.Record, named[e.Record], e.From, changes(e), e.ID,
			strings.Join(e.Related, ",")}
	})
}

// sinceText converts a duration to an instant. The services read days and instants themselves.
func sinceText(text string) string {
	if ago, err := time.ParseDuration(text); err == nil {
		return time.Now().Add(-ago).UTC().Format(time.RFC3339)
	}
	return text
}

// actor is "5", or "3 as 5" for 3 who had switched to 5.
func actor(user, original int64) string {
	switch {
	case original != 0:
		return fmt.Sprintf("%d as %d", original, user)
	case user == 0:
		return "system"
	}
	return strconv.FormatInt(user, 10)
}

// actors are the records of those users.
func actors(user, original int64) (records []string) {
	for _, id := range []int64{original, user} {
		if id != 0 {
			records = append(records, fmt.Sprintf("User:%d", id))
		}
	}
	return records
}

// maxChanges bounds the changes of an entry in a table; -o json prints all.
const maxChanges = 4

// changes are those of an entry as "name: A → B; …".
func changes(e api.AuditEntry) string {
	var texts []string
	for _, c := range e.Changes[:min(len(e.Changes), maxChanges)] {
		text := c.Field
		if c.From != "" || c.To != "" {
			text += ": " + cmp.Or(c.From, "-") + " → " + cmp.Or(c.To, "-")
		}
		texts = append(texts, text)
	}
	if more := len(e.Changes) - maxChanges; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}

const accessPath = "/api/admin/access/elements"

func accessCommand(s surroundings) *cobra.Command {
	var f logFlags
	var element string
	command := &cobra.Command{
		Use: "access", Short: "Show who has viewed whose detail or timetable, when, as which user and from where",
		Long: `Shows the log of reads of people's data, newest entry first. Reads of one's own data are not
recorded. Repeated reads within an hour are one entry. The setting accessLogDays says how long
entries are kept.`,
		Example: `  belfryctl access --element 68 --since 2026-09-01
  belfryctl access --user anna.bell@school.example --limit 100000 -o json > reads.json`,
	}
	flags := command.Flags()
	flags.StringVar(&element, "element", "", "only reads of this person; an id or a key such as Pupil:17")
	f.add(flags, "what this user read")
	return administrative(s, command, func(j job) error { return runAccess(j, f, element) })
}

func runAccess(j job, f logFlags, element string) error {
	query := url.Values{}
	if err := f.ask(j, query); err != nil {
		return err
	}
	if err := addIDs(query, j.elementID, map[string]string{"element": element}); err != nil {
		return err
	}
	entries, err := first(j.c.List(j.ctx, accessPath, "entries", query), f.limit)
	if err != nil {
		return err
	}
	person := func(e api.Look) string { return fmt.Sprintf("Element:%d", e.ElementID) }
	named, err := j.namesOf(entries, func(r client.Record) []string {
		e := client.As[api.Look](r)
		return append(actors(e.UserID, e.OriginalID), person(e))
	})
	if err != nil {
		return err
	}
	const heads = "at,user,user_name,what,element_id,element_name,from"
	return list(j, "entries", entries, heads, func(e api.Look) []any {
		return []any{e.At, actor(e.UserID, e.OriginalID), named.of(actors(e.UserID, e.OriginalID)...), e.What,
			e.ElementID, named[person(e)], e.From}
	})
}

// recordNames are the current names of records such as User:3 or Event:12. A deleted or hidden record has none.
type recordNames map[string]string

// of joins the names of some records: 3 as 5 is Anna as Ben.
func (n recordNames) of(records ...string) string {
	var found []string
	for _, r := range records {
		if n[r] != "" {
			found = append(found, n[r])
		}
	}
	return strings.Join(found, " as ")
}

// namedLists are the lists that have the names of a kind of record. Reading one record of a person would add an entry
// to the access log.
var namedLists = map[string]struct{ path, part string }{
	"User": {userPath, "users"}, "Element": {elementPath, "elements"},
	"EventCategory": {categoryPath, "eventcategories"},
}

// maxNamed bounds the events whose titles are read, one by one.
const maxNamed = 200

// namesOf returns the names of the records that entries are about. Objects for programs have none.
func (j job) namesOf(entries []client.Record, about func(client.Record) []string) (recordNames, error) {
	found := recordNames{}
	if j.as.data() || j.as == asNames {
		return found, nil
	}
	wanted, kinds := map[string]bool{}, map[string]bool{}
	for _, entry := range entries {
		for _, record := range about(entry) {
			kind, _, _ := strings.Cut(record, ":")
			wanted[record], kinds[kind] = true, true
		}
	}
	for kind, list := range namedLists {
		if !kinds[kind] {
			continue
		}
		for r, err := range j.c.List(j.ctx, list.path, list.part, nil) {
			if hidden(err) {
				break
			}
			if err != nil {
				return nil, err
			}
			if record := fmt.Sprintf("%s:%d", kind, r.ID("id")); wanted[record] {
				found[record] = r.Text("name")
			}
		}
	}
	return found, j.titlesOf(wanted, found)
}

// titlesOf adds the titles of events.
func (j job) titlesOf(wanted map[string]bool, found recordNames) error {
	read := 0
	for record := range wanted {
		text, isEvent := strings.CutPrefix(record, "Event:")
		id, ok := idOf(text)
		if !isEvent || !ok {
			continue
		}
		if read++; read > maxNamed {
			return nil
		}
		event, err := j.c.Get(j.ctx, onePath(eventPath, id), "event")
		switch {
		case err == nil:
			found[record] = event.Text("body")
		case !hidden(err):
			return err
		}
	}
	return nil
}

// hidden says whether a record does not exist for the caller.
func hidden(err error) bool {
	refused := (*client.Error)(nil)
	return errors.As(err, &refused) && !refused.Foreign &&
		(refused.Code == http.StatusForbidden || refused.Code == http.StatusNotFound)
}
