package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

var (
	// rights are the fields that decide what a user may do and see, and how it authenticates.
	rights = []string{"kind", "element_id", "active", "permissions", "admin_of", "stands_for", "uuid"}
	// changedRights has those too by whose change someone else may log in as the user.
	changedRights = append([]string{"email", "duplicate_email"}, rights...)
)

// entry returns the audit's entry of a change, none when nothing changed. A user is created when before has no id. For
// an import it has only created users and changes of rights, with the rights only.
func entry(ctx context.Context, before, after user.User) []audit.Entry {
	var was []audit.Value
	if before.ID != 0 {
		was = values(before)
	}
	changes := audit.Compare(was, values(after))
	switch {
	case !audit.InBatch(ctx):
	case before.ID == 0:
		changes = audit.Only(changes, rights...)
	default:
		changes = audit.Only(changes, changedRights...)
	}
	ended := before.SessionsSince != after.SessionsSince && !audit.InBatch(ctx)
	entries := tokenEntries(ctx, before, after)
	if before.ID != 0 && len(changes) == 0 && !ended {
		return entries
	}
	action := audit.Create
	if before.ID != 0 {
		action = actionOf(before, after, changes)
	}
	return append(entries, audit.Make(ctx, action, audit.RecordOf(user.TypeName, after.ID), changes))
}

// tokenEntries are the entries of the tokens that a change makes or ends. The expiry of a token has no entry.
func tokenEntries(ctx context.Context, before, after user.User) (entries []audit.Entry) {
	add := func(action audit.Action, of, than []user.Token, change func(text string) audit.Change) {
		for _, t := range of {
			is := func(other user.Token) bool { return other.ID == t.ID }
			if slices.ContainsFunc(than, is) || !t.Ends.After(time.Now()) {
				continue
			}
			text := fmt.Sprintf("%d %s (%s)", t.ID, t.Name, t.Scope)
			entries = append(entries, audit.Make(ctx, action, audit.RecordOf(user.TypeName, after.ID),
				[]audit.Change{change(text)}))
		}
	}
	add(audit.EndToken, before.Tokens, after.Tokens, func(text string) audit.Change {
		return audit.Change{Field: "token", From: &text}
	})
	add(audit.MakeToken, after.Tokens, before.Tokens, func(text string) audit.Change {
		return audit.Change{Field: "token", To: &text}
	})
	return entries
}

// actionOf returns the action of a new uuid, a deactivation or the end of sessions if nothing else changes; else
// Update.
func actionOf(before, after user.User, changes []audit.Change) audit.Action {
	switch {
	case before.UUIDHash != after.UUIDHash && len(changes) == 1:
		return audit.RenewUUID
	case before.Active && !after.Active && len(changes) == 1:
		return audit.Deactivate
	case len(changes) == 0 && before.SessionsSince != after.SessionsSince:
		return audit.EndSession
	}
	return audit.Update
}

// values are the fields of a user that the audit has, in the order of the API. Of the uuid it has only that it changed.
func values(u user.User) []audit.Value {
	all := []audit.Value{
		audit.Text("key", u.Key), audit.Text("name", u.Name), audit.Text("email", u.Email),
		audit.Text("kind", string(u.Kind)), audit.ID("element_id", u.ElementID), audit.Bool("active", u.Active),
		audit.Text("permissions", strings.Join(u.Permissions.Names(), ",")), audit.Secret("uuid", u.UUIDHash),
	}
	if u.DuplicateEmail {
		all = append(all, audit.Bool("duplicate_email", true))
	}
	if len(u.AdminOf) > 0 {
		all = append(all, audit.IDs("admin_of", u.AdminOf))
	}
	if len(u.StandsFor) > 0 {
		all = append(all, audit.IDs("stands_for", u.StandsFor))
	}
	return all
}
