package api

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

const (
	// accountsRead bounds the calls of one search for users, each of 1,000; it goes on from the next page.
	accountsRead = 2
	// foundUsers bounds what a search lists, but for the users of the call that goes beyond it.
	foundUsers = 50
)

// rights are the permissions of a user, in the order of the form.
var rights = []string{"can_api", "can_add_events", "can_add_notes", "edit_all_events", "privileged", "can_su", "admin"}

// userFields are those of an account that people give it.
var userFields = func() record {
	r := must(2, append(texts("name"), entry{Name: "email", As: "email"}))
	r.Entries = append(r.Entries, entry{Name: "kind", Words: []string{"staff", "pupil", "guest"}},
		entry{Name: "element_id", As: "number"})
	for _, name := range append([]string{"active"}, rights...) {
		r.Entries = append(r.Entries, entry{Name: name, As: "box"})
	}
	return r
}()

// userChanges are the fields as the interface takes them, the permissions together.
func userChanges(r record) map[string]any {
	fields, permissions := r.changed(), map[string]any{}
	for _, name := range rights {
		if value, changed := fields[name]; changed {
			permissions[name] = value
			delete(fields, name)
		}
	}
	if len(permissions) > 0 {
		fields["permissions"] = permissions
	}
	return fields
}

// userParts are what the page of an account shows beside its own data.
type userParts struct {
	Element int64 // who it is, 0 for none
	Pupils  *pupilsShown
	Tokens  tokensShown
}

// tokensShown are the tokens of a user, with the form for another.
type tokensShown struct {
	At     string // the forms are sent below it
	Tokens []api.Token
	Scopes []string
	Ends   string // the suggested last day
	Latest string // the latest one
}

// scopes of tokens, the smallest first. Those that read one person or room are made for a corridor screen.
var tokenScopes = []string{"read", "book", "administer", "read_element"}

const (
	// endsIn and endsAtMost are days until a token ends: as suggested, and as the interface allows it.
	endsIn, endsAtMost = 90, 400
)

// lookUsers lists accounts, or finds them by a part of the name or the address.
func (h handlers) lookUsers(v *visit) error {
	b := listBody{At: "/look-after/users", Query: strings.TrimSpace(v.c.Query("q")), Finds: true,
		Add: "/look-after/users/new"}
	query, calls := url.Values{"limit": {lookPage}}, 1
	if b.Query != "" {
		query, calls = url.Values{}, accountsRead
	}
	next := v.c.Query("after")
	for range calls {
		users, following, err := v.api.Page(v.ctx, "/api/admin/users", "users", query, next)
		if err != nil {
			return err
		}
		next = following
		for _, u := range users {
			user := client.As[api.Account](u)
			text := strings.ToLower(user.Name + " " + user.Email)
			if !strings.Contains(text, strings.ToLower(b.Query)) {
				continue
			}
			hint := user.Email
			if !user.Active {
				hint += " · " + v.texts.T("look.inactive")
			}
			b.Rows = append(b.Rows, row{userPage(user.ID), user.Name, hint})
		}
		if next == "" || len(b.Rows) >= foundUsers {
			break
		}
	}
	if next != "" {
		b.Next = b.address(url.Values{"q": {b.Query}, "after": {next}})
	}
	return v.show("look", v.texts.T("look.users"), b)
}

func userPage(id int64) string { return fmt.Sprintf("/look-after/users/%d", id) }

// lookUserNew shows the form for a new account.
func (h handlers) lookUserNew(v *visit) error {
	return v.showUserNew(userFields.fill(client.Record{"active": true, "kind": "staff", "can_api": true}),
		fiber.StatusOK)
}

func (v *visit) showUserNew(r record, code int) error {
	return v.showRecord(recordBody{record: r, New: true, At: "/look-after/users/new",
		Name: v.texts.T("look.new.user")}, code)
}

// lookUserNewSent adds an account, whose key is shown this once.
func (h handlers) lookUserNewSent(v *visit) error {
	r := userFields.read(v)
	made, err := v.api.Create(v.ctx, "/api/admin/users", "user", userChanges(r))
	if refused, is := r.refused(err); is {
		return v.showUserNew(refused, fiber.StatusUnprocessableEntity)
	}
	if err != nil {
		return err
	}
	return v.showUser(made, userRecord(made), recordBody{Secret: made.Text("uuid"), Done: "look.done.added"},
		fiber.StatusCreated)
}

// userRecord is the form of an account as it is.
func userRecord(user client.Record) record {
	flat := client.Record{}
	for name, value := range user {
		flat[name] = value
	}
	for name, value := range user.Inner("permissions") {
		flat[name] = value
	}
	return userFields.fill(flat)
}

// account is the interface's path of the account of the page.
func (v *visit) account(more string) string {
	return "/api/admin/users/" + url.PathEscape(v.c.Params("id")) + more
}

// lookUser shows an account with its tokens.
func (h handlers) lookUser(v *visit) error {
	user, err := v.api.Get(v.ctx, v.account(""), "user")
	if err != nil {
		return err
	}
	return v.showUser(user, userRecord(user), recordBody{}, fiber.StatusOK)
}

