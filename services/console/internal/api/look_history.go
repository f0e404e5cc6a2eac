package api

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

// history lists what was done: to a record, or in a service.
func (h handlers) history(v *visit) error {
	b := historyBody{Record: v.c.Query("record"), Services: auditServices, Service: v.c.Query("service")}
	kind, _, _ := strings.Cut(b.Record, ":")
	if kind != "" {
		b.Service = cmp.Or(auditedBy[kind], "events")
	} else if !slices.Contains(auditServices, b.Service) {
		b.Service = auditServices[0]
	}
	asked := url.Values{"limit": {lookPage}}
	if b.Record != "" {
		asked.Set("record", b.Record)
	}
	entries, next, err := v.api.Page(v.ctx, "/api/admin/audit/"+b.Service, "entries", asked, v.c.Query("after"))
	if err != nil {
		return err
	}
	if next != "" {
		b.Next = "/look-after/history?" +
			url.Values{"service": {b.Service}, "record": {b.Record}, "after": {next}}.Encode()
	}
	n := called{visit: v, of: map[string]string{}}
	if b.Record != "" {
		b.About = n.record(b.Record)
	}
	for _, e := range client.Each[api.AuditEntry](entries) {
		p := past{AuditEntry: e, By: n.one("User", id(e.UserID)), Original: n.one("User", id(e.OriginalID)),
			About: n.record(e.Record)}
		for i, c := range e.Changes {
			p.Changes[i].From, p.Changes[i].To = n.value(c.Field, c.From), n.value(c.Field, c.To)
		}
		b.Entries = append(b.Entries, p)
	}
	return v.show("history", v.texts.T("look.history"), b)
}

// auditServices are those that keep an audit, in the order of the page.
var auditServices = []string{"elements", "identity", "events", "notes"}

// auditedBy is the service that keeps the audit of a kind of records, events for one that is not here.
var auditedBy = map[string]string{
	"Element": "elements", "Membership": "elements", "Feed": "elements", "User": "identity", "Note": "notes",
}

// historyBody is what the page of what was done shows.
type historyBody struct {
	Record, Service string
	About           string // the record in words
	Services        []string
	Entries         []past
	Next            string
}

// past is an entry of the audit in words.
type past struct {
	api.AuditEntry
	By, Original, About string
}

// namesAtMost bounds the calls of a page for names, one each; what is beyond them is shown by its number.
const namesAtMost = 20

// auditNamed are the lists of the records that are shown by their names.
var auditNamed = map[string][2]string{
	"Element": {elementsPath, "elements"}, "User": {users.path, "users"}, "EventCategory": {kindsPath, "eventcategories"},
}

// auditIDs are the fields, or last parts of them, that have ids.
var auditIDs = map[string]string{
	"element_id": "Element", "element": "Element", "group": "Element", "member": "Element", "school_id": "Element",
	"organiser_id": "Element", "stands_for": "Element", "admin_of": "Element", "event_category_id": "EventCategory",
	"user": "User", "owner_id": "User", "administrators": "User",
}

// auditWords are the fields, or last parts of them, that have words of the interface, with where their texts are.
var auditWords = map[string]string{
	"status": "status.", "kind": "look.word.", "entity_type": "type.", "permissions": "look.field.", "kinds": "look.field.",
}

// called are the names of records that a page has asked for.
type called struct {
	*visit
	of map[string]string // by kind and id, such as User:3
}

// one is the name of a record, its number where the visitor may not see it, and "" for none.
func (n called) one(kind, number string) string {
	list, has := auditNamed[kind]
	id, err := readID(number)
	if err != nil || !has {
		return strings.TrimPrefix(number, "0")
	}
	record := kind + ":" + number
	if n.of[record] == "" && len(n.of) < namesAtMost {
		n.of[record] = number
		if found, err := n.fromList(list[0], list[1], id); err == nil {
			n.of[record] = found.Text("name")
		}
	}
	return cmp.Or(n.of[record], number)
}

// record is a record of the audit in words.
func (n called) record(record string) string {
	kind, id, _ := strings.Cut(record, ":")
	return n.texts.Label("look.record.", kind) + " " + n.one(kind, id)
}

// value is a value of a field of the audit in words.
func (n called) value(field, value string) string {
	last := field[strings.LastIndex(field, ".")+1:]
	kind, words := auditIDs[last], auditWords[last]
	switch {
	case strings.HasSuffix(last, "_at"):
		return cmp.Or(n.texts.Moment(value), value)
	case value == yes || value == no:
		return n.texts.T("look.word." + value)
	case kind == "" && words == "":
		return value
	}
	parts := strings.Split(value, ",")
	for i, part := range parts {
		if parts[i] = n.texts.Label(words, part); kind != "" {
			parts[i] = n.one(kind, part)
		}
	}
	return strings.Join(parts, ", ")
}
