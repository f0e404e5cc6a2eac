package api

import (
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/needle"
	"github.com/belfry-schools/belfry/pkg/web"
)

// elementTypes are all types, in the order of the index, with the fields that people give them.
var elementTypes = []typeForm{
	{"Staff", must(3, entries(entry{}, "forename", "surname", "initials", "title"),
		entries(entry{As: "email"}, "email"))},
	{"Pupil", must(2, entries(entry{}, "forename", "surname", "known_as", "year_group", "house_name", "tutor_group"),
		entries(entry{As: "email"}, "email"))},
	{"Location", must(1, entries(entry{}, "name", "short_name"))},
	{"Group", must(1, []entry{{Name: "name"}, {Name: "description"}, {Name: "resource", As: "box"}})},
	{"Property", must(1, []entry{{Name: "name"}, {Name: "make_public", As: "box"}})},
	{"Service", must(1, []entry{{Name: "name"}})},
	{"Subject", must(1, []entry{{Name: "name"}})},
}

// elementsPath is where the interface has people and things.
const elementsPath = "/api/admin/elements"

// elements are people and things.
var elements = recordKind{
	at: "/look-after/elements", add: "/look-after/new/:type", path: elementsPath,
	part: "element", list: "elements", audit: "Element", called: "name", types: elementTypes, beside: besideElement,
}

// elementParts are the parts of a person's or thing's page besides its own data.
type elementParts struct {
	ID         int64
	Group      bool
	Person     bool
	Accounts   []api.User // of the person
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
	k, found := elements.of(v.c.Params("type"))
	if !found {
		return v.refuse(fiber.StatusNotFound, "missing")
	}
	b := listBody{At: "/look-after/list/" + k.name, Query: strings.TrimSpace(v.c.Query("q")), Finds: true, Add: k.add}
	query := url.Values{"type": {k.name}}
	if v.c.Query("old") != "" {
		b.Finds, b.Old, b.OldAs = false, b.At, "look.current"
		query.Set("current", "false")
		return v.showList(b, "look.of."+k.name, k, k.path, query)
	}
	b.Old, b.OldAs = b.At+"?old=1", "look.old"
	switch {
	case v.me.Permissions.Admin:
	case len(v.me.AdminOf) == 1 && v.sees() == principal.SeesAll:
		query.Set("school", id(v.me.AdminOf[0]))
	default: // elsewhere they see less than they look after, or what others do
		query.Set("current", yes)
		return v.showList(b, "look.of."+k.name, k, k.path, query)
	}
	if b.Query != "" {
		query.Set("namelike", b.Query)
	}
	return v.showList(b, "look.of."+k.name, k, "/api/elements", query)
}

// besideElement adds who is in a group, who decides about a person or thing, and what can be done with it.
func besideElement(v *visit, k recordKind, found client.Record, b *recordBody) error {
	is := found.Text("entity_type")
	parts := &elementParts{ID: found.ID("id"), Group: is == "Group", Person: is == "Staff" || is == "Pupil",
		Today: v.zone.DayOf(v.now).String()}
	b.Element, b.Actions = parts, []action{{b.At + "/retire", "look.retire", true}}
	if found.Text("current") != yes {
		b.Actions = []action{{b.At + "/return", "look.return", false}}
	}
	if parts.Person {
		accounts, _, err := v.api.Page(v.ctx, usersPath, "users",
			url.Values{"element": {id(parts.ID)}, "limit": {lookPage}}, "")
		if err != nil {
			return err
		}
		parts.Accounts = client.Each[api.User](accounts)
	}
	if parts.Group {
		if err := v.membersOf(k, parts, b.At); err != nil {
			return err
		}
	}
	deciders, next, err := v.api.Page(v.ctx, v.record(k.path, "/administrators"), "administrators",
		url.Values{"limit": {lookPage}}, "")
	parts.Deciders, parts.MoreDecide = client.Each[api.User](deciders), next != ""
	return err
}

// membersOf lists a page of a group's members, and finds who may be added.
func (v *visit) membersOf(k recordKind, parts *elementParts, at string) error {
	members, next, err := v.api.Page(v.ctx, v.record(k.path, "/members"), "members",
		url.Values{"limit": {lookPage}}, v.c.Query("after"))
	if err != nil {
		return err
	}
	parts.Members = client.Each[api.Membership](members)
	if next != "" {
		parts.More = at + "?" + url.Values{"after": {next}}.Encode()
	}
	parts.Find = strings.TrimSpace(v.c.Query("find"))
	parts.Found, err = v.administered(parts.Find)
	return err
}

// administered is elements for those who may see less than they administer.
func (v *visit) administered(name string, of ...string) (all []api.Element, err error) {
	if name == "" || v.sees() == principal.SeesAll {
		return v.elements(name, of...)
	}
	part := needle.New(name)
	for e, err := range v.api.List(v.ctx, elementsPath, "elements",
		url.Values{"type": of, "current": {yes}, "limit": {"1000"}}) {
		if err != nil || len(all) == foundAtLeast {
			return all, err
		}
		if part.In(e.Text("name")) {
			all = append(all, client.As[api.Element](e))
		}
	}
	return all, nil
}

// returnSent makes a person or thing current again.
func (h handlers) returnSent(v *visit) error {
	_, err := v.api.Change(v.ctx, v.record(elements.path, ""), "element", map[string]any{"current": true})
	return v.done(err, "returned")
}

// memberSent adds members to a group, from a day to a day; each may be left open.
func (h handlers) memberSent(v *visit) error {
	group, err := web.PathID(v.c, "id")
	if err != nil {
		return err
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
	return v.done(v.api.Delete(v.ctx, v.record(elements.path, "/members/"+url.PathEscape(v.typed.Get("member"))),
		url.Values{"from": {v.typed.Get("from")}}), "changed")
}

// deciderSent lets a user, named by the e-mail address, decide about a person or thing.
func (h handlers) deciderSent(v *visit) error {
	users, err := v.withAddress(strings.TrimSpace(v.typed.Get("email")))
	if err != nil {
		return err
	}
	if len(users) != 1 {
		return v.failed(fiber.StatusUnprocessableEntity, "invalid", v.texts.N("look.address", len(users)))
	}
	_, err = v.api.Put(v.ctx, v.record(elements.path, "/administrators/"+users[0].Text("id")), "administrator")
	return v.done(err, "changed")
}

// withAddress finds users by their address: without can_su, those whom the visitor administers.
func (v *visit) withAddress(email string) (all []client.Record, err error) {
	if v.me.Permissions.CanSu {
		return find[client.Record](v, "/api/users", "users", url.Values{"email": {email}})
	}
	for u, err := range v.api.List(v.ctx, usersPath, "users", url.Values{"limit": {"1000"}}) {
		if err != nil {
			return nil, err
		}
		if strings.EqualFold(u.Text("email"), email) {
			all = append(all, u)
		}
	}
	return all, nil
}
