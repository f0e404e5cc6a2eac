package api

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// usersPath is where the interface has the accounts.
const usersPath = "/api/admin/users"

// users are the accounts.
var users = recordKind{
	name: "user", at: "/look-after/users", add: "/look-after/users/new", path: usersPath, part: "user",
	list: "users", audit: "User", called: "name", also: "email", off: "look.inactive",
	beside: besideAccount, made: showKey,
	first: client.Record{"active": true, "kind": "staff", "permissions": map[string]any{"can_api": true}},
	form: must(2, []entry{
		{Name: "name"}, {Name: "email", As: "email"}, {Name: "kind", Words: []string{"staff", "pupil", "guest"}},
		{Name: "active", As: "box"},
	}, entries(entry{As: "box", within: "permissions"}, principal.PermissionNames()...)),
}

// showKey shows the uuid of a new account, once.
func showKey(made client.Record) recordBody {
	return recordBody{Secret: made.Text("uuid"), Done: "look.done.added"}
}

// tokensShown are the tokens of a user, with the form for another.
type tokensShown struct {
	Tokens []api.Token
	Ends   string // the suggested last day
	Latest string // the latest one
}

// endsIn and endsAtMost are the suggested and the largest number of days until a token ends.
const endsIn, endsAtMost = 90, 400

// lookUsers lists accounts, or finds them by a part of the name or the address.
func (h handlers) lookUsers(v *visit) error {
	b := listBody{At: users.at, Query: strings.TrimSpace(v.c.Query("q")), Finds: true, Add: users.add}
	if !v.me.Permissions.Admin { // an account that they add belongs to a person of their school
		b.Add, b.Note = "", "look.users.add"
	}
	return v.showList(b, "look.users", users, users.path, url.Values{})
}

// besideAccount adds an account's person, those it stands for, its tokens, and the actions on it.
func besideAccount(v *visit, k recordKind, user client.Record, b *recordBody) error {
	var err error
	if b.Tokens, err = v.tokens(fmt.Sprintf("%s/%d/tokens", k.path, user.ID("id"))); err != nil {
		return err
	}
	if b.People, err = v.people(user); err != nil {
		return err
	}
	if v.me.Permissions.CanSu && !v.me.Switched && user.ID("id") != v.me.User.ID && user.Text("active") == yes {
		b.Actions = append(b.Actions, action{b.At + "/switch", "look.switch", false})
	}
	b.Actions = append(b.Actions, action{b.At + "/key", "look.key", true},
		action{b.At + "/sessions", "look.sessions", true})
	return nil
}

// accountOf fills in the form for a new account with the data of the person in the address, if that names one.
func (v *visit) accountOf(first client.Record) (client.Record, error) {
	person := v.c.Query("person")
	if person == "" {
		return first, nil
	}
	found, err := v.api.Get(v.ctx, elements.path+"/"+url.PathEscape(person), elements.part)
	if err != nil {
		return nil, err
	}
	first = maps.Clone(first)
	first["name"], first["email"] = found.Text("forename")+" "+found.Text("surname"), found.Text("email")
	first["kind"] = strings.ToLower(found.Text("entity_type"))
	return first, nil
}

// keySent gives an account a new uuid, which is shown once.
func (h handlers) keySent(v *visit) error {
	user, err := v.readRecord(users)
	if err != nil {
		return err
	}
	key, err := v.api.NewUUID(v.ctx, user.ID("id"))
	if err != nil {
		return err
	}
	b := recordBody{Name: user.Text("name"), Secret: key}
	if user.ID("id") == v.me.User.ID { // the visitor's own session has ended
		return v.show("record", b.Name, b)
	}
	return v.showFound(users, user, users.form.fill(user), b, fiber.StatusCreated)
}

// tokens lists a user's tokens.
func (v *visit) tokens(path string) (*tokensShown, error) {
	today := v.zone.DayOf(v.now)
	tokens, err := list[api.Token](v, path, "tokens", nil)
	return &tokensShown{tokens, today.AddDays(endsIn).String(), today.AddDays(endsAtMost).String()}, err
}

// makeToken makes a token and returns its text.
func (v *visit) makeToken(path string) (string, error) {
	fields := map[string]any{"name": v.typed.Get("name"), "scope": v.typed.Get("scope"),
		"end_date": v.typed.Get("end_date")}
	if element := strings.TrimSpace(v.typed.Get("element_id")); element != "" {
		fields["element_id"] = element
	}
	made, err := v.api.Create(v.once(), path, "token", fields)
	return made.Text("token"), err
}

