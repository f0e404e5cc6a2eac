package api

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// history lists the audit of a record or of a service.
func (h handlers) history(v *visit) error {
	b := historyBody{Service: cmp.Or(v.c.Query("service"), "elements")}
	record := v.c.Query("record")
	kind, _, _ := strings.Cut(record, ":")
	if kind != "" {
		b.Service = cmp.Or(auditedBy[kind], "events")
	}
	entries, next, err := v.api.Page(v.ctx, "/api/admin/audit/"+url.PathEscape(b.Service), "entries",
		url.Values{"limit": {lookPage}, "record": {record}}, v.c.Query("after"))
	if err != nil {
		return err
	}
	if next != "" {
		b.Next = "/look-after/history?" +
			url.Values{"service": {b.Service}, "record": {record}, "after": {next}}.Encode()
	}
	n := called{}
	if record != "" {
		b.About = v.recordOf(n, record)
	}
	for _, e := range client.Each[api.AuditEntry](entries) {
		p := past{e, v.nameOf(n, "User", id(e.UserID)), v.nameOf(n, "User", id(e.OriginalID)), v.recordOf(n, e.Record)}
		for i, c := range e.Changes {
			p.Changes[i].From, p.Changes[i].To = v.valueOf(n, c.Field, c.From), v.valueOf(n, c.Field, c.To)
		}
		b.Entries = append(b.Entries, p)
	}
	return v.show("history", v.texts.T("look.history"), b)
}

// auditedBy is the service that keeps the audit of a kind of records; events for kinds that are not listed.
var auditedBy = map[string]string{
	"Element": "elements", "Membership": "elements", "Feed": "elements", "User": "identity", "Note": "notes",
}

// historyBody is the page of the audit.
type historyBody struct {
	About, Service string // the record in words, "" for all of a service
	Entries        []past
	Next           string
}

// past is an entry of the audit in words.
type past struct {
	api.AuditEntry
	By, Original, About string
}

// namesAtMost bounds the calls of a page for names, one each; further records are shown by number.
const namesAtMost = 20

// auditNamed are the records that are shown by their names.
var auditNamed = map[string]recordKind{elements.audit: elements, users.audit: users, kinds.audit: kinds}

// auditFields are the fields, or their last parts, that have ids, with the kind; and those that have words of the
// interface, with the prefix of their texts.
var auditFields = map[string]string{
	"element_id": "Element", "element": "Element", "group": "Element", "member": "Element", "school_id": "Element",
	"organiser_id": "Element", "stands_for": "Element", "admin_of": "Element", "event_category_id": "EventCategory",
	"user": "User", "owner_id": "User", "administrators": "User",
	"status": "status.", "kind": "look.word.", "entity_type": "type.",
	"permissions": "look.field.", "kinds": "look.field.",
}

// called are the names that a page has asked for, by kind and id, such as User:3.
type called map[string]string

// nameOf is the name of a record; its number where the visitor may not see it, and "" for none.
func (v *visit) nameOf(n called, kind, number string) string {
	of, has := auditNamed[kind]
	id, err := readID(number)
	if err != nil || !has {
		return strings.TrimPrefix(number, "0")
	}
	record := kind + ":" + number
	if n[record] == "" && len(n) < namesAtMost {
		n[record] = number
		if found, err := v.fromList(of, id); err == nil {
			n[record] = found.Text("name")
		}
	}
	return cmp.Or(n[record], number)
}

// recordOf is a record of the audit in words.
func (v *visit) recordOf(n called, record string) string {
	kind, id, _ := strings.Cut(record, ":")
	return v.texts.Label("look.record.", kind) + " " + v.nameOf(n, kind, id)
}

// valueOf is a value of a field of the audit in words.
func (v *visit) valueOf(n called, field, value string) string {
	last := field[strings.LastIndex(field, ".")+1:]
	of := auditFields[last]
	switch {
	case strings.HasSuffix(last, "_at"):
		return cmp.Or(v.texts.Moment(value), value)
	case last == "days" && value != "":
		return strings.Join(sequence.Map(strings.Split(value, ","), func(days string) string {
			first, end, _ := strings.Cut(days, "/")
			return cmp.Or(v.texts.Between(first, end), v.texts.T("look.always"))
		}), ", ")
	case value == yes || value == no:
		return v.texts.T("look.word." + value)
	case of == "":
		return value
	}
	parts := strings.Split(value, ",")
	for i, part := range parts {
		if parts[i] = v.nameOf(n, of, part); strings.HasSuffix(of, ".") {
			parts[i] = v.texts.Label(of, part)
		}
	}
	return strings.Join(parts, ", ")
}
