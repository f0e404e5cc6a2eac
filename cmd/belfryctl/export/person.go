package export

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/cmd/belfryctl/wholefile"
	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	servicenames "github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// personReadme is README.txt of the archive.
const personReadme = `What Belfry keeps about one person.

person.json   the person's record and its users, without what they log in with
groups.csv    the groups that it was put into, with the days
events.csv    the events that it is in, itself or through a group, that it made, organises, asked for something in or
              decided on, and those of which a text or a reason of a decision names it
notes.csv     the notes that it wrote, and those that name it
access.csv    who has looked at its detail or timetable
audit.json    what was done to its records
actions.json  what its users did

In the tables an apostrophe stands before what a spreadsheet would take for a formula.

A text names it by its forename or the name that is used with its surname, by a whole name or by an e-mail address.

Not in here: its calendar feeds, of which Belfry keeps no more than a hash of the address; sessions and tokens; notes of
events that it is in which do not name it; and the network addresses of others. Nor are texts in which Belfry also looks
for the name when the person is erased: names of other elements and of categories, the rules of series (the titles of
their events are in events.csv), what the audit has of other records, mails and messages to webhooks that wait or were
sent in the last 30 days, and answers kept for a day for requests that are repeated.
`

// person is the making of a person's archive. The first error ends it.
type person struct {
	ctx     context.Context
	c       *client.Client
	id      int64
	element client.Record
	users   []client.Record
	zip     *zip.Writer
	names   map[string]string // by path
	rows    map[string]int
	through map[int64]int64 // by commitment that is the person's: the group, 0 for none
	called  *erasure.Texts  // finds the person's names in texts
	err     error
}

func (p *person) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// Person writes what Belfry keeps about a member of staff or a pupil into a new file, a zip archive of JSON and CSV.
// It returns how many records each of its files has. The client's user must be an administrator of all schools. The
// file gets its name only when it is complete.
func Person(ctx context.Context, c *client.Client, element int64, file string) (rows map[string]int, err error) {
	p := &person{ctx: ctx, c: c, id: element, names: map[string]string{}, rows: map[string]int{}}
	if p.element, err = c.Get(ctx, "/api/admin/elements/"+strconv.FormatInt(element, 10), "element"); err != nil {
		return nil, err
	}
	if entity := p.element.Text("entity_type"); entity != "Staff" && entity != "Pupil" {
		return nil, fmt.Errorf("element %d is a %s; give a member of staff or a pupil", element, entity)
	}
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s already exists; give another file", file)
	}
	err = wholefile.Create(file, func(out io.Writer) error {
		p.zip = zip.NewWriter(out)
		p.write()
		return errors.Join(p.err, p.zip.Close())
	})
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", file, err)
	}
	return p.rows, nil
}

func (p *person) write() {
	p.list("/api/admin/users", "users", nil, func(user client.Record) {
		if user.ID("element_id") == p.id {
			p.users = append(p.users, user)
		}
	})
	p.called = p.calledBy()
	for _, stage := range []func(){
		p.writeReadme, p.writePerson, p.writeGroups, p.writeEvents, p.writeNotes, p.writeAccess, p.writeAudit,
	} {
		if p.err == nil {
			stage()
		}
	}
}

// list reads a list until something fails.
func (p *person) list(path, part string, query url.Values, each func(client.Record)) {
	for r, err := range p.c.List(p.ctx, path, part, query) {
		if p.fail(err); p.err != nil {
			return
		}
		each(r)
	}
}

// create begins a file.
func (p *person) create(name string) io.Writer {
	w, err := p.zip.Create(name)
	if p.fail(err); err != nil {
		return io.Discard
	}
	return w
}

func (p *person) writeReadme() {
	_, err := io.WriteString(p.create("README.txt"), personReadme)
	p.fail(err)
}

func (p *person) writePerson() {
	p.rows["person.json"] = 1 + len(p.users)
	encoder := json.NewEncoder(p.create("person.json"))
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	p.fail(encoder.Encode(map[string]any{"element": p.element, "users": append([]client.Record{}, p.users...)}))
}