// userTokenSent makes a token of an account, for a program.
func (h handlers) userTokenSent(v *visit) error {
	user, err := v.readRecord(users)
	if err != nil {
		return err
	}
	text, err := v.makeToken(v.record(users.path, "/tokens"))
	if err != nil {
		return err
	}
	return v.showFound(users, user, users.form.fill(user), recordBody{Secret: text}, fiber.StatusCreated)
}

// ownTokens is the path of the visitor's own tokens.
const ownTokens = "/api/me/tokens" //nolint:gosec // a path

// ownAccount shows the visitor's own tokens, or makes one.
func (h handlers) ownAccount(v *visit) (err error) {
	b, code := recordBody{Name: v.me.User.Name, At: "/account", Own: true}, fiber.StatusOK
	if v.c.Method() == fiber.MethodPost {
		code = fiber.StatusCreated
		if b.Secret, err = v.makeToken(ownTokens); err != nil {
			return err
		}
	}
	if b.Tokens, err = v.tokens(ownTokens); err != nil {
		return err
	}
	return v.showRecord(b, code)
}

// peopleShown has an account's person and those it stands for, with those whom a search finds.
type peopleShown struct {
	Own, Pupils, Found []api.Element
	Find               string
	Stands             bool // the visitor may add pupils; not to staff, who see all pupils
	Blind              bool // its kind sees no pupils
}

// people shows an account's person and those it stands for, in a call for each, since the visitor may not see their
// days, and finds people to add in two.
func (v *visit) people(user client.Record) (*peopleShown, error) {
	own, pupils, kind := user.ID("element_id"), user.IDs("stands_for"), principal.Kind(user.Text("kind"))
	p := &peopleShown{Find: strings.TrimSpace(v.c.Query("find")),
		Stands: v.me.Permissions.Admin && (kind == principal.Pupil || len(pupils) > 0),
		Blind:  v.sights.Of(kind, user.Inner("permissions").Text("admin") == yes) == principal.SeesPublic}
	if !p.Stands {
		pupils = nil // who may be of another school
	}
	var err error
	if own != 0 {
		if p.Own, err = v.named(own); err != nil {
			return nil, err
		}
	}
	if p.Pupils, err = v.named(pupils...); err != nil {
		return nil, err
	}
	staff, err := v.administered(p.Find, "Staff")
	if err != nil {
		return nil, err
	}
	p.Found, err = v.administered(p.Find, "Pupil")
	p.Found = append(staff, p.Found...)
	return p, err
}

// named returns elements by their ids. The name of another school's is its id.
func (v *visit) named(ids ...int64) (all []api.Element, err error) {
	for _, number := range ids {
		found, err := v.fromList(elements, number)
		if problem.Is(err, problem.NotFound) {
			all = append(all, api.Element{ID: number, Name: id(number)})
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, client.As[api.Element](found))
	}
	return all, nil
}

// pupilsSent sets the person of an account, adds pupils to those it stands for, or removes one of either. A concurrent
// change is a conflict.
func (h handlers) pupilsSent(v *visit) error {
	chosen, err := readIDs(strings.Join(v.typed["who"], ",") + "," + v.typed.Get("person") + "," + v.typed.Get("end"))
	if err != nil {
		return v.refuse(fiber.StatusBadRequest, "invalid")
	}
	var version string
	user, err := v.api.Get(context.WithValue(v.ctx, seenKey{}, &version), v.record(users.path, ""), "user")
	if err != nil {
		return err
	}
	ids, fields := user.IDs("stands_for"), map[string]any{}
	switch ends := v.typed.Has("end"); {
	case v.typed.Has("person"):
		fields["element_id"] = v.typed.Get("person")
	case ends && user.ID("element_id") == chosen[0]:
		fields["element_id"] = nil
	case ends:
		fields["stands_for"] = slices.DeleteFunc(ids, func(id int64) bool { return slices.Contains(chosen, id) })
	default:
		fields["stands_for"] = append(ids, chosen...)
	}
	_, err = v.api.Change(context.WithValue(v.ctx, atKey, version), v.record(users.path, ""), "user", fields)
	return v.done(err, "changed")
}
