package store

import (
	"context"
	"strings"

	"github.com/belfry-schools/belfry/pkg/audit"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// entry tells the audit what became of a user, nothing when nothing did; before without an id is one that is created.
func entry(ctx context.Context, before, after user.User) []audit.Entry {
	record := audit.RecordOf("User", after.ID)
	if before.ID == 0 {
		return audit.New(ctx, audit.Create, record, audit.Compare(nil, values(after)))
	}
	changes := audit.Compare(values(before), values(after))
	if len(changes) == 0 && before.SessionsSince == after.SessionsSince {
		return nil
	}
	return audit.New(ctx, actionOf(before, after, changes), record, changes)
}

// actionOf names a change after the most telling thing in it.
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

// values are the fields of a user that the audit may know, in the order of the API. Of the uuid it learns that it is another.
func values(u user.User) []audit.Value {
	return []audit.Value{
		audit.Text("key", u.Key), audit.Text("name", u.Name), audit.Text("email", u.Email), audit.Text("kind", string(u.Kind)),
		audit.ID("element_id", u.ElementID), audit.Bool("active", u.Active), audit.Text("permissions", permissions(u.Permissions)),
		audit.Secret("uuid", u.UUIDHash),
	}
}

// permissions lists those given, in the order of the API.
func permissions(p principal.Permissions) string {
	var given []string
	for _, name := range user.PermissionNames() {
		if user.Grants(p, name) {
			given = append(given, name)
		}
	}
	return strings.Join(given, ",")
}