// table writes a CSV file from a list. Rows calls add for each row of a record.
func (p *person) table(
	name, columns, path, part string, query url.Values, rows func(r client.Record, add func(cells ...string)),
) {
	p.rows[name] = 0
	out := csvfile.NewWriter(p.create(name))
	p.fail(out.Write(strings.Fields(columns)))
	p.list(path, part, query, func(r client.Record) {
		rows(r, func(cells ...string) {
			p.rows[name]++
			p.fail(out.Write(cells))
		})
	})
	out.Flush()
	p.fail(out.Error())
}

func (p *person) writeGroups() {
	p.table("groups.csv", "group_id group first_day last_day", "/api/admin/export/memberships", "memberships", nil,
		func(m client.Record, add func(cells ...string)) {
			if m.ID("member_id") != p.id {
				return
			}
			for _, span := range m.Records("spans") {
				add(m.Text("group_id"), p.elementName(m.ID("group_id")), span.Text("first_day"), span.Text("last_day"))
			}
		})
}

// writeEvents writes a row for each commitment of the person, for each other one whose reason names it, and one for
// each other event that it has to do with or a text of which names it.
func (p *person) writeEvents() {
	p.through = map[int64]int64{}
	p.readCommitments(wiretime.Days{First: wiretime.FirstEventDay, Last: wiretime.LastEventDay})
	categories := map[int64]string{}
	p.list("/api/admin/eventcategories", "eventcategories", nil, func(category client.Record) {
		categories[category.ID("id")] = category.Text("name")
	})
	columns := "event_id title category starts_at ends_at all_day roles through status reason decided_by decided_at"
	columns += " " + strings.Join(eventTexts[1:], " ")
	p.table("events.csv", columns, "/api/admin/export/events", "events", nil,
		func(event client.Record, add func(cells ...string)) {
			p.addEvent(event, categories[event.ID("category_id")], add)
		})
}

// readCommitments reads which commitments of the days are the person's, and through which group. Days that have too
// much for one answer are asked for in halves.
func (p *person) readCommitments(days wiretime.Days) {
	query := url.Values{"start_date": {days.First.String()}, "end_date": {days.Last.String()}}
	path := "/api/elements/" + strconv.FormatInt(p.id, 10) + "/commitments"
	for c, err := range p.c.List(p.ctx, path, "commitments", query) {
		failed, ok := errors.AsType[*client.Error](err)
		if ok && failed.Code == http.StatusBadRequest && days.First < days.Last {
			middle := days.First + (days.Last-days.First)/2
			p.readCommitments(wiretime.Days{First: days.First, Last: middle})
			p.readCommitments(wiretime.Days{First: middle + 1, Last: days.Last})
			return
		}
		if p.fail(err); p.err != nil {
			return
		}
		group := c.Inner("element").ID("id")
		if group == p.id {
			group = 0
		}
		p.through[c.ID("id")] = group
	}
}

// isNamed is the role of a person who is named in a text of an event.
const isNamed = "is named"

// eventTexts are the texts of an event: the title, then the others.
var eventTexts = bundle.Events.Texts()

// addEvent adds the rows of an event, if it has to do with the person.
func (p *person) addEvent(event client.Record, category string, add func(cells ...string)) {
	roles := p.roles(event)
	row := func(c client.Record, roles []string) {
		texts := sequence.Map(eventTexts, event.Text)
		add(append([]string{event.Text("id"), texts[0], category, event.Text("starts_at"), event.Text("ends_at"),
			event.Text("all_day"), strings.Join(roles, ", "), p.elementName(p.through[c.ID("id")]), c.Text("status"),
			c.Text("reason"), p.userName(c.ID("decided_by")), c.Text("decided_at")}, texts[1:]...)...)
	}
	shown := false
	for _, c := range event.Records("commitments") {
		has := roles
		if _, its := p.through[c.ID("id")]; !its {
			if !p.called.In([]byte(c.Text("reason"))) {
				continue
			}
			if !slices.Contains(roles, isNamed) {
				has = append(slices.Clip(roles), isNamed)
			}
		}
		shown = true
		row(c, has)
	}
	if !shown && len(roles) > 0 {
		row(client.Record{}, roles)
	}
}