// showUser completes the page of an account: b has what has just happened.
func (v *visit) showUser(user client.Record, r record, b recordBody, code int) error {
	id := user.ID("id")
	b.record, b.At, b.Name = r, userPage(id), user.Text("name")
	b.History = fmt.Sprintf("/look-after/history?record=User:%d", id)
	b.User = &userParts{Element: user.ID("element_id")}
	var err error
	b.User.Tokens, err = v.tokens(fmt.Sprintf("/api/admin/users/%d/tokens", id), b.At+"/tokens")
	if err != nil {
		return err
	}
	if b.User.Pupils, err = v.pupils(user, b.At+"/pupils"); err != nil {
		return err
	}
	if v.me.Permissions.CanSu && !v.me.Switched && id != v.me.User.ID && user.Text("active") == yes {
		b.Actions = append(b.Actions, action{b.At + "/switch", "look.switch", false})
	}
	b.Actions = append(b.Actions, action{b.At + "/key", "look.key", true},
		action{b.At + "/sessions", "look.sessions", true})
	return v.showRecord(b, code)
}

// lookUserSent changes an account.
func (h handlers) lookUserSent(v *visit) error {
	r := userFields.read(v)
	_, err := v.api.Change(v.ctx, v.account(""), "user", userChanges(r))
	refused, is := r.refused(err)
	if !is {
		return v.done(err, "changed")
	}
	user, err := v.api.Get(v.ctx, v.account(""), "user")
	if err != nil {
		return err
	}
	return v.showUser(user, refused, recordBody{}, fiber.StatusUnprocessableEntity)
}

// keySent gives an account another key to sign in with, which is shown this once.
func (h handlers) keySent(v *visit) error {
	id, err := strconv.ParseInt(v.c.Params("id"), 10, 64)
	if err != nil {
		return v.refuse(fiber.StatusNotFound, "missing")
	}
	user, err := v.api.Get(v.ctx, v.account(""), "user")
	if err != nil {
		return err
	}
	key, err := v.api.NewUUID(v.ctx, id)
	if err != nil {
		return err
	}
	if id == v.me.User.ID { // the visitor's own session has ended
		return v.show("record", user.Text("name"), recordBody{Name: user.Text("name"), Secret: key})
	}
	return v.showUser(user, userRecord(user), recordBody{Secret: key}, fiber.StatusCreated)
}

// sessionsSent signs an account out everywhere.
func (h handlers) sessionsSent(v *visit) error {
	return v.done(v.api.Delete(v.ctx, v.account("/sessions"), nil), "ended")
}

// tokens lists a user's tokens.
func (v *visit) tokens(path, at string) (tokensShown, error) {
	today := v.zone.DayOf(v.now)
	t := tokensShown{At: at, Scopes: tokenScopes, Ends: today.AddDays(endsIn).String(),
		Latest: today.AddDays(endsAtMost).String()}
	answer, err := v.api.Get(v.ctx, path, "")
	for _, record := range answer.Records("tokens") {
		t.Tokens = append(t.Tokens, client.As[api.Token](record))
	}
	return t, err
}

// makeToken makes a token and returns its text.
func (v *visit) makeToken(path string) (string, error) {
	fields := map[string]any{"name": v.typed.Get("name"), "scope": v.typed.Get("scope"),
		"end_date": v.typed.Get("end_date")}
	if element := strings.TrimSpace(v.typed.Get("element_id")); element != "" {
		fields["element_id"] = element
	}
	made, err := v.api.Create(v.ctx, path, "token", fields)
	return made.Text("token"), err
}

// userTokenSent makes a token of an account, for a program.
func (h handlers) userTokenSent(v *visit) error {
	user, err := v.api.Get(v.ctx, v.account(""), "user")
	if err != nil {
		return err
	}
	text, err := v.makeToken(v.account("/tokens"))
	if err != nil {
		return err
	}
	return v.showUser(user, userRecord(user), recordBody{Secret: text}, fiber.StatusCreated)
}

// userTokenEndSent ends a token of an account.
func (h handlers) userTokenEndSent(v *visit) error {
	return v.done(v.api.Delete(v.ctx, v.account("/tokens/"+url.PathEscape(v.typed.Get("id"))), nil), "ended")
}

// ownTokens is where the visitor's own tokens are.
const ownTokens = "/api/me/tokens" //nolint:gosec // a path

// ownAccount shows the visitor's own tokens.
func (h handlers) ownAccount(v *visit) error { return v.showAccount("", fiber.StatusOK) }

func (v *visit) showAccount(secret string, code int) error {
	shown, err := v.tokens(ownTokens, "/account/tokens")
	if err != nil {
		return err
	}
	return v.showRecord(recordBody{Name: v.me.User.Name, At: "/account", Own: true, Secret: secret,
		User: &userParts{Element: v.me.Element.ID, Tokens: shown}}, code)
}

// ownTokenSent makes a token of the visitor.
func (h handlers) ownTokenSent(v *visit) error {
	text, err := v.makeToken(ownTokens)
	if err != nil {
		return err
	}
	return v.showAccount(text, fiber.StatusCreated)
}

// ownTokenEndSent ends a token of the visitor.
func (h handlers) ownTokenEndSent(v *visit) error {
	if err := v.api.Delete(v.ctx, ownTokens+"/"+url.PathEscape(v.typed.Get("id")), nil); err != nil {
		return err
	}
	return v.leave("/account?done=ended")
}
