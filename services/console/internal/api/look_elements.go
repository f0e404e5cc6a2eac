package api

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

// elementType is a type of elements, with the fields that people give it.
type elementType struct {
	name string
	record
}

func texts(names ...string) (all []entry) {
	for _, name := range names {
		all = append(all, entry{Name: name})
	}
	return all
}

// must marks the first entries, which a record needs.
func must(count int, entries []entry) record {
	for i := range count {
		entries[i].Must = true
	}
	return record{Entries: entries}
}

// elementTypes are all types, in the order of the index.
var elementTypes = []elementType{
	{"Staff", must(3, append(texts("forename", "surname", "initials", "title"), entry{Name: "email", As: "email"}))},
	{"Pupil", must(2, append(texts("forename", "surname", "known_as", "year_group", "house_name", "tutor_group"),
		entry{Name: "email", As: "email"}))},
	{"Location", must(1, texts("name", "short_name"))},
	{"Group", must(1, append(texts("name", "description"), entry{Name: "resource", As: "box"}))},
	{"Property", must(1, append(texts("name"), entry{Name: "make_public", As: "box"}))},
	{"Service", must(1, texts("name"))},
	{"Subject", must(1, texts("name"))},
}

func elementTypeOf(name string) (elementType, bool) {
	i := slices.IndexFunc(elementTypes, func(t elementType) bool { return t.name == name })
	if i < 0 {
		return elementType{}, false
	}
	return elementTypes[i], true
}

// elementParts are what the page of a person or thing shows beside its own data.
type elementParts struct {
	ID         int64
	Type       string
	Group      bool
	Members    []api.Membership
	More       string // the address of the next members
	Deciders   []api.User
	MoreDecide bool // there are more of them than are shown
	Find       string
	Found      []api.Element
	Today      string
}

// lookList lists people or things of a type: the current ones by a part of their names, or those that are no longer
// here.
func (h handlers) lookList(v *visit) error {
	t, found := elementTypeOf(v.c.Params("type"))
	if !found {
		return v.refuse(fiber.StatusNotFound, "missing")
	}
	b := listBody{At: "/look-after/list/" + t.name, Query: strings.TrimSpace(v.c.Query("q")), Finds: true,
		Add: "/look-after/new/" + t.name}
	old := v.c.Query("old") != ""
	path, query := "/api/elements", url.Values{"type": {t.name}, "limit": {lookPage}}
	switch {
	case old:
		b.Finds, b.Old, b.OldAs = false, b.At, "look.current"
		path = "/api/admin/elements"
		query.Set("current", "false")
	default:
		b.Old, b.OldAs = b.At+"?old=1", "look.old"
		if b.Query != "" {
			query.Set("namelike", b.Query)
		}
		if !v.me.Permissions.Admin && len(v.me.AdminOf) == 1 {
			query.Set("school", strconv.FormatInt(v.me.AdminOf[0], 10))
		}
	}
	records, next, err := v.api.Page(v.ctx, path, "elements", query, v.c.Query("after"))
	if err != nil && !nothing(err) {
		return err
	}
	for _, r := range records {
		b.Rows = append(b.Rows, row{Path: elementPage(r.ID("id")), Name: r.Text("name")})
	}
	if next != "" {
		b.Next = b.address(url.Values{"q": {b.Query}, "old": {v.c.Query("old")}, "after": {next}})
	}
	return v.show("look", v.texts.T("look.of."+t.name), b)
}

func elementPage(id int64) string { return fmt.Sprintf("/look-after/elements/%d", id) }

// lookNew shows the form for a new person or thing.
func (h handlers) lookNew(v *visit) error {
	t, found := elementTypeOf(v.c.Params("type"))
	if !found {
		return v.refuse(fiber.StatusNotFound, "missing")
	}
	return v.showNew(t.name, t.record, fiber.StatusOK)
}

func (v *visit) showNew(name string, r record, code int) error {
	return v.showRecord(recordBody{record: r, New: true, At: "/look-after/new/" + name,
		Name: v.texts.T("look.new." + name)}, code)
}

// lookNewSent adds a person or thing.
func (h handlers) lookNewSent(v *visit) error {
	t, found := elementTypeOf(v.c.Params("type"))
	if !found {
		return v.refuse(fiber.StatusNotFound, "missing")
	}
	r := t.read(v)
	fields := r.changed()
	fields["type"] = t.name
	made, err := v.api.Create(v.ctx, "/api/admin/elements", "element", fields)
	if refused, is := r.refused(err); is {
		return v.showNew(t.name, refused, fiber.StatusUnprocessableEntity)
	}
	if err != nil {
		return err
	}
	return v.leave(elementPage(made.ID("id")) + "?done=added")
}