// roles are what the person has to do with an event, besides being in it.
func (p *person) roles(event client.Record) (roles []string) {
	by := func(what string) func(client.Record) bool {
		return func(of client.Record) bool { return p.isUser(of.ID(what)) }
	}
	commitments := event.Records("commitments")
	for _, role := range []struct {
		name string
		has  bool
	}{
		{"made it", p.isUser(event.ID("owner_id"))},
		{"organises it", event.ID("organiser_id") == p.id},
		{"made a request in it",
			slices.ContainsFunc(slices.Concat(commitments, event.Records("requests")), by("asked_by"))},
		{"decided on it", slices.ContainsFunc(commitments, by("decided_by"))},
		{isNamed, slices.ContainsFunc(eventTexts, func(name string) bool {
			return p.called.In([]byte(event.Text(name)))
		})},
	} {
		if role.has {
			roles = append(roles, role.name)
		}
	}
	return roles
}

// writeNotes writes the notes that the person wrote, and those that name it.
func (p *person) writeNotes() {
	p.table("notes.csv", "note_id event_id why by contents", "/api/admin/export/notes", "notes", nil,
		func(note client.Record, add func(cells ...string)) {
			why := "wrote it"
			if !p.isUser(note.ID("owner_id")) {
				if !p.called.In([]byte(note.Text("contents"))) {
					return
				}
				why = isNamed
			}
			add(note.Text("id"), note.Text("event_id"), why, p.userName(note.ID("owner_id")), note.Text("contents"))
		})
}

// calledBy finds the person in texts, as an erasure does.
func (p *person) calledBy() *erasure.Texts {
	e := p.element
	others := []string{e.Text("name"), e.Text("email")}
	for _, user := range p.users {
		others = append(others, erasure.NamesOfUser(user.Text("name"), user.Text("email"))...)
	}
	return erasure.NewTexts(erasure.NamesOf(e.Text("forename"), e.Text("known_as"), e.Text("surname"), others...), "")
}

func (p *person) writeAccess() {
	query := url.Values{"element": {strconv.FormatInt(p.id, 10)}}
	p.table("access.csv", "at user switched_from what", "/api/admin/access/elements", "entries", query,
		func(access client.Record, add func(cells ...string)) {
			add(access.Text("at"), p.userName(access.ID("user_id")), p.userName(access.ID("original_id")),
				access.Text("what"))
		})
}

// writeAudit writes what was done to the person's records, and what its users did.
func (p *person) writeAudit() {
	done, acted := []url.Values{{"record": {"Element:" + strconv.FormatInt(p.id, 10)}}}, []url.Values{}
	for _, user := range p.users {
		done = append(done, url.Values{"record": {"User:" + user.Text("id")}})
		acted = append(acted, url.Values{"user": {user.Text("id")}})
	}
	p.entries("audit.json", done)
	p.entries("actions.json", acted)
}

// entries writes those of the audits that the queries find, one to a line, as a JSON array.
func (p *person) entries(name string, queries []url.Values) {
	p.rows[name] = 0
	w, separator := p.create(name), "["
	for _, query := range queries {
		for entry, err := range p.c.Audit(p.ctx, servicenames.WithData(), query) {
			if p.fail(err); p.err != nil {
				return
			}
			if !p.isUser(entry.ID("user_id")) && !p.isUser(entry.ID("original_id")) {
				delete(entry, "from")
			}
			text, err := json.Marshal(entry)
			p.fail(err)
			_, err = fmt.Fprintf(w, "%s\n%s", separator, text)
			p.fail(err)
			p.rows[name]++
			separator = ","
		}
	}
	end := "\n]\n"
	if p.rows[name] == 0 {
		end = "[]\n"
	}
	_, err := io.WriteString(w, end)
	p.fail(err)
}

// isUser reports whether a user is the person.
func (p *person) isUser(id int64) bool {
	return id != 0 && slices.ContainsFunc(p.users, func(u client.Record) bool { return u.ID("id") == id })
}

func (p *person) elementName(id int64) string { return p.nameOf("element", id) }

func (p *person) userName(id int64) string { return p.nameOf("user", id) }

// nameOf is the name of a record of a kind; "" for the id 0.
func (p *person) nameOf(part string, id int64) string {
	path := "/api/admin/" + part + "s/" + strconv.FormatInt(id, 10)
	name, known := p.names[path]
	if known || id == 0 {
		return name
	}
	record, err := p.c.Get(p.ctx, path, part)
	if err != nil && !client.Missing(err) {
		p.fail(err)
	}
	p.names[path] = record.Text("name")
	return p.names[path]
}