// elementRecord is the interface's path of the person or thing of the page.
func (v *visit) elementRecord(more string) string {
	return "/api/admin/elements/" + url.PathEscape(v.c.Params("id")) + more
}

// lookElement shows a person or thing with who is in it and who decides about it.
func (h handlers) lookElement(v *visit) error {
	found, err := v.api.Get(v.ctx, v.elementRecord(""), "element")
	if err != nil {
		return err
	}
	t, _ := elementTypeOf(found.Text("entity_type"))
	return v.showElement(found, t.fill(found), fiber.StatusOK)
}

func (v *visit) showElement(found client.Record, r record, code int) error {
	id := found.ID("id")
	parts := &elementParts{ID: id, Type: found.Text("entity_type"), Today: v.zone.DayOf(v.now).String()}
	parts.Group = parts.Type == "Group"
	b := recordBody{record: r, At: elementPage(id), Name: found.Text("name"), Element: parts,
		History: fmt.Sprintf("/look-after/history?record=Element:%d", id)}
	b.Actions = []action{{b.At + "/retire", "look.retire", true}}
	if found.Text("current") != yes {
		b.Actions = []action{{b.At + "/return", "look.return", false}}
	}
	if parts.Group {
		if err := v.membersOf(parts, b.At); err != nil {
			return err
		}
	}
	deciders, next, err := v.api.Page(v.ctx, v.elementRecord("/administrators"), "administrators",
		url.Values{"limit": {lookPage}}, "")
	if err != nil {
		return err
	}
	for _, d := range deciders {
		parts.Deciders = append(parts.Deciders, client.As[api.User](d))
	}
	parts.MoreDecide = next != ""
	return v.showRecord(b, code)
}

// membersOf lists a page of a group's members, and finds who may be added.
func (v *visit) membersOf(parts *elementParts, at string) error {
	members, next, err := v.api.Page(v.ctx, v.elementRecord("/members"), "members", url.Values{"limit": {lookPage}},
		v.c.Query("after"))
	if err != nil {
		return err
	}
	for _, m := range members {
		parts.Members = append(parts.Members, client.As[api.Membership](m))
	}
	if next != "" {
		parts.More = at + "?" + url.Values{"after": {next}}.Encode()
	}
	if parts.Find = strings.TrimSpace(v.c.Query("find")); parts.Find == "" {
		return nil
	}
	parts.Found, err = v.elements(parts.Find)
	return err
}

// lookElementSent changes a person or thing.
func (h handlers) lookElementSent(v *visit) error {
	found, err := v.api.Get(v.ctx, v.elementRecord(""), "element")
	if err != nil {
		return err
	}
	t, _ := elementTypeOf(found.Text("entity_type"))
	r := t.read(v)
	_, err = v.api.Change(v.ctx, v.elementRecord(""), "element", r.changed())
	if refused, is := r.refused(err); is {
		return v.showElement(found, refused, fiber.StatusUnprocessableEntity)
	}
	return v.done(err, "changed")
}

// done goes back to the record of the page, which says what has happened.
func (v *visit) done(err error, what string) error {
	if err != nil {
		return err
	}
	path := strings.Split(v.c.Path(), "/") // "", look-after, elements, 68 and what is below it
	return v.leave(strings.Join(path[:min(len(path), 4)], "/") + "?done=" + what)
}

// retireSent takes a person or thing out of searches; its history stays.
func (h handlers) retireSent(v *visit) error {
	return v.done(v.api.Delete(v.ctx, v.elementRecord(""), nil), "retired")
}

// returnSent makes a person or thing current again.
func (h handlers) returnSent(v *visit) error {
	_, err := v.api.Change(v.ctx, v.elementRecord(""), "element", map[string]any{"current": true})
	return v.done(err, "returned")
}

// memberSent adds members to a group, from a day to a day; each may be left open.
func (h handlers) memberSent(v *visit) error {
	group, err := strconv.ParseInt(v.c.Params("id"), 10, 64)
	if err != nil {
		return v.refuse(fiber.StatusNotFound, "missing")
	}
	chosen := v.typed["who"]
	if len(chosen) == 0 || len(chosen) > whoAtMost {
		return v.refuse(fiber.StatusBadRequest, "invalid")
	}
	var members []map[string]any
	for _, id := range chosen {
		m := map[string]any{"element_id": id}
		for _, name := range []string{"first_day", "last_day"} {
			if day := v.typed.Get(name); day != "" {
				m[name] = day
			}
		}
		members = append(members, m)
	}
	_, err = v.api.AddMembers(v.ctx, group, members)
	return v.done(err, "changed")
}

// memberEndSent ends a membership: the day that is typed is the first without it.
func (h handlers) memberEndSent(v *visit) error {
	return v.done(v.api.Delete(v.ctx, v.elementRecord("/members/"+url.PathEscape(v.typed.Get("member"))),
		url.Values{"from": {v.typed.Get("from")}}), "changed")
}

// deciderSent lets a user, named by the e-mail address, decide about a person or thing.
func (h handlers) deciderSent(v *visit) error {
	query := url.Values{"email": {strings.TrimSpace(v.typed.Get("email"))}}
	users, err := v.found("/api/users?"+query.Encode(), "users")
	if err != nil {
		return err
	}
	if len(users) != 1 {
		return v.failed(fiber.StatusUnprocessableEntity, "invalid", v.texts.N("look.address", len(users)))
	}
	_, err = v.api.Put(v.ctx, v.elementRecord("/administrators/"+users[0].Text("id")), "administrator")
	return v.done(err, "changed")
}

// deciderEndSent takes that from a user.
func (h handlers) deciderEndSent(v *visit) error {
	err := v.api.Delete(v.ctx, v.elementRecord("/administrators/"+url.PathEscape(v.typed.Get("user"))), nil)
	return v.done(err, "changed")
}

// history lists what was done: to a record, or in a service.
func (h handlers) history(v *visit) error {
	b := historyBody{Record: v.c.Query("record"), Services: auditServices, Service: v.c.Query("service")}
	kind, _, _ := strings.Cut(b.Record, ":")
	switch kind {
	case "":
		if !slices.Contains(auditServices, b.Service) {
			b.Service = auditServices[0]
		}
	case "Element", "Membership", "Feed":
		b.Service = "elements"
	case "User":
		b.Service = "identity"
	case "Note":
		b.Service = "notes"
	default:
		b.Service = "events"
	}
	query := url.Values{"limit": {lookPage}}
	if b.Record != "" {
		query.Set("record", b.Record)
	}
	entries, next, err := v.api.Page(v.ctx, "/api/admin/audit/"+b.Service, "entries", query, v.c.Query("after"))
	if err != nil {
		return err
	}
	if next != "" {
		query := url.Values{"service": {b.Service}, "after": {next}}
		if b.Record != "" {
			query.Set("record", b.Record)
		}
		b.Next = "/look-after/history?" + query.Encode()
	}
	names, err := v.namesOf(entries)
	if err != nil {
		return err
	}
	for _, e := range entries {
		typed := client.As[api.AuditEntry](e)
		b.Entries = append(b.Entries, past{AuditEntry: typed, By: names[typed.UserID],
			Original: names[typed.OriginalID]})
	}
	return v.show("history", v.texts.T("look.history"), b)
}

// auditServices are those that keep an audit, in the order of the page.
var auditServices = []string{"elements", "identity", "events", "notes"}

// historyBody is what the page of what was done shows.
type historyBody struct {
	Record, Service string
	Services        []string
	Entries         []past
	Next            string
}

// past is an entry of the audit, with the names of who did it.
type past struct {
	api.AuditEntry
	By, Original string
}

// namesAtMost bounds the calls for the names of users; the others are shown by their numbers.
const namesAtMost = 5

// namesOf are the names of those who did what the entries say. Whom the visitor may not see is a number.
func (v *visit) namesOf(entries []client.Record) (map[int64]string, error) {
	names := map[int64]string{}
	for _, e := range entries {
		for _, id := range []int64{e.ID("user_id"), e.ID("original_id")} {
			if id == 0 || names[id] != "" {
				continue
			}
			names[id] = fmt.Sprint(id)
			if len(names) > namesAtMost {
				continue
			}
			user, err := v.api.Get(v.ctx, fmt.Sprintf("/api/admin/users/%d", id), "user")
			var failed *client.Error
			if err != nil && !errors.As(err, &failed) {
				return nil, err
			}
			if err == nil {
				names[id] = user.Text("name")
			}
		}
	}
	return names, nil
}
